// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Stamps of messages. A later message, by one thread or by threads that synchronised, has a higher
/// stamp. The stamp is the processor's counter. If that does not order threads, messages are
/// counted.

#include <atomic>
#include <cstdint>

#include "platform/cpu.hpp"
#include "platform/tick_rate.hpp"
#include "sync/orders.hpp"
#include "tool/settings.hpp"

namespace heddle::p2p {

class Stamps {
public:
    explicit Stamps(tool::Stamps which) noexcept
        : counted_(which == tool::Stamps::automatic ? !platform::ticks_order_threads()
                                                    : which == tool::Stamps::counter) {}

    bool are_counted() const noexcept { return counted_; }

    struct Clock {
        std::uint64_t operator()() const noexcept { return platform::ordered_ticks(); }
    };
    /// A number in a sequence, if there is one, otherwise a stamp.
    struct Numbered {
        std::uint64_t number;
        std::atomic<std::uint64_t>* count;  ///< nullptr: the processor's counter

        std::uint64_t operator()() const noexcept {
            if (number != 0) return number;
            // Relaxed: a thread that synchronised with another after its send gets a later one.
            return count == nullptr ? Clock()() : count->fetch_add(1, relaxed) + 1;
        }
    };
    Numbered numbered(std::uint64_t number = 0) noexcept {
        return {number, counted_ ? &count_ : nullptr};
    }

private:
    const bool counted_;
    alignas(cache_line) std::atomic<std::uint64_t> count_{0};
};

}  // namespace heddle::p2p
