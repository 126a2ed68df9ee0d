// SPDX-License-Identifier: BSD-3-Clause
#include "subcommands.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace heddle::cmd {

void fail(const char* command, const std::string& problem) {
    fmt::print(stderr, "{}: {}\n", command, problem);
    throw Failed{1};
}

void say_without_job(const char* command, std::optional<std::int64_t> process) {
    if (process) {
        std::fprintf(stderr,
                     "heddle %s: process %lld is no rank of a job on this machine, and has started "
                     "none, or belongs to another user\n",
                     command, static_cast<long long>(*process));
        throw Failed{1};
    }
    std::fprintf(stderr, "heddle %s: no job of this user runs on this machine\n", command);
}

}  // namespace heddle::cmd
