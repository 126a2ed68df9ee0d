// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Puts and gets of few bytes in memory that the kernel copies (rma/remote_memory.hpp). They are
/// gathered for each target and done by one system call, since the call costs more than the copies.
///
/// Begun          the flush that completes an operation does it, or add() does when there is no
///                room for more.
/// Side by side   a piece that continues the piece before it at the target is one piece with it for
///                the kernel.
/// Errors         if the kernel refuses, the thread that flushes raises the error, for the first
///                operation that was refused. add() throws std::bad_alloc.
/// Thread safety  any thread. A flush is complete when everything is complete that any thread has
///                added before.

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <sys/uio.h>
#include <unordered_map>

#include "core/thread.hpp"
#include "objects/block_copy.hpp"
#include "objects/window.hpp"
#include "p2p/payload/peer_memory.hpp"

namespace heddle::rma {

class Gathered {
public:
    enum class Direction : std::uint8_t { put, get };
    /// The most bytes of one operation; gathering does not pay for more.
    static constexpr std::uint64_t most_bytes = 1024;

    explicit Gathered(objects::Window& window) noexcept : window_(window) {}

    /// Adds a copy to or from `place` in the process of rank `rank`, which the kernel reaches.
    int add(core::Thread& thread, std::int32_t rank, Direction direction, std::byte* here,
            objects::Place place, std::uint64_t bytes);

    // The flushes raise the errors of operations that the kernel has refused.

    int flush(core::Thread& thread, std::int32_t rank);
    int flush_all(core::Thread& thread);

private:
    /// Pieces of one direction, for the kernel.
    class Pieces {
    public:
        bool is_full() const noexcept { return here_used_ == most; }
        void add(std::byte* here, objects::Place there, std::uint64_t bytes) noexcept;
        /// Copies all pieces. Returns the place of the first one that the kernel refused, if there
        /// is one.
        std::optional<objects::Place> copy(const p2p::PeerMemory& memory, std::int32_t process,
                                           Direction direction) noexcept;

    private:
        static constexpr std::size_t most = 64;
        std::array<iovec, most> here_, there_;
        std::size_t here_used_ = 0, there_used_ = 0;
    };
    struct Batch {
        std::mutex lock;
        Pieces puts, gets;
    };

    /// Copies the pieces. The caller holds the batch's lock. Returns the displacement that was
    /// refused.
    std::optional<std::int64_t> copy(core::Thread& thread, std::int32_t rank, Pieces& pieces,
                                     Direction direction) const noexcept;
    int raise(core::Thread& thread, std::int32_t rank, std::int64_t displacement);
    int flush(core::Thread& thread, std::int32_t rank, Batch& batch);

    objects::Window& window_;
    std::mutex lock_;                                  ///< guards the set of batches
    std::unordered_map<std::int32_t, Batch> batches_;  ///< of targets that were accessed
};

/// Completes all operations by the kernel that this process has begun.
inline int flush_gathered(core::Thread& thread, objects::Window& window) {
    return window.gathered == nullptr ? MPI_SUCCESS : window.gathered->flush_all(thread);
}
inline int flush_gathered(core::Thread& thread, objects::Window& window, std::int32_t rank) {
    return window.gathered == nullptr ? MPI_SUCCESS : window.gathered->flush(thread, rank);
}

}  // namespace heddle::rma
