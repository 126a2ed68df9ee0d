// SPDX-License-Identifier: BSD-3-Clause
/// A rank that joins a job on several hosts without MPI and says "rank R is PID". Then it does what
/// the first argument says. All ranks but the last one wait.
///     abort CODE  the last rank ends the job, as MPI_Abort does
///     die         the last rank is killed
///     wait        the last rank waits, too

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "launch/job.hpp"
#include "launch/launcher.hpp"
#include "launch/share_by_launcher.hpp"

namespace launch = heddle::launch;

int main(int argc, char** argv) try {
    const std::string what = argc > 1 ? argv[1] : "wait";
    launch::Job job;
    job.launcher = launch::find_launcher();
    if (job.launcher == nullptr) throw std::runtime_error("there is no launcher");
    job.rank = job.launcher->rank();
    job.size = job.launcher->size();
    share_memory_by_launcher(job, {});
    std::printf("rank %d is %d\n", job.rank, static_cast<int>(getpid()));
    std::fflush(stdout);
    job.launcher->fence();
    const bool last = job.rank == job.size - 1;
    if (last && what == "abort") launch::abort(job, std::atoi(argv[2]), "the last rank gives up");
    if (last && what == "die") raise(SIGKILL);
    for (;;) pause();
} catch (const std::exception& problem) {
    std::fprintf(stderr, "ends: %s\n", problem.what());
    return 1;
}
