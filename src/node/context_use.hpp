// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// By which instances of a process messages come, for each class of contexts, and receives of which tags
/// are posted. So a receive with MPI_ANY_TAG knows where it has to look (p2p/homes.hpp).
///
/// Classes        contexts modulo 64: contexts of one class are told apart by nobody here.
/// Contract       A sender adds the instance before it publishes a message of the context there for the first time,
///                or queues it for want of room. Whoever has seen a message learns by instances() of every
///                instance by which anything came that was sent before it.
/// Thread safety  any thread of any process of the node. Nothing is ever taken back.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sync/orders.hpp"

namespace heddle::node {

inline constexpr std::uint32_t context_classes = 64;
constexpr std::uint32_t class_of(std::uint32_t context) noexcept {
    return context % context_classes;
}
constexpr std::uint64_t class_bit(std::uint32_t context) noexcept {
    return std::uint64_t{1} << class_of(context);
}

/// Zeroes say that nothing is in use.
class alignas(cache_line) ContextUse {
public:
    void add(std::uint32_t context, std::size_t instance) noexcept {
        // Relaxed: the message that is published next (R1 of ring.hpp) publishes this, too.
        auto& instances = instances_[class_of(context)];
        const std::uint64_t bit = std::uint64_t{1} << instance;
        if ((instances.load(relaxed) & bit) == 0) instances.fetch_or(bit, relaxed);
    }
    /// A bit for each.
    std::uint64_t instances(std::uint32_t context) const noexcept {
        return instances_[class_of(context)].load(relaxed);  // after the message has been seen
    }

private:
    std::array<std::atomic<std::uint64_t>, context_classes> instances_;
};

}  // namespace heddle::node
