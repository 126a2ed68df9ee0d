// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Writes down what a rank's matching is asked to do, for `heddle replay` (docs/RECORDINGS.md).
///
/// Thread safety  any thread; a mutex of its own makes one sequence of what instances do in parallel.
///                The caller holds the lock of the instance while it asks the matcher and tells the
///                recording, so that the order within an instance is the real one.
/// Cost           the mutex and a few bytes in memory; a block of them is written when it is full.
/// Errors         a file that cannot be made throws std::runtime_error. When a write fails, the recording
///                ends there, and close() says why.

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
    /// Makes DIRECTORY/rank-R.matching, and the directory if it is not there.
    Recording(const std::string& directory, std::int32_t rank, std::int32_t ranks);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    /// A receive is posted, with MPI_ANY_TAG, too.
    void post(const Pattern& pattern) noexcept { add({recording::Step::post, pattern}); }
    /// A message is to be matched.
    void arrive(const Envelope& envelope) noexcept { add({recording::Step::arrive, envelope}); }
    /// A receive with this pattern was taken out of the posted ones.
    void cancel(const Pattern& pattern) noexcept { add({recording::Step::cancel, pattern}); }
    /// A probe has taken a message out of the unexpected ones.
    void take(const Pattern& pattern) noexcept { add({recording::Step::take, pattern}); }

    /// Writes what is left and the end. Empty, or what is wrong with the file, as a sentence. What comes
    /// later is not recorded.
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
    std::unique_ptr<std::FILE, Closer> file_;  ///< none: nothing is recorded any more
    int error_ = 0;                            ///< errno of the write that failed
    std::uint32_t block_ = 0;
    std::uint32_t events_ = 0;  ///< in this block
    recording::Encoder encoder_;
    std::uint8_t* end_;  ///< of the events in bytes_
    std::array<std::uint8_t, recording::block_header_bytes + recording::most_block_bytes> bytes_;
};

}  // namespace heddle::match
