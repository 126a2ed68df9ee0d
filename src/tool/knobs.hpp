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
    const char* standard;  ///< what parse() reads
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

    /// HEDDLE_NAME.
    std::string variable() const;
};

/// All of them, in the order of their lines.
std::span<const Knob> knob_table();

enum class SetBy : std::uint8_t { standard, environment, tool };

/// Who says what the knob is; an environment that is wrong says nothing.
SetBy set_by(const Knob& knob);

/// The settings as they would be for a process that starts now, wrong variables left out.
Settings settings_now();

/// Takes the value, given in the knob's form, for processes that start later; false: not allowed. A
/// null pointer takes back what was asked for.
bool ask_for(const Knob& knob, const void* value);

/// The same for the knob of this name, which an info key "heddle_name" gives; a key that names no knob is
/// no matter. The answer is empty, or which values are allowed.
std::string ask_for(std::string_view key, std::string_view text);

}  // namespace heddle::tool
