// SPDX-License-Identifier: BSD-3-Clause
#include "output_file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>

#include "hosts.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

std::string name_of_output(const std::string& pattern, int rank) {
    std::string name;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
        if (next == 'r')
            name += std::to_string(rank);
        else if (next == 'h')
            name += own_host_name();
        else if (next == '%')
            name += '%';
        else
            name += pattern[i];
        if (next == 'r' || next == 'h' || next == '%') ++i;
    }
    return name;
}

UniqueFd OutputFiles::open(const std::string& pattern, int rank) {
    const std::filesystem::path path = name_of_output(pattern, rank);
    std::error_code error;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    UniqueFd file;
    if (!error) {
        const int empty = opened_.insert(path).second ? O_TRUNC : 0;
        const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | empty;
        file = UniqueFd(::open(path.c_str(), flags, 0666));
        if (!file) error = std::error_code(errno, std::generic_category());
    }
    if (error)
        throw Failure(exit_failed,
                      fmt::format("cannot write the output of rank {} to {}: {}", rank,
                                  path.native(), error_text(error.value())));
    return file;
}

}  // namespace heddle::mpiexec
