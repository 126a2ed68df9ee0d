// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The connection to the process that has started this job by MPI_Comm_spawn: reports to it, and
/// its end (launch/children_wire.hpp).
///
/// Nothing here waits for the parent. A report is left out if so many were not read that there is
/// no room. The end of the connection tells the parent that the job has ended.

#include <functional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "event_loop.hpp"
#include "launch/children_wire.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

class ParentLink {
public:
    /// Takes over the descriptors that the parent has handed down, and closes all other inherited
    /// ones. Throws Failure if there are none.
    ParentLink();

    /// Returns the programs to start, or throws Failure.
    [[nodiscard]] launch::Description description() const;

    /// Calls `gone` when the parent has ended, or when no process that knows of this job is left.
    /// Does not call it once the parent has released the job.
    void watch(EventLoop& loop, std::function<void()> gone);

    void started() { send({launch::ChildReport::Kind::started}); }
    void not_started(int command, int error, std::string text);
    /// Reports an early end. `status` is the value of waitpid().
    void ended_early(int command, int rank, int status, std::string text);
    void ended(int exit_code, std::string reason);

    /// Returns the words after the program's name in sentences about a rank.
    [[nodiscard]] std::string whose_child() const;

private:
    void hear();
    void hear_end();
    void send(const launch::ChildReport& report);

    UniqueFd control_, description_, process_;
    pid_t parent_ = 0;
    EventLoop* loop_ = nullptr;
    std::function<void()> gone_;
};

}  // namespace heddle::mpiexec
