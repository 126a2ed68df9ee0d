// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Output of the ranks, passed on in whole lines; with -l each has '[rank] ' before it.
///
/// A rank gets a pipe if the launcher has a file or a pipe, so that no two lines mix. Otherwise it
/// writes to the launcher's own descriptor: a terminal answers as one, and shows lines as they
/// come. If standard output and standard error are one file, they are one pipe, which keeps their
/// order.
///
/// Files          a rank whose output goes to a file of its own (output_file.hpp) writes there
///                itself.
/// Order          lines are passed on as they came, those of all ranks and both streams through one
///                queue.
/// Waiting        a slow reader slows the ranks down, not the launcher: nothing here blocks before
///                finish(). A stream that has brought little rests for a moment. A rank that writes
///                line by line then does not wake the launcher for each line.
/// Unwritten      text that a rank's C library keeps is looked at (unwritten.hpp). It is passed on
///                before it is written, or when the rank has ended. This is not done if both
///                streams are one, since order counts more there.
/// Unfinished     a piece of a line without a tag, such as a prompt, is passed on if its end is
///                late. The rank must have slept or run in that time. A rank that was kept from
///                running is about to end its line. Nothing is added or left out: the output of a
///                rank need not be text.
/// No room        a rank whose reader is gone is told by a broken pipe, as it would be without a
///                launcher. If the disk is full, the launcher says so and discards further output.

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "event_loop.hpp"
#include "job.hpp"
#include "output_file.hpp"
#include "unique_fd.hpp"
#include "unwritten.hpp"

namespace heddle::mpiexec {

/// The launcher's streams that are passed on, and whether both are one.
struct PassedOn {
    bool output = false, error = false;
    bool same = false;

    explicit PassedOn(const Job& job);
    /// Returns the number of descriptors for each rank.
    [[nodiscard]] int pipes() const { return same ? 1 : output + error + looked_into(); }
    /// Returns whether standard output is passed on before it is written.
    [[nodiscard]] bool looked_into() const { return output && !same; }
};

class Output {
public:
    Output(EventLoop& loop, const Job& job)
        : loop_(loop),
          passed_on_(job),
          job_(job),
          tagged_(job.tag_output || job.time_output),
          first_rank_(job.first_rank),
          pages_can_be_seen_(passed_on_.looked_into() && pages_can_be_seen()) {}

    /// The files that a rank writes to: the ends of its pipes, or the launcher's own descriptors.
    struct Ends {
        UniqueFd pipe, error_pipe;
        UniqueFd pages;  ///< the rank puts the pages of its standard output into it
        int output, error;
    };
    Ends open(int rank);

    [[nodiscard]] const PassedOn& passed_on() const { return passed_on_; }

    void rank_started(int rank, pid_t process);

    /// Passes on text that the rank has printed and never written. The rank must have been waited
    /// for.
    void rank_ended(int rank);

    /// Returns the milliseconds until expire() has something to do. Returns -1 if it has nothing at
    /// present.
    [[nodiscard]] long long milliseconds_to_wait() const;
    void expire();

    /// Passes on what was written until now, as far as the reader takes it. Called before the
    /// launcher speaks.
    void catch_up();

    /// Passes on all that was written until now. Waits for the reader.
    void finish();

    /// Returns true if a write failed for a reason other than a reader that was gone.
    [[nodiscard]] bool failed() const { return failed_; }

private:
    static constexpr long long never = -1;

    struct Stream {
        UniqueFd pipe;
        int rank = 0;
        pid_t process = 0;
        int target;
        std::string tag;
        std::string unfinished;  ///< a line whose end has not come yet
        long long unfinished_at =
            never;  ///< when its last piece came, or when the rank was last found not to run
        long long ticks_then = never;  ///< how long the rank had run when that was first found
        long long rests_until = never;
        bool watched = false;
        std::unique_ptr<Unwritten> unwritten;  ///< the rank's unwritten text, if it is looked at
        bool shows = false;                    ///< there is something to look at
    };
    struct Piece {
        int target;
        std::string text;
    };

    UniqueFd add_stream(int rank, int target);
    UniqueFd add_pages(Stream& stream);
    void watch_if_due(Stream& stream);
    bool read(Stream& stream);
    void look(Stream& stream);
    void add_rest(Stream& stream);
    void add_unwritten(Stream& stream, const std::string& text);
    [[nodiscard]] std::string tag_now(const Stream& stream) const;
    void take_lines(Stream& stream);
    static void note_unfinished(Stream& stream, bool tagged);
    void consider_unfinished(Stream& stream);
    static bool may_go_on(Stream& stream);
    void take_unfinished(Stream& stream);
    void end(Stream& stream);
    void add(int target, std::string text);
    void write_some();
    void give_up(int target, int error);
    void await_writable();
    void pause(bool pause);

    EventLoop& loop_;
    PassedOn passed_on_;
    const Job& job_;
    OutputFiles files_;
    bool tagged_;
    int first_rank_;
    bool pages_can_be_seen_ = false;
    LookingGlass glass_;
    long long look_at_ = never;
    std::vector<std::unique_ptr<Stream>> streams_;
    std::deque<Piece> queue_;
    std::size_t queued_bytes_ = 0;
    int awaited_ = -1;            ///< the target that is watched for room
    std::array<bool, 3> lost_{};  ///< targets that take no more
    bool paused_ = false;
    bool failed_ = false;
};

}  // namespace heddle::mpiexec
