// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Standard input of the ranks.
///
/// One rank inherits the launcher's own descriptor. Input that it does not read is left for the
/// next program. Two cases need copying through pipes. One is a terminal, because only the
/// foreground process group may read it and ranks are not in it. The other is input for all ranks.
/// The guard copies, and the keeper hands the other ends of the pipes to the ranks.

#include <string>
#include <vector>

#include "event_loop.hpp"
#include "job.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

class Input {
public:
    /// Makes the pipes, before the guard and the keeper part. Throws Failure if there are no
    /// descriptors left.
    Input(const Job& job, int ranks);

    /// Returns the descriptor for `rank`, in the keeper. handed_over() says that it is no longer
    /// needed.
    [[nodiscard]] int descriptor(int rank) const;
    void handed_over(int rank);
    void be_keeper();

    /// Copies when `loop` finds something to copy, in the guard.
    void be_guard(EventLoop& loop);

    /// Tries to read again, since the launcher may now be in the foreground.
    void resume();

private:
    struct Sink {
        int rank;
        UniqueFd from, to;    ///< the rank's end, the launcher's end
        std::string pending;  ///< read, but not yet accepted by the pipe
    };

    void add_pipe(int rank);
    void watch_source();
    void read_source();
    void watch(Sink& sink);
    void write_pending(Sink& sink);
    void close(Sink& sink);
    [[nodiscard]] bool all_taken() const;

    EventLoop* loop_ = nullptr;
    std::vector<Sink> sinks_;
    UniqueFd nothing_;      ///< /dev/null
    int direct_rank_ = -1;  ///< the rank that inherits descriptor 0
    bool watching_ = false;
    bool at_end_ = false;
};

}  // namespace heddle::mpiexec
