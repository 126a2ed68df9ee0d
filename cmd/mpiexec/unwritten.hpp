// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a rank has printed and its C library not written yet: seen through a pipe of pages
/// (platform/print_view.hpp), so that it can be passed on while the rank computes, and after its death.
///
/// Course         a rank that is linked with the library puts its pages into the pipe. From then on look()
///                answers what can be passed on before the rank writes it, and rest() what it never wrote.
///                When it writes after all, pass() leaves out what has been passed on already.
/// Certainty      a write shows in the stream before it shows in the pages. So what two looks have found in
///                the pages, while nothing came, was not written, unless the rank was stopped on its way out
///                of the write; where the text repeats what came last, it is asked for whether it ran since.
/// Cut off        a rank that is killed in the middle of a write had filled its buffer. What of it repeats
///                what came last is taken to have come.
/// Not seen       text of a program that has forked, of one that changes the stream's buffer itself, of wide
///                characters. It comes when it is written.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "unique_fd.hpp"

namespace heddle::mpiexec {

/// The kernel lets pages be seen through a pipe, and not only what was in them.
bool pages_can_be_seen();

/// A pipe into which pages are put once more for each look, since reading takes them out.
class LookingGlass {
public:
    LookingGlass();
    /// Copies the first `bytes` of `pipe` as they are now and leaves them there. False if there are not so many.
    bool copy(int pipe, char* to, std::size_t bytes);

private:
    UniqueFd in_, out_;
};

class Unwritten {
public:
    /// `end` becomes the rank's end of the pipe. Failure is left to the caller: nothing is answered then.
    static std::unique_ptr<Unwritten> make(LookingGlass& glass, UniqueFd& end);

    /// Readable once the rank shows its pages.
    [[nodiscard]] int fd() const { return pipe_.get(); }

    /// What `bytes` that came from the rank bring that has not been passed on.
    std::string pass(std::string_view bytes);

    /// What can be passed on of a living rank, all of whose `stream` has been read.
    std::string look(int stream);

    /// What is left of a rank that has ended, all of whose stream has been read. Nothing if it ended in order,
    /// and has written everything.
    std::optional<std::string> rest();

private:
    struct Head {
        std::size_t printed;  ///< and not written
        std::size_t room;
        long long process;
    };
    struct Seen {
        std::size_t printed;
        long long received;
    };

    Unwritten(LookingGlass& glass, UniqueFd pipe) : glass_(glass), pipe_(std::move(pipe)) {}
    std::optional<Head> head();
    std::string text(std::size_t bytes);
    bool may_have_come(const std::string& text);
    bool has_run(long long process);

    LookingGlass& glass_;
    UniqueFd pipe_;
    std::optional<Seen> seen_;      ///< by the last look
    std::optional<long long> ran_;  ///< time of the processor, when has_run() was first asked
    long long received_ = 0;        ///< from the stream, by whoever
    std::string last_;              ///< what came last, a buffer's worth
    std::string shown_;             ///< begins what is in the buffer, and has been passed on
    std::string held_;              ///< came last, and may begin shown_
};

}  // namespace heddle::mpiexec
