// SPDX-License-Identifier: BSD-3-Clause
#include "tool/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace heddle::tool {
namespace {

[[noreturn]] void wrong(const char* variable, std::string_view value, const char* allowed) {
    throw std::runtime_error(std::string(variable) + "=" + std::string(value) + ": allowed are " + allowed);
}

Settings::SingleCopy single_copy(std::string_view value) {
    using Choice = Settings::SingleCopy;
    if (value == "auto") return Choice::automatic;
    if (value == "always") return Choice::always;
    if (value == "never") return Choice::never;
    wrong("HEDDLE_SINGLE_COPY", value, "auto, always, never");
}

std::uint64_t eager_limit(std::string_view value) {
    std::uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bytes);
    if (error != std::errc{} || end != value.data() + value.size() || bytes > most_eager_bytes)
        wrong("HEDDLE_EAGER_LIMIT", value, "bytes from 0 to 8192");
    return bytes;
}

/// The value of the variable; nullptr if it is not set, or empty.
const char* given(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

Settings settings_from_environment() {
    Settings settings;
    if (const char* value = given("HEDDLE_EAGER_LIMIT")) settings.eager_limit = eager_limit(value);
    if (const char* value = given("HEDDLE_SINGLE_COPY")) settings.single_copy = single_copy(value);
    return settings;
}

}  // namespace heddle::tool
