// SPDX-License-Identifier: BSD-3-Clause
#include "process_state.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstring>

namespace heddle::mpiexec {

std::optional<ProcessState> state_of(long long process) {
    std::FILE* file = std::fopen(fmt::format("/proc/{}/stat", process).c_str(), "re");
    if (file == nullptr) return std::nullopt;
    std::array<char, 512> text{};
    text[std::fread(text.data(), 1, text.size() - 1, file)] = '\0';
    std::fclose(file);
    const char* after_name = std::strrchr(text.data(), ')');
    char letter = 0;
    long long user = 0, system = 0;
    constexpr const char* fields = " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld";
    if (after_name == nullptr || std::sscanf(after_name + 1, fields, &letter, &user, &system) != 3)
        return std::nullopt;
    return ProcessState{letter, user + system};
}

}  // namespace heddle::mpiexec
