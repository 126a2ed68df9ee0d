// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Counts sends of this process whose payload is still to be taken. While there are any, large data
/// leaves it.

#include <atomic>
#include <cstdint>

#include "core/request.hpp"
#include "sync/orders.hpp"

namespace heddle::p2p {

class AnnouncedSends {
public:
    void begin(core::Request& send) noexcept {
        send.announced = true;
        begin();
    }
    /// Counts a payload that no request of the program stands for.
    void begin() noexcept { count_.fetch_add(1, relaxed); }
    void end() noexcept { count_.fetch_sub(1, relaxed); }
    bool any() const noexcept { return count_.load(relaxed) != 0; }

private:
    std::atomic<std::uint32_t> count_{0};  // relaxed: a hint, no other read depends on it
};

}  // namespace heddle::p2p
