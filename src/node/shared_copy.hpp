// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A large copy between two processes that both work on: the process that has time takes the next
/// piece. It lies in the memory of the node.
///
/// Life           the receiver fills it in, offers it to the sender by a message, and works on it
///                at once. It may be used again when the sender has answered and the receiver has
///                found nothing more to take. Until then one of them may still look at it.
/// Last           the process whose done() leaves nothing gets true from it, and completes the
///                message.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "sync/orders.hpp"

namespace heddle::node {

struct alignas(cache_line) SharedCopy {
    static constexpr std::uint64_t piece_bytes = 64 * 1024;

    struct Piece {
        std::uint64_t from;
        std::uint64_t bytes;  ///< 0: there is no piece
    };

    std::uint64_t source;  ///< address in the sender
    std::uint64_t target;  ///< address in the receiver
    std::uint64_t length;
    std::uint64_t receive;            ///< the receiver's request
    std::atomic<std::uint64_t> next;  ///< offset of the first piece that no process has taken
    std::atomic<std::uint64_t> left;  ///< bytes that are not copied yet
    /// How many of sender and receiver may look at it; the receiver writes this.
    std::atomic<std::uint32_t> users;

    Piece take() noexcept {
        const std::uint64_t from = next.fetch_add(piece_bytes, relaxed);
        return piece_at(std::min(from, length));
    }
    Piece piece_at(std::uint64_t from) const noexcept {
        return {from, std::min(piece_bytes, length - from)};
    }
    /// Notes that the caller has copied `bytes`. Returns true if these were the last.
    bool done(std::uint64_t bytes) noexcept {
        // The last process sees what the other has copied.
        return bytes != 0 && left.fetch_sub(bytes, acq_rel) == bytes;
    }
};

}  // namespace heddle::node
