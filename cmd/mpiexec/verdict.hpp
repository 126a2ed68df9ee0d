// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Judges whether the end of a rank was in order, and if not, its effect on the job.

#include <sys/types.h>

#include <optional>
#include <string>

namespace heddle::mpiexec {

/// Stands for the launcher in a rank's place.
inline constexpr int of_launcher = -1;

/// The known facts about a rank, or a launcher, that has ended.
struct RankEnd {
    int rank = 0;
    pid_t pid = 0;
    std::string program;
    int status = 0;            ///< the value of waitpid()
    bool initialized = false;  ///< called MPI_Init, or PMI's function
    bool finalized = false;    ///< called MPI_Finalize, too
    bool closed = false;       ///< closed its last session, without the world model
    bool aborted = false;      ///< called MPI_Abort
    int abort_code = 0;
    std::string abort_reason;  ///< may be empty
};

struct Verdict {
    int exit_code;
    std::string text;  ///< one line for the user
    bool ends_job;     ///< others would wait for this rank, or work in vain
};

/// Returns nothing if the rank ended in order.
std::optional<Verdict> judge(const RankEnd& end);

/// Returns a text such as "rank 1 (pid 123, ./a.out)", or "/usr/bin/prterun (pid 123)".
std::string describe(int rank, pid_t pid, const std::string& program);

/// Returns the verdict on MPI_Abort.
Verdict judge_abort(const RankEnd& end);

}  // namespace heddle::mpiexec
