// SPDX-License-Identifier: BSD-3-Clause
#include "surroundings.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

namespace heddle::mpiexec {

namespace {

/// Returns true in allocations of Slurm, PBS, LSF, Grid Engine, Flux, OAR.
bool in_an_allocation() {
    constexpr std::array variables{"SLURM_JOB_ID", "PBS_JOBID",   "LSB_JOBID",
                                   "PE_HOSTFILE",  "FLUX_JOB_ID", "OAR_JOB_ID"};
    return std::any_of(variables.begin(), variables.end(),
                       [](const char* variable) { return std::getenv(variable) != nullptr; });
}

/// Returns how many threads run or could, except this one. The fourth field of /proc/loadavg is
/// "running/all".
int running_now() {
    std::ifstream file("/proc/loadavg");
    std::string skipped;
    int running = 0;
    file >> skipped >> skipped >> skipped >> running;
    return std::max(running - 1, 0);
}

/// Returns the least of some looks, since many threads run only for microseconds.
int running() {
    constexpr int looks = 4;
    constexpr timespec between{0, 250'000};
    int least = running_now();
    for (int look = 1; look < looks && least > 0; ++look) {
        ::nanosleep(&between, nullptr);
        least = std::min(least, running_now());
    }
    return least;
}

}  // namespace

int online_threads() {
    std::ifstream file("/sys/devices/system/cpu/online");
    std::string text;
    std::getline(file, text);
    return std::max(static_cast<int>(parse_cpu_list(text).size()), 1);
}

Surroundings look_around(const std::vector<Core>& cores) {
    if (in_an_allocation() || hardware_threads(cores) < online_threads()) return {true, 0};
    return {false, running()};
}

}  // namespace heddle::mpiexec
