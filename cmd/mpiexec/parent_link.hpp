// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The process that has started this job by MPI_Comm_spawn: what it is told, and that it goes (launch/children_wire.hpp).
///
/// Nothing here waits for the parent: a report for which there is no room, since so many were not read, is left out. The end of
/// the connection says that the job has ended.

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
    /// Takes over the descriptors that the parent has handed down, and closes all others it has. Failure if it has not.
    ParentLink();

    /// What is to be started, or Failure.
    [[nodiscard]] launch::Description description() const;

    /// Calls `gone` when the parent has ended, or has nobody any more who knows of this job; not once it has released it.
    void watch(EventLoop& loop, std::function<void()> gone);

    void started() { send({launch::ChildReport::Kind::started}); }
    void not_started(int command, int error, std::string text);
    /// `status` as waitpid() gives it.
    void ended_early(int command, int rank, int status, std::string text);
    void ended(int exit_code, std::string reason);

    /// What follows the name of the program in sentences about a rank.
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
