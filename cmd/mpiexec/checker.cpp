// SPDX-License-Identifier: BSD-3-Clause
#include "checker.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "platform/random.hpp"
#include "preload.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

void load_checker(Environment& environment, bool json) {
    const std::string library = own_library("libheddle_check.so");
    if (::access(library.c_str(), F_OK) != 0)
        throw Failure(exit_failed, fmt::format("--check: there is no {}", library));
    preload(environment, library);
    environment.set("HEDDLE_CHECK", json ? "json" : "on");
}

CheckerMemory checker_memory(int ranks) {
    CheckerMemory memory{out_of_the_way(UniqueFd(::memfd_create("heddle-check", MFD_CLOEXEC))), ""};
    std::uint64_t token = 0;
    platform::random_bytes(&token, sizeof token);
    if (::write(memory.file.get(), &token, sizeof token) == sizeof token)
        memory.name = fmt::format("{}:{}:{}:{:x}", ::getpid(), memory.file.get(), ranks, token);
    return memory;
}

void name_checker_memory(Environment& environment, const CheckerMemory& memory) {
    constexpr const char* variable = "HEDDLE_CHECK_MEMORY";
    if (!memory.name.empty() || !environment.value(variable).empty())
        environment.set(variable, memory.name);
}

}  // namespace heddle::mpiexec
