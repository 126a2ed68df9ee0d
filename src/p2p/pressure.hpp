// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Back-pressure: how much memory unexpected messages may hold, and the mark of it for senders.
///
/// The limit is found at the first message that counts: programs without unexpected messages do not
/// ask.
///
/// Each instance counts the memory of its messages, and reports here when that has changed by a
/// step. Above the limit the process is under pressure, until half of it is free again. Its mailbox
/// and the heads of its rings say so. Senders then keep payloads until they are matched
/// (docs/adr/0011).
///
/// Thread safety  note() with the lock of the instance that `told` belongs to.
/// Bound          the sum of three. The first is the limit. The second is messages that were sent
///                before the mark was seen: at most a ring full from each instance of each sender.
///                The third is messages whose payload is withheld. Each of them belongs to an
///                incomplete operation of a sender.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "core/blocks.hpp"
#include "match/message.hpp"
#include "sync/orders.hpp"

namespace heddle::p2p {

/// Returns the memory that an unexpected message holds.
inline std::uint64_t footprint(const match::Message& message) noexcept {
    const bool own = message.payload != nullptr && message.payload != message.small;
    return sizeof(match::Message) + (own ? core::block_bytes(message.length) : 0);
}

class Pressure {
public:
    /// `limit`: bytes; 0: a share of the memory there is. `processes` share this memory. `mark`:
    /// senders look at it.
    Pressure(std::uint64_t limit, std::size_t processes, std::size_t instances,
             std::atomic<std::uint64_t>& mark);

    /// Notes that an instance's messages hold `now` bytes. `told` is its last report.
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
    std::uint64_t held_ = 0;  ///< sum of the instances' reports in bytes; guarded by lock_
};

}  // namespace heddle::p2p
