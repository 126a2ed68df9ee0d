// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages to one process that wait for room in a ring, as far as the order across instances is
/// concerned: later messages may overtake them in rings of other instances, so their receiver is told
/// that something earlier is still to come (transport::shm::HeldBack).
///
/// Thread safety  any thread. On no path but that of full rings.

#include <array>
#include <cstdint>
#include <mutex>
#include <set>

#include "sync/mutex.hpp"
#include "transport/shm/node.hpp"

namespace heddle::p2p {

class HeldBackMessages {
public:
    /// Before any message that is sent later can be published.
    void add(transport::shm::HeldBack& notice, std::uint64_t stamp, std::uint32_t context) {
        std::lock_guard guard(lock_);
        stamps_.insert(stamp);
        if (contexts_[context & 63]++ == 0) notice.contexts.fetch_or(bit(context), relaxed);
        // R1: pairs with A1 in HeldBack::holds(); the context is there when the stamp is.
        notice.earliest.store(*stamps_.begin(), release);
    }
    /// After the message has been published.
    void remove(transport::shm::HeldBack& notice, std::uint64_t stamp, std::uint32_t context) {
        std::lock_guard guard(lock_);
        stamps_.erase(stamps_.find(stamp));
        // R2: pairs with A1; whoever does not see the message held back finds it in its ring.
        notice.earliest.store(stamps_.empty() ? 0 : *stamps_.begin(), release);
        if (--contexts_[context & 63] == 0) notice.contexts.fetch_and(~bit(context), release);
    }

private:
    static std::uint64_t bit(std::uint32_t context) noexcept { return std::uint64_t{1} << (context & 63); }

    sync::Mutex lock_;
    std::multiset<std::uint64_t> stamps_;
    std::array<std::uint32_t, 64> contexts_{};
};

}  // namespace heddle::p2p
