// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A notice from one sender to one receiver about blocked messages: those that have been sent, but
/// for which no ring has had room yet. Later messages may overtake them in rings of other
/// instances.
///
/// Contexts       a context with blocked messages has a place of its own, so that one context never
///                delays another. Contexts that find no free place share one.
/// Thread safety  one thread of the sending process at a time writes it; the receiver reads it.
/// Contract       The sender announces a message before any message that it sends later can be
///                seen. It withdraws the announcement after the message has been published. A
///                receiver that has seen a message M calls may_precede() for it. That shows every
///                blocked message that was sent before M. If it returns false, everything earlier
///                lies in the rings, for a look that begins later.
/// Waking         a receiver to which may_precede() has returned true calls watch(), then asks once
///                more. When a message is withdrawn, its mailbox notifies it.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sync/orders.hpp"

namespace heddle::node {

/// A notice of zeroes is valid, without anything in it.
class alignas(cache_line) BlockedNotice {
public:
    static constexpr std::size_t places = 14;  ///< besides one that others share

    // --- the sender ---

    /// Sets the earliest blocked message of the context; 0: there is none any more. `place` is one
    /// that this context has to itself, or `places`: that one serves all contexts without a place.
    void tell(std::size_t place, std::uint32_t context, std::uint64_t earliest) noexcept {
        // R1: pairs with A2; a place that has changed hands shows what was withdrawn there before.
        at_[place].context.store(context, release);
        // R2: pairs with A1. It is above watch() or below it in the one order of both: withdrawn().
        at_[place].earliest.store(earliest, seq_cst);
    }
    void tell_how_many(std::uint32_t blocked) noexcept {
        blocked_.store(blocked, seq_cst);  // R3: pairs with A3; as for R2
    }
    /// After a message was withdrawn: returns true, once, if the receiver watches for it.
    [[nodiscard]] bool withdrawn() noexcept {
        return watched_.load(seq_cst) != 0 && watched_.exchange(0, seq_cst) != 0;
    }

    // --- the receiver ---

    bool may_precede(std::uint32_t context, std::uint64_t stamp) const noexcept {
        if (blocked_.load(seq_cst) == 0) [[likely]]
            return false;  // A3
        for (std::size_t place = 0; place <= places; ++place) {
            const std::uint64_t earliest = at_[place].earliest.load(seq_cst);  // A1
            if (earliest == 0 || earliest >= stamp) continue;
            if (place == places || at_[place].context.load(acquire) == context) return true;  // A2
        }
        return false;
    }
    /// Calls visit(context) for each context that has blocked messages. Returns false if there may
    /// be other contexts.
    template <class Visit>
    bool each(Visit&& visit) const {
        if (blocked_.load(seq_cst) == 0) return true;  // A3
        for (std::size_t place = 0; place < places; ++place)
            if (at_[place].earliest.load(seq_cst) != 0)
                visit(at_[place].context.load(acquire));  // A1, A2
        return at_[places].earliest.load(seq_cst) == 0;   // A1
    }

    void watch() noexcept { watched_.store(1, seq_cst); }

private:
    struct Place {
        std::atomic<std::uint64_t> earliest;  ///< stamp; 0: the place is free
        std::atomic<std::uint32_t> context;
    };
    std::array<Place, places + 1> at_;
    std::atomic<std::uint32_t> blocked_;  ///< messages
    std::atomic<std::uint32_t> watched_;
};
static_assert(sizeof(BlockedNotice) == 4 * cache_line);

}  // namespace heddle::node
