// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Back-pressure: how much memory unexpected messages may hold, and what senders are told of it.
///
/// The limit is found out about when there is something that counts: programs without such messages do not ask.
///
/// Each instance counts what its messages hold, and tells of it here when that has changed by a step. Above
/// the limit the process is under pressure, until half of it is free again: its mailbox and the heads of its
/// rings say so, and senders keep payloads to themselves until they are matched (docs/adr/0011).
///
/// Thread safety  note() with the lock of the instance that `told` belongs to.
/// Bound          the limit; and what was sent before the mark was seen, at most a ring full of messages from
///                each instance of each sender; and messages whose payload is withheld, each of which is the
///                operation of a sender that is not complete.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "core/blocks.hpp"
#include "match/message.hpp"
#include "sync/orders.hpp"

namespace heddle::p2p {

/// Memory that an unexpected message holds.
inline std::uint64_t footprint(const match::Message& message) noexcept {
    const bool own = message.payload != nullptr && message.payload != message.small;
    return sizeof(match::Message) + (own ? core::block_bytes(message.length) : 0);
}

class Pressure {
public:
    /// `limit`: bytes; 0: a share of the memory there is. `processes`: that share this memory.
    /// `mark`: what senders look at.
    Pressure(std::uint64_t limit, std::size_t processes, std::size_t instances,
             std::atomic<std::uint64_t>& mark);

    /// An instance's messages hold `now` bytes; `told`: as of the last time that it told.
    void note(std::uint64_t& told, std::uint64_t now) {
        const std::uint64_t step = step_.load(relaxed);
        if (now - told + step < 2 * step) [[likely]]
            return;  // differs by less than a step
        tell(told, now);
    }

private:
    void tell(std::uint64_t& told, std::uint64_t now);

    void set_limit(std::uint64_t limit) noexcept;

    const std::size_t processes_, instances_;
    std::uint64_t limit_ = 0;  ///< guarded by lock_; 0: not known yet
    std::atomic<std::uint64_t> step_;
    std::atomic<std::uint64_t>& mark_;
    std::mutex lock_;
    std::uint64_t held_ = 0;  ///< bytes, by what instances have told; guarded by lock_
};

}  // namespace heddle::p2p
