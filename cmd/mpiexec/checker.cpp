// SPDX-License-Identifier: BSD-3-Clause
#include "checker.hpp"

#include <unistd.h>

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

}  // namespace heddle::mpiexec
