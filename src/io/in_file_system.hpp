// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A thread that reads or writes a file. It tells the launcher the file and the place (`heddle
/// where`, `--timeout`), and counts its transfers at the end.

#include <chrono>
#include <cstdint>

#include "core/thread.hpp"
#include "io/open_file.hpp"
#include "objects/file.hpp"
#include "progress/board.hpp"
#include "sync/native.hpp"

namespace heddle::io {

/// The transfers of a thread.
struct Tally {
    std::uint64_t transfers = 0, read = 0, written = 0;
    /// Writes of few bytes that did not begin at the end of the write before.
    std::uint64_t small_writes = 0, small_bytes = 0;
};

class InFileSystem {
public:
    /// Begins an access to `bytes` from `at` on; -1 is no certain place. `alone` says that the
    /// program has asked for the access, and that it is not collective.
    InFileSystem(core::Thread& thread, OpenFile& file, std::int64_t at = -1,
                 std::uint64_t bytes = 0, bool alone = false) noexcept;
    ~InFileSystem();
    InFileSystem(const InFileSystem&) = delete;
    InFileSystem& operator=(const InFileSystem&) = delete;

    Moved read(std::int64_t at, std::byte* to, std::uint64_t bytes) noexcept;
    Moved write(std::int64_t at, const std::byte* from, std::uint64_t bytes) noexcept;

    std::chrono::nanoseconds so_far() const noexcept { return sync::Native::now() - since_; }

private:
    void note_small_writes(objects::Files& files) noexcept;

    OpenFile& file_;
    const bool alone_;
    const std::chrono::nanoseconds since_;
    const progress::InKernel told_;
    Tally tally_;
};

/// The counts of a collective access with aggregators.
struct Exchanged {
    std::uint64_t bytes = 0, windows = 0, message_ns = 0;
};
void count(objects::Process& process, const Exchanged& exchanged) noexcept;
/// Count that the program asks for another file, or collective access.
void count_opening(objects::Process& process) noexcept;
void count_collective(objects::Process& process) noexcept;

}  // namespace heddle::io
