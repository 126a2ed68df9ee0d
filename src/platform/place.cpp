// SPDX-License-Identifier: BSD-3-Clause
#include "platform/place.hpp"

#include <sys/stat.h>

#include <fstream>

namespace heddle::platform {
namespace {

std::string boot_id() {
    std::string number;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> number;
    return number.empty() ? "-" : number;
}

std::string pid_namespace() {
    struct stat status{};
    return stat("/proc/self/ns/pid", &status) == 0 ? std::to_string(status.st_ino) : "-";
}

}  // namespace

Place place_here() { return {boot_id(), pid_namespace()}; }

}  // namespace heddle::platform
