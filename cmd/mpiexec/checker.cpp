// SPDX-License-Identifier: BSD-3-Clause
#include "checker.hpp"

#include <filesystem>

#include "say.hpp"

namespace heddle::mpiexec {

void load_checker(Environment& environment, bool json) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    const fs::path library =
        (program.parent_path() / HEDDLE_LIBDIR_FROM_BINDIR / "heddle/libheddle_check.so")
            .lexically_normal();
    if (!fs::exists(library, error))
        throw Failure(exit_failed, fmt::format("--check: there is no {}", library.string()));
    const std::string name = "LD_PRELOAD";
    const std::string given(environment.value(name));
    environment.set(name, given.empty() ? library.string() : library.string() + ":" + given);
    environment.set("HEDDLE_CHECK", json ? "json" : "on");
}

}  // namespace heddle::mpiexec
