// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Rings that are hot or cold. Hot rings are looked at again and again, so that their senders need
/// not ring the bell.
///
/// Cooling        a leader that goes to sleep cools all rings (progress/lot.hpp); a thread that
///                sleeps cools those of its instances. Cooling takes effect with
///                CoveredFence::pass_before_sleep().
/// Warming        a ring becomes hot again when messages are found in it, unless a sleeping thread
///                depends on the bell.
/// Thread safety  functions that take the key to an instance need it; the others lock it.

#include <atomic>
#include <cstdint>

#include "p2p/base.hpp"
#include "sync/covered_fence.hpp"

namespace heddle::p2p {

class HotRings {
public:
    using Instances = instance::Instances;

    explicit HotRings(Base& base) noexcept : base_(base) {}

    /// Lists the inlets whose senders have rung.
    void list_rung(instance::LockedInstance instance);
    /// Called after messages have been taken out of the ring.
    void after_draining(instance::LockedInstance instance, instance::Inlet& inlet) noexcept {
        if (!inlet.ring.hot()) [[unlikely]]
            warm(instance, inlet);
        if (inlet.ring.producer_starves()) [[unlikely]]
            base_.notify(inlet.process, instance.number());
    }
    /// Lets the sender see whether the ring is empty.
    void give_cells_back(instance::LockedInstance instance, instance::Inlet& inlet) noexcept;
    /// Makes senders ring for messages to these instances.
    void cool(Instances which);
    /// Does the same for every instance. Leaves out rings that other threads have been using since
    /// the last call. Returns true if there are some.
    bool cool_idle();
    /// Adds to the number of threads that sleep until a message of these instances.
    void add_parked(Instances which, int change) noexcept;

    /// Returns the fence behind changes that make senders ring.
    sync::CoveredFence& fence() noexcept { return fence_; }

private:
    void warm(instance::LockedInstance instance, instance::Inlet& inlet) noexcept;
    void cool(instance::LockedInstance instance, instance::Inlet& inlet) noexcept;

    Base& base_;
    std::atomic<std::uint32_t> parked_everywhere_{0};
    sync::CoveredFence fence_;
};

}  // namespace heddle::p2p
