// SPDX-License-Identifier: BSD-3-Clause
#include "instance/pool.hpp"

#include <new>
#include <stdexcept>

namespace heddle::instance {
namespace {

platform::Mapping reserved(std::size_t bytes) {
    platform::Mapping memory = platform::reserve(bytes);
    if (!memory) throw std::bad_alloc();
    return memory;
}

}  // namespace

Pool::Pool(const transport::shm::Node& node, std::int32_t rank)
    : node_(node),
      rank_(rank),
      mask_(static_cast<std::uint32_t>(node.instances() - 1)),
      inlets_(reserved(node.instances() * node.processes() * sizeof(Inlet))),
      channels_(reserved(node.instances() * node.processes() * sizeof(Channel))),
      polled_(reserved(node.instances() * node.processes() * sizeof(std::atomic<Inlet*>))) {
    const std::size_t processes = node.processes();
    for (std::size_t i = 0; i < node.instances(); ++i) {
        Instance& instance = instances_[i];
        instance.number = static_cast<std::uint8_t>(i);
        // Zeroed memory is a valid unbound inlet or channel: pages appear when a peer is first met.
        instance.inlets = static_cast<Inlet*>(inlets_.address()) + i * processes;
        instance.channels = static_cast<Channel*>(channels_.address()) + i * processes;
        instance.polled = static_cast<std::atomic<Inlet*>*>(polled_.address()) + i * processes;
    }
}

void Pool::bind(Channel& channel, Instance& from, std::int32_t to) noexcept {
    new (&channel) Channel;
    channel.process = to;
    channel.ring = node_.producer(static_cast<std::size_t>(rank_), static_cast<std::size_t>(to),
                                  from.number);
    channel.state = Channel::State::open;
}

void Pool::bind(Inlet& inlet, Instance& at, std::int32_t from) noexcept {
    new (&inlet) Inlet;
    node_.bind(inlet.ring, static_cast<std::size_t>(from), static_cast<std::size_t>(rank_), at.number);
    inlet.process = from;
    inlet.bound = true;
}

}  // namespace heddle::instance
