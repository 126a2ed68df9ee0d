// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Starts one rank.
///
/// A rank stays in the session of mpiexec (the scheduler groups processes by session, and yielding
/// across groups yields nothing), leads a process group of its own, so that signals reach what it
/// started as well, and dies with the process that started it.

#include <sys/types.h>

#include <string>
#include <vector>

#include "environment.hpp"
#include "job.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

/// What a rank is given. All descriptors stay the caller's.
struct RankStart {
    const Program& program;
    int rank;
    Environment environment;          ///< complete
    const std::vector<int>& threads;  ///< hardware threads to bind to, may be empty
    int input, output, error;
    int pmi, node, pages;  ///< kept across exec; no pages: -1
};

/// A rank that could not become its program.
struct StartError {
    int rank;
    bool in_directory;  ///< chdir failed, not exec
    int error;          ///< errno
};

class Spawner {
public:
    Spawner();

    /// The process id, or -1 with errno when there can be no further process.
    pid_t start(RankStart& rank);

    /// Readable when next_error() may have something to tell.
    [[nodiscard]] int fd() const { return errors_.get(); }

    /// True and `error` filled in when a started rank failed to become its program.
    bool next_error(StartError& error);

    /// No rank is started any more; so that all_became() can tell.
    void no_more() { errors_in_.reset(); }
    /// Whether next_error() has found that all ranks have become their programs, or failed to.
    [[nodiscard]] bool all_became() const { return all_became_; }

    /// Remembers limits and dispositions that the launcher changes for itself; early in main().
    static void remember_settings();

private:
    UniqueFd errors_;
    UniqueFd errors_in_;  ///< the ranks' end, closed by exec
    bool all_became_ = false;
};

/// Why a rank could not be started, for the user.
std::string explain(const StartError& error, const Program& program);

}  // namespace heddle::mpiexec
