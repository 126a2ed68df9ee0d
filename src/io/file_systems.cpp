// SPDX-License-Identifier: BSD-3-Clause
/// The list of file systems. Another one is a line here.

#include <string_view>

#include "io/file_system.hpp"

namespace heddle::io {
namespace {

struct Entry {
    std::string_view prefix;
    const FileSystem& (*get)() noexcept;
    bool keeps_prefix;  ///< the rest of the name is no path
};
constexpr Entry file_systems[] = {
    {"posix:", posix, false},
    {"ufs:", posix, false},
    {"faulty:", faulty, true},
};

}  // namespace

Named file_system_of(const std::string& name) {
    for (const Entry& entry : file_systems)
        if (name.starts_with(entry.prefix))
            return {&entry.get(), entry.keeps_prefix ? name : name.substr(entry.prefix.size())};
    return {&posix(), name};
}

}  // namespace heddle::io
