// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// For each class of contexts: the instances by which messages come to a process. So a receive with
/// MPI_ANY_TAG knows where it has to look (p2p/homes.hpp).
///
/// Classes        contexts modulo 64: contexts of one class are not told apart here.
/// Contract       A sender adds the instance before it first publishes a message of the context
///                there. If it queues a message for want of room, it adds the instance before that.
///                A receiver that has seen a message calls instances(). That shows every instance
///                by which any message came that was sent before it.
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
    /// Returns a bit for each instance.
    std::uint64_t instances(std::uint32_t context) const noexcept {
        return instances_[class_of(context)].load(relaxed);  // read after the message has been seen
    }

private:
    std::array<std::atomic<std::uint64_t>, context_classes> instances_;
};

}  // namespace heddle::node
