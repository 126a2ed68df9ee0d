// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Text that a rank has printed and its C library has not written yet. It is seen through a pipe of
/// pages (platform/print_view.hpp). So it can be passed on while the rank computes, and after its
/// death.
/// Course         a rank that is linked with the library puts its pages into the pipe. From then on
///                look() returns the text that can be passed on before the rank writes it. rest()
///                returns the text that it never wrote. When the rank writes after all, pass()
///                leaves out the text that has been passed on.
/// Certainty      a write shows in the stream before it shows in the pages. If two looks have found
///                a text in the pages, and nothing came between, it was not written. The exception
///                is a rank that was stopped on its way out of the write. If the text repeats the
///                last bytes that came, look() therefore checks that the rank has run since.
/// Cut off        a rank that is killed in the middle of a write had filled its buffer. The part of
///                the buffer that repeats the last bytes that came is taken to have come.
/// Not seen       text of a program that has forked, of one that changes the stream's buffer
///                itself, of wide characters. It comes when it is written.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "unique_fd.hpp"

namespace heddle::mpiexec {

/// Returns true if the kernel lets pages, and not only copies of their bytes, be seen through a
/// pipe.
bool pages_can_be_seen();

/// A pipe into which pages are put again for each look, since reading takes them out.
class LookingGlass {
public:
    LookingGlass();
    /// Copies the first `bytes` of `pipe` as they are now and leaves them there. Returns false if
    /// there are fewer.
    bool copy(int pipe, char* to, std::size_t bytes);

private:
    UniqueFd in_, out_;
};

class Unwritten {
public:
    /// Makes the pipe, whose other end becomes the rank's `end`. Returns nullptr if that fails, and
    /// the caller decides what follows.
    static std::unique_ptr<Unwritten> make(LookingGlass& glass, UniqueFd& end);

    /// Returns a descriptor that is readable once the rank shows its pages.
    [[nodiscard]] int fd() const { return pipe_.get(); }

    /// Returns the part of `bytes`, which came from the rank, that has not been passed on.
    std::string pass(std::string_view bytes);

    /// Returns the text of a living rank that can be passed on. All of its `stream` must have been
    /// read.
    std::string look(int stream);

    /// Returns the text that a rank has left when it ended. All of its stream must have been read.
    /// Returns nothing if it ended in order and has written everything.
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
    std::optional<Seen> seen_;      ///< the last look
    std::optional<long long> ran_;  ///< processor time when has_run() was first asked
    long long received_ = 0;        ///< bytes from the stream
    std::string last_;              ///< the last bytes that came, as many as a buffer holds
    std::string shown_;             ///< the beginning of the buffer, which has been passed on
    std::string held_;              ///< the last bytes that came, which may begin shown_
};

}  // namespace heddle::mpiexec
