// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The memory of a ring (batch_ring.hpp). The sender makes it. The receiver gets the descriptor and
/// looks at it before use.

#include <cstddef>
#include <new>
#include <span>

#include "platform/memory.hpp"
#include "platform/shared_memory.hpp"
#include "transport/sockets/batch_ring.hpp"
#include "transport/sockets/descriptor.hpp"

namespace heddle::transport::sockets {

using RingWords = BasicRingWords<>;
using RingProducer = BasicRingProducer<>;
using RingConsumer = BasicRingConsumer<>;

class RingMemory {
public:
    static constexpr std::size_t bytes = std::size_t{256} << 10;
    static_assert(bytes >= 3 * (sizeof(Frame) + most_batch));

    /// Returns an empty one if none can be made. `descriptor` is for the receiver.
    static RingMemory create(Descriptor& descriptor) noexcept {
        const char* step = nullptr;
        descriptor = Descriptor(platform::create_shared_memory("heddle-batches", whole, step));
        return descriptor ? RingMemory(platform::map_shared(descriptor.number(), whole))
                          : RingMemory();
    }
    /// Returns an empty one if this is not the memory of a ring, or cannot be mapped.
    static RingMemory of(const Descriptor& descriptor) noexcept {
        if (!descriptor || platform::shared_memory_bytes(descriptor.number()) != whole) return {};
        return RingMemory(platform::map_shared(descriptor.number(), whole));
    }

    RingMemory() = default;
    explicit operator bool() const noexcept { return static_cast<bool>(mapping_); }
    RingWords& words() const noexcept {
        return *std::launder(reinterpret_cast<RingWords*>(mapping_.address()));
    }
    std::span<std::byte> data() const noexcept {
        return {static_cast<std::byte*>(mapping_.address()) + before, bytes};
    }

private:
    static constexpr std::size_t before = 4096;  ///< the words
    static constexpr std::size_t whole = before + bytes;
    static_assert(sizeof(RingWords) <= before);

    explicit RingMemory(platform::Mapping&& mapping) noexcept : mapping_(std::move(mapping)) {}

    platform::Mapping mapping_;
};

/// An end of a ring, with its memory.
struct SendingRing {
    explicit SendingRing(RingMemory&& mapped) noexcept
        : memory(std::move(mapped)), producer(memory.words(), memory.data()) {}

    const RingMemory memory;
    RingProducer producer;
};

struct ReceivingRing {
    explicit ReceivingRing(RingMemory&& mapped) noexcept
        : memory(std::move(mapped)), consumer(memory.words(), memory.data()) {}

    const RingMemory memory;
    RingConsumer consumer;
};

}  // namespace heddle::transport::sockets
