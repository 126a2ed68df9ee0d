// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "sync/orders.hpp"

namespace heddle::progress {

/// The process that a thread probably waits for, if known. It says where it waits itself. If it
/// does not wait, it runs on another core and answers soon. Or it is ready, and wants a core as
/// this thread does. All of it is a hint.
class Peer {
public:
    Peer() noexcept = default;  ///< nothing is known
    Peer(const std::atomic<std::uint64_t>& waits, std::uint64_t which) noexcept
        : waits_(&waits), which_(which) {}
    bool is_known() const noexcept { return waits_ != nullptr; }
    bool waits() const noexcept {
        return is_known() && (waits_->load(relaxed) & which_) != 0;  // no other read depends on it
    }

private:
    const std::atomic<std::uint64_t>* waits_ = nullptr;
    std::uint64_t which_ = 0;
};

}  // namespace heddle::progress
