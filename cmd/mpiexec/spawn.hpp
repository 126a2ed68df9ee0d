// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Starts one rank.
///
/// A rank stays in the session of mpiexec. The scheduler groups processes by session, and yielding
/// across groups yields nothing. It leads a process group of its own, so that signals also reach
/// the processes it has started. It dies with the process that started it.

#include <sys/types.h>

#include <string>
#include <vector>

#include "environment.hpp"
#include "job.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

/// The data that a rank is started with. All descriptors remain the caller's.
struct RankStart {
    const Program& program;
    int rank;
    Environment environment;          ///< complete
    const std::vector<int>& threads;  ///< hardware threads to bind to; may be empty
    int input, output, error;
    int pmi, node, pages;  ///< kept across exec; pages may be -1
};

/// The error of a rank that could not become its program.
struct StartError {
    int rank;
    bool in_directory;  ///< chdir failed, not exec
    int error;          ///< errno
};

class Spawner {
public:
    Spawner();

    /// Returns the process id, or -1 with errno if there can be no further process.
    pid_t start(RankStart& rank);

    /// Returns a descriptor that is readable when next_error() may have an error.
    [[nodiscard]] int fd() const { return errors_.get(); }

    /// Returns true and fills in `error` if a started rank failed to become its program.
    bool next_error(StartError& error);

    /// Says that no further rank is started, so that all_became() can tell.
    void no_more() { errors_in_.reset(); }
    /// Returns whether next_error() has found that all ranks have become their programs, or failed
    /// to.
    [[nodiscard]] bool all_became() const { return all_became_; }

    /// Saves limits and dispositions that the launcher changes for itself. main() calls it early.
    static void remember_settings();

private:
    UniqueFd errors_;
    UniqueFd errors_in_;  ///< the ranks' end; exec closes it
    bool all_became_ = false;
};

/// Returns the reason why a rank could not be started, for the user.
std::string explain(const StartError& error, const Program& program);

}  // namespace heddle::mpiexec
