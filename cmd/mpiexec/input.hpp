// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Standard input of the ranks.
///
/// One rank inherits the launcher's own descriptor, so that what it does not read is left for who
/// comes next. Two cases need copying through pipes: a terminal, because only the foreground
/// process group may read it and ranks are not in it, and input for all ranks. The guard copies,
/// the keeper hands the other ends of the pipes to the ranks.

#include <string>
#include <vector>

#include "event_loop.hpp"
#include "job.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

class Input {
public:
    /// Before the guard and the keeper part. Failure when there are no descriptors left.
    Input(const Job& job, int ranks);

    /// In the keeper: the descriptor for `rank`, and that it is no longer needed.
    [[nodiscard]] int descriptor(int rank) const;
    void handed_over(int rank);
    void be_keeper();

    /// In the guard: copies as `loop` finds something to copy.
    void be_guard(EventLoop& loop);

    /// The launcher is in the foreground, perhaps: try to read again.
    void resume();

private:
    struct Sink {
        int rank;
        UniqueFd from, to;    ///< the rank's end, ours
        std::string pending;  ///< read but not yet accepted by the pipe
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
    int direct_rank_ = -1;  ///< who inherits descriptor 0
    bool watching_ = false;
    bool at_end_ = false;
};

}  // namespace heddle::mpiexec
