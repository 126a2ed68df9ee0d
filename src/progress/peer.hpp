// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "sync/orders.hpp"

namespace heddle::progress {

/// A hint on the process that a thread probably waits for.
enum class PeerState : std::uint8_t {
    unknown,  ///< there is no such process
    waits,    ///< it waits itself
    runs,  ///< on another core, and answers soon; or it is ready, and wants a core as this one does
};

/// That process, if known. It says where it waits itself.
class Peer {
public:
    Peer() noexcept = default;  ///< nothing is known
    Peer(const std::atomic<std::uint64_t>& waits, std::uint64_t which) noexcept
        : waits_(&waits), which_(which) {}
    PeerState state() const noexcept {
        if (waits_ == nullptr) return PeerState::unknown;
        // No other read depends on it.
        return (waits_->load(relaxed) & which_) != 0 ? PeerState::waits : PeerState::runs;
    }

private:
    const std::atomic<std::uint64_t>* waits_ = nullptr;
    std::uint64_t which_ = 0;
};

}  // namespace heddle::progress
