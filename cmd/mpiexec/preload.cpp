// SPDX-License-Identifier: BSD-3-Clause
#include "preload.hpp"

#include <filesystem>
#include <system_error>

namespace heddle::mpiexec {

std::string own_library(const char* name) {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    return (program.parent_path() / HEDDLE_LIBDIR_FROM_BINDIR / "heddle" / name).lexically_normal();
}

void preload(Environment& environment, const std::string& library) {
    const std::string given(environment.value("LD_PRELOAD"));
    environment.set("LD_PRELOAD", given.empty() ? library : library + ":" + given);
    // A program with AddressSanitizer refuses to have a library before its runtime.
    const std::string options(environment.value("ASAN_OPTIONS"));
    environment.set("ASAN_OPTIONS",
                    (options.empty() ? "" : options + ":") + "verify_asan_link_order=0");
}

}  // namespace heddle::mpiexec
