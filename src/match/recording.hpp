// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Records what the program asks a rank's matching to do, for `heddle replay` (docs/RECORDINGS.md).
///
/// Thread safety  any thread. A mutex of its own makes one sequence of the steps of parallel
///                instances. The caller holds the instance's lock while it calls the matcher and
///                the recording. So the order within an instance is the real one.
/// Cost           the mutex and a few bytes in memory. A block of them is written when it is full.
/// Errors         a file that cannot be made throws std::runtime_error. If a write fails, the
///                recording ends there, and close() says why.

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "match/recording_format.hpp"
#include "sync/mutex.hpp"

namespace heddle::match {

class Recording {
public:
    /// Makes DIRECTORY/rank-R.matching, and the directory if it does not exist.
    Recording(const std::string& directory, std::int32_t rank, std::int32_t ranks);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    /// Records a posted receive, also with MPI_ANY_TAG.
    void post(const Pattern& pattern) noexcept { add({recording::Step::post, pattern}); }
    /// Records a message that is to be matched.
    void arrive(const Envelope& envelope) noexcept { add({recording::Step::arrive, envelope}); }
    /// Records that a receive with this pattern was taken out of the posted ones.
    void cancel(const Pattern& pattern) noexcept { add({recording::Step::cancel, pattern}); }
    /// Records that a probe has taken a message out of the unexpected ones.
    void take(const Pattern& pattern) noexcept { add({recording::Step::take, pattern}); }

    /// Writes the rest and the end. Returns an empty string, or the fault of the file as a
    /// sentence. Later steps are not recorded.
    std::string close();

private:
    struct Closer {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };

    void add(const recording::Event& event) noexcept;
    void write_block() noexcept;
    void write(const std::uint8_t* bytes, std::size_t count) noexcept;

    sync::Mutex lock_;
    const std::string path_;
    std::unique_ptr<std::FILE, Closer> file_;  ///< nullptr: recording has ended
    int error_ = 0;                            ///< errno of the write that failed
    std::uint32_t block_ = 0;
    std::uint32_t events_ = 0;  ///< in this block
    recording::Encoder encoder_;
    std::uint8_t* end_;  ///< of the events in bytes_
    std::array<std::uint8_t, recording::block_header_bytes + recording::most_block_bytes> bytes_;
};

}  // namespace heddle::match
