// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The instances of a process, and the assignment of messages to them.

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "instance/instance.hpp"
#include "node/rings.hpp"
#include "tool/settings.hpp"

namespace heddle::instance {

using Instances = std::uint64_t;  ///< a bit for each
inline constexpr Instances all = ~Instances{0};

class Pool {
public:
    /// Makes the instances. `rank` is that of this process among those of the node's shared memory.
    /// Channels to other ones of `processes`, and to as many guests behind these, stay unbound: the
    /// fast path to them is closed. Throws std::runtime_error if there are not as many instances as
    /// the settings want.
    Pool(const node::Rings& rings, std::int32_t rank, std::int32_t processes, std::size_t guests,
         const tool::Settings& settings);

    std::size_t size() const noexcept { return mask_ + 1; }
    Instance& operator[](std::size_t number) noexcept { return instances_[number]; }
    template <class Visit>
    void each(Instances which, Visit&& visit) {
        for (; which != 0; which &= which - 1)
            visit(instances_[static_cast<std::size_t>(std::countr_zero(which))]);
    }

    /// Returns the instance of (context id, tag): sender and receiver compute the same. Consecutive
    /// tags take consecutive instances. The higher digits of the tag and the context are hashed by
    /// multiplication (Knuth, 6.4). That spreads tags with a stride, and those of communicators
    /// that use the same tags. Among odd factors, this one keeps sixteen tags apart whatever power
    /// of two lies between them (pool_test.cpp).
    std::uint8_t number_of(std::uint32_t context, std::int32_t tag) const noexcept {
        const auto t = static_cast<std::uint32_t>(tag);
        return static_cast<std::uint8_t>((t + (((t >> 6) + context) * 0x51a829f7U >> 26)) & mask_);
    }
    Instance& of(std::uint32_t context, std::int32_t tag) noexcept {
        return instances_[number_of(context, tag)];
    }
    /// Returns the instance in which a message is matched under the assignment in force. All
    /// assignments except that by tag match a communicator in one place.
    std::uint8_t home_of(std::uint32_t context, std::int32_t tag) const noexcept {
        return number_of(context, by_tag_ ? tag : 0);
    }
    Instance& home(std::uint32_t context, std::int32_t tag) noexcept {
        return instances_[home_of(context, tag)];
    }

    /// Throws std::bad_alloc if the rings to that process cannot be mapped.
    Channel& channel(HeldOutbox from, std::int32_t to) {
        Channel& channel = from->channels[to];
        if (channel.state == Channel::State::unbound) [[unlikely]]
            bind(channel, from.number(), to);
        return channel;
    }
    Inlet& inlet(LockedInstance at, std::int32_t from) noexcept {
        Inlet& inlet = at->inlets[from];
        if (!inlet.bound) [[unlikely]]
            bind(inlet, at.number(), from);
        return inlet;
    }
    /// Returns the ring of payload of a message that has come from that process. It does not change
    /// any more, and is read without the lock.
    const node::PayloadConsumer& payload(std::size_t number, std::int32_t from) const noexcept {
        return instances_[number].inbox_.inlets[from].payload;
    }

    /// Locks an instance for the given context and tag. The instance is in use from then on.
    [[gnu::always_inline]] LockedInstance lock(Instance& instance, std::uint32_t context,
                                               std::int32_t tag) noexcept {
        const auto free = LockedInstance::try_lock(instance);
        const LockedInstance key = free ? *free : lock_contended(instance, context, tag);
        if (!key->used) [[unlikely]]
            first_use(key);
        return key;
    }
    /// Returns the instances that have ever held anything.
    Instances used() const noexcept { return used_.load(acquire); }
    /// Puts the instance into use. It is locked again when this returns, but not throughout.
    void first_use(LockedInstance instance) noexcept;

    /// Guards locking all instances, first uses, and the set of wildcards. Taken before the locks
    /// of instances.
    sync::Mutex& order_lock() noexcept { return order_lock_; }
    /// Order of the wildcard that was posted last; guarded by order_lock().
    std::uint64_t& latest_order() noexcept { return latest_order_; }

    /// All bound channels, a list by next_open, and their number. A channel's guard
    /// holds for its other members.
    Channel* open_channels() const noexcept {
        return open_channels_.load(acquire);  // A1: pairs with R1 in bind()
    }
    std::uint32_t open_channel_count() const noexcept { return open_count_.load(relaxed); }

    /// Binds channels again after the node's rings were unmapped: to where the rings are now.
    /// Returns false if rings to another process cannot be mapped (errno).
    bool bind_again();

private:
    friend class AllInstances;
    [[gnu::cold, gnu::noinline]] static LockedInstance lock_contended(Instance& instance,
                                                                      std::uint32_t context,
                                                                      std::int32_t tag) noexcept;
    void mark_used(LockedInstance instance) noexcept;
    void bind(Channel& channel, std::uint8_t from, std::int32_t to);
    void bind(Inlet& inlet, std::uint8_t at, std::int32_t from) noexcept;
    void bind_ring(Channel& channel) noexcept;
    void bind_ring(Inlet& inlet, std::uint8_t at) noexcept;

    const node::Rings& rings_;
    std::int32_t rank_;
    std::uint32_t mask_;
    bool by_tag_;
    platform::Mapping inlets_, channels_, polled_;
    std::atomic<Channel*> open_channels_{nullptr};
    std::atomic<std::uint32_t> open_count_{0};
    alignas(cache_line) sync::Mutex order_lock_;
    std::uint64_t latest_order_ = 0;
    std::atomic<Instances> used_{0};
    std::array<Instance, node::most_instances> instances_;
};

}  // namespace heddle::instance
