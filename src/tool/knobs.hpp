// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The knobs as a table: for MPI_T, `heddle info --knobs` and the manual.
///
/// Thread safety  every function from any thread.

#include <span>
#include <string>
#include <string_view>

#include "tool/categories.hpp"
#include "tool/knob_types.hpp"
#include "tool/settings.hpp"

namespace heddle::tool {

struct Knob {
    const char* name;
    const char* standard;  ///< a text for parse()
    const char* doc;
    Category category;
    const char* type;
    KnobForm form;
    std::span<const char* const> (*choices)() noexcept;
    std::string (*allowed)();
    std::string (*print)(const Settings&);
    bool (*parse)(std::string_view, Settings&);
    void (*load)(const Settings&, void*);
    bool (*store)(const void*, Settings&);

    /// Returns HEDDLE_NAME.
    std::string variable() const;
};

/// Returns all knobs, in the order of their lines.
std::span<const Knob> knob_table();

enum class SetBy : std::uint8_t { standard, environment, tool };

/// Returns the source of the knob's value. A wrong variable does not count.
SetBy set_by(const Knob& knob);

/// Returns the settings that a process would have that starts now. Ignores wrong variables.
Settings settings_now();

/// Sets the knob, by a value in its form, for processes that start later. A null pointer removes
/// that. Returns false if the value is not allowed.
bool ask_for(const Knob& knob, const void* value);

/// Does the same for the knob of an info key "heddle_name". Ignores a key that names no knob.
/// Returns an empty text, or the allowed values.
std::string ask_for(std::string_view key, std::string_view text);

}  // namespace heddle::tool
