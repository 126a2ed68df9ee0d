// SPDX-License-Identifier: BSD-3-Clause
#include "instance/pool.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <stdexcept>
#include <unistd.h>

namespace heddle::instance {
namespace {

platform::Mapping reserved(std::size_t bytes) {
    platform::Mapping memory = platform::reserve(bytes);
    if (!memory) throw std::bad_alloc();
    return memory;
}

/// Channels of an instance: to processes of the job, then, after whole pages, to guests.
struct ChannelLayout {
    std::size_t own_bytes, bytes;

    ChannelLayout(std::int32_t processes, std::size_t guests) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const auto whole = [page](std::size_t count) {
            return (count * sizeof(Channel) + page - 1) / page * page;
        };
        own_bytes = whole(static_cast<std::size_t>(processes));
        bytes = own_bytes + whole(guests);
    }
};

/// Reserves all channels. Those to guests never have a ring: they stay zeroes, which can only be
/// read.
platform::Mapping reserved_channels(std::size_t instances, const ChannelLayout& layout) {
    platform::Mapping memory = platform::reserve_zeroes(instances * layout.bytes);
    bool made = static_cast<bool>(memory);
    for (std::size_t i = 0; made && i < instances; ++i)
        made = platform::make_writable(static_cast<std::byte*>(memory.address()) + i * layout.bytes,
                                       layout.own_bytes);
    if (!made) throw std::bad_alloc();
    return memory;
}

std::uint32_t wanted(const node::Rings& rings, const tool::Settings& settings) {
    const std::size_t number = tool::number_of(settings.instances);
    if (number <= rings.instances())
        return static_cast<std::uint32_t>(number == 0 ? rings.instances() : number);
    throw std::runtime_error("HEDDLE_INSTANCES=" + std::to_string(number) + ": each of " +
                             std::to_string(rings.processes()) + " ranks can have " +
                             std::to_string(rings.instances()));
}

}  // namespace

Pool::Pool(const node::Rings& rings, std::int32_t rank, std::int32_t processes, std::size_t guests,
           const tool::Settings& settings)
    : rings_(rings),
      rank_(rank),
      mask_(wanted(rings, settings) - 1),
      by_tag_(settings.assignment == tool::Assignment::tag),
      inlets_(reserved(rings.instances() * rings.processes() * sizeof(Inlet))),
      channels_(reserved_channels(rings.instances(), ChannelLayout(processes, guests))),
      polled_(reserved(rings.instances() * rings.processes() * sizeof(std::atomic<Inlet*>))) {
    const std::size_t inlets = rings.processes();
    const std::size_t channel_bytes = ChannelLayout(processes, guests).bytes;
    const std::string matcher = tool::Choice<tool::MatcherName>::print(settings.matcher);
    for (std::size_t i = 0; i < rings.instances(); ++i) {
        Inbox& inbox = instances_[i].inbox_;
        inbox.number_ = static_cast<std::uint8_t>(i);
        inbox.matcher.select(matcher);
        // Zeroed memory is a valid unbound inlet or channel: pages appear when a peer is first met.
        inbox.inlets = static_cast<Inlet*>(inlets_.address()) + i * inlets;
        inbox.polled = static_cast<std::atomic<Inlet*>*>(polled_.address()) + i * inlets;
        instances_[i].outbox_.channels = reinterpret_cast<Channel*>(
            static_cast<std::byte*>(channels_.address()) + i * channel_bytes);
    }
}

LockedInstance Pool::lock_contended(Instance& instance, std::uint32_t context,
                                    std::int32_t tag) noexcept {
    const LockedInstance key = LockedInstance::lock(instance);
    key->receiving.inbox_contended.add();
    key->waits.note(context, tag);
    return key;
}

void Pool::first_use(LockedInstance instance) noexcept {
    instance.unlock();
    const std::lock_guard guard(order_lock_);
    mark_used(LockedInstance::lock(instance.instance()));
}

/// Called with order_lock() held.
void Pool::mark_used(LockedInstance instance) noexcept {
    if (instance->used) return;
    instance->used = true;
    instance->matcher.raise_order(latest_order_);
    used_.fetch_or(Instances{1} << instance.number(), release);
}

void Pool::bind(Channel& channel, std::uint8_t from, std::int32_t to) {
    if (!rings_.reach(static_cast<std::size_t>(rank_), static_cast<std::size_t>(to)))
        throw std::bad_alloc();
    new (&channel) Channel;
    channel.process = to;
    channel.instance = from;
    bind_ring(channel);
    channel.state = Channel::State::open;
    channel.next_open = open_channels_.load(relaxed);
    while (!open_channels_.compare_exchange_weak(channel.next_open, &channel, release,  // R1
                                                 relaxed)) {}
    open_count_.fetch_add(1, relaxed);
}

void Pool::bind(Inlet& inlet, std::uint8_t at, std::int32_t from) noexcept {
    new (&inlet) Inlet;
    inlet.process = from;
    inlet.bound = true;
    bind_ring(inlet, at);
}

void Pool::bind_ring(Channel& channel) noexcept {
    rings_.bind(channel.ring, static_cast<std::size_t>(rank_),
                static_cast<std::size_t>(channel.process), channel.instance);
}

void Pool::bind_ring(Inlet& inlet, std::uint8_t at) noexcept {
    rings_.bind(inlet.ring, static_cast<std::size_t>(inlet.process),
                static_cast<std::size_t>(rank_), at);
}

bool Pool::bind_again() {
    const auto me = static_cast<std::size_t>(rank_);
    for (std::uint8_t number = 0; number < rings_.instances(); ++number) {
        Instance& instance = instances_[number];
        for (std::size_t i = 0; i < rings_.processes(); ++i) {
            Channel& channel = instance.outbox_.channels[i];
            if (channel.state != Channel::State::unbound) {
                if (!rings_.reach(me, i) || !rings_.reach_offers(me, i, number)) return false;
                bind_ring(channel);
            }
            Inlet& inlet = instance.inbox_.inlets[i];
            if (!inlet.bound) continue;
            if (!rings_.reach_offers(i, me, number)) return false;
            bind_ring(inlet, number);
        }
    }
    return true;
}

void Instance::add_counted_to(tool::Values& values, std::size_t processes) {
    for (std::size_t to = 0; to < processes; ++to) values += outbox_.channels[to].sending;
    values += outbox_.counters;
    values += inbox_.receiving;
    values += inbox_.matcher.counters();
    values += inbox_.matcher.searches().total;
    // Noted only before receives are taken out (match::note_posted).
    auto& most = values[tool::CounterIndex::most_posted_receives];
    most = std::max(most, inbox_.matcher.counters().posted_receives.value());
}

}  // namespace heddle::instance
