// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Output of the ranks with '[rank] ' before each line.
///
/// Used only when lines are to be tagged; otherwise ranks write to the launcher's own descriptors.
/// Lines are passed on whole and in the order in which they came, those of all ranks and of both
/// streams through one queue, so that no two mix. Whoever reads slowly slows the ranks down, not
/// the launcher: nothing here blocks before finish().

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "event_loop.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

class TaggedOutput {
public:
    explicit TaggedOutput(EventLoop& loop) : loop_(loop) {}

    /// A pipe whose lines go to `target`, tagged with `rank`; answers the end to write to.
    UniqueFd open(int rank, int target);

    /// Passes on all that was written until now, waiting for the reader.
    void finish();

private:
    struct Stream {
        UniqueFd pipe;
        int target;
        std::string tag;
        std::string unfinished;  ///< a line whose end has not come yet
    };
    struct Piece {
        int target;
        std::string text;
    };

    void watch(Stream& stream);
    bool read(Stream& stream);
    void take_lines(Stream& stream);
    void end(Stream& stream);
    void add(int target, std::string text);
    void write_some();
    void drop(int target);
    void await_writable();
    void pause(bool pause);

    EventLoop& loop_;
    std::vector<std::unique_ptr<Stream>> streams_;
    std::deque<Piece> queue_;
    std::size_t queued_bytes_ = 0;
    int awaited_ = -1;  ///< target that is watched for room
    bool paused_ = false;
};

}  // namespace heddle::mpiexec
