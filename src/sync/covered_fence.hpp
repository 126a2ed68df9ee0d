// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A heavy node fence before a sleep, left out if one has passed since the last store that needs
/// it. The node fence interrupts the cores of all processes of the node. If it is left out, the
/// fence of the process is enough.
///
/// Contract       Rare side: store A, uncover(), pass_before_sleep(), load B. Frequent side, in any
///                process: store B, light(), load A. At least one of the two loads sees the other
///                side's store. That holds for every store A of this process which the caller of
///                pass_before_sleep() has seen.
/// Use            A says that senders are to ring (a ring becomes cold). While it stays so, senders
///                see it, and ring with full fences of their own. The sleeper need not order
///                anything any more.
/// Thread safety  any thread of the process. uncover() is called with a lock held. Threads that
///                rely on the store take this lock, too (instance::Instance::lock).
/// Refusal        as for NodeFence: returns false, and nothing is covered.

#include <cstdint>

#include "sync/native.hpp"

namespace heddle::sync {

/// NodeWorld's fence reaches all processes of the node, World's those of this process.
template <class NodeWorld = NativeNode, class World = Native>
class BasicCoveredFence {
public:
    /// Notes a store that the next fence is to order; call it after the store.
    void uncover() noexcept { stores_.fetch_add(1, release); }  // R1: pairs with A1

    bool pass_before_sleep() noexcept {
        // A1: pairs with R1. The lock has published every store that the caller has seen.
        const std::uint64_t stores = stores_.load(acquire);
        // A2: pairs with R2. A sender that loaded A before that fence has stored B before it,
        // visibly.
        if (covered_.load(acquire) >= stores) return World::Fence::heavy_before_sleep();
        if (!NodeWorld::Fence::heavy_before_sleep()) return false;
        cover(stores);
        return true;
    }
    /// Returns whether the next pass_before_sleep() is without a node fence, as far as the caller
    /// knows.
    bool is_covered() const noexcept { return covered_.load(relaxed) >= stores_.load(relaxed); }

private:
    void cover(std::uint64_t stores) noexcept {
        std::uint64_t before = covered_.load(relaxed);
        while (before < stores &&
               !covered_.compare_exchange_strong(before, stores, release, relaxed)) {  // R2
        }
    }

    typename World::template Atom<std::uint64_t> stores_{0};
    typename World::template Atom<std::uint64_t> covered_{0};  ///< how many of the stores
};

using CoveredFence = BasicCoveredFence<>;

}  // namespace heddle::sync
