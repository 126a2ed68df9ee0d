// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The messages to one process that wait for room in a ring, and the receiver's notice of them
/// (node::BlockedNotice). The receiver needs it since later messages may overtake them in rings of
/// other instances.
///
/// Thread safety  any thread. On no path but that of full rings.
/// Errors         add() throws std::bad_alloc, and has changed nothing then.

#include <bit>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "node/blocked_notice.hpp"
#include "sync/mutex.hpp"

namespace heddle::p2p {

class BlockedMessages {
public:
    /// Adds a blocked message, before any later message can be published.
    void add(node::BlockedNotice& notice, std::uint64_t stamp, std::uint32_t context) {
        std::lock_guard guard(lock_);
        const auto [at, is_new] = contexts_.try_emplace(context);
        try {
            at->second.stamps.insert(stamp);
        } catch (...) {
            if (is_new) contexts_.erase(at);
            throw;
        }
        if (is_new) at->second.place = take_place();
        tell(notice, at->first, at->second);
        notice.tell_how_many(++blocked_);
    }
    /// Removes a message after it has been published. Returns true if the receiver must be notified
    /// in its mailbox.
    [[nodiscard]] bool remove(node::BlockedNotice& notice, std::uint64_t stamp,
                              std::uint32_t context) noexcept {
        std::lock_guard guard(lock_);
        const auto at = contexts_.find(context);
        Context& one = at->second;
        one.stamps.erase(one.stamps.find(stamp));
        tell(notice, context, one);
        notice.tell_how_many(--blocked_);
        if (one.stamps.empty()) {
            free_places_ |= bit(one.place);
            contexts_.erase(at);
        }
        return notice.withdrawn();
    }

private:
    static constexpr std::size_t shared_place = node::BlockedNotice::places;
    struct Context {
        std::multiset<std::uint64_t> stamps;
        std::size_t place = shared_place;
        std::uint64_t earliest() const noexcept { return stamps.empty() ? 0 : *stamps.begin(); }
    };
    static std::uint32_t bit(std::size_t place) noexcept {
        return place == shared_place ? 0 : std::uint32_t{1} << place;
    }

    std::size_t take_place() noexcept {
        if (free_places_ == 0) return shared_place;
        const int place = std::countr_zero(free_places_);
        free_places_ &= free_places_ - 1;
        return static_cast<std::size_t>(place);
    }
    void tell(node::BlockedNotice& notice, std::uint32_t context,
              const Context& one) const noexcept {
        notice.tell(one.place, context,
                    one.place == shared_place ? earliest_of_others() : one.earliest());
    }
    /// Returns the earliest stamp among contexts without a place of their own.
    std::uint64_t earliest_of_others() const noexcept {
        std::uint64_t earliest = 0;
        for (const auto& [context, one] : contexts_) {
            const std::uint64_t stamp = one.place == shared_place ? one.earliest() : 0;
            if (stamp != 0 && (earliest == 0 || stamp < earliest)) earliest = stamp;
        }
        return earliest;
    }

    sync::Mutex lock_;
    std::map<std::uint32_t, Context> contexts_;  ///< those with blocked messages
    std::uint32_t free_places_ = (std::uint32_t{1} << shared_place) - 1;
    std::uint32_t blocked_ = 0;
};

}  // namespace heddle::p2p
