// SPDX-License-Identifier: BSD-3-Clause
#include "testing/network.hpp"

#include <cerrno>
#include <cstring>
#include <sys/eventfd.h>
#include <unistd.h>

namespace heddle::testing {

using transport::Bytes;
using transport::Operation;
using transport::RemoteMemory;
using transport::SendBuffer;
using transport::Sent;
using transport::WireEvent;

Network::Station Network::station_at(const std::string& address) {
    Station station = 0;
    if (address.size() != sizeof station)
        throw std::runtime_error("that is no address of this network");
    std::memcpy(&station, address.data(), sizeof station);
    return station;
}
void Network::cut(const std::string& address) {
    std::lock_guard guard(mutex_);
    cut_.insert(station_at(address));
}
void Network::vanish(const std::string& address) {
    std::lock_guard guard(mutex_);
    vanished_.insert(station_at(address));
}

void Network::spoil(const std::string& address) {
    std::lock_guard guard(mutex_);
    spoilt_.insert(station_at(address));
}

NetworkWire::NetworkWire(Network& network, std::size_t batch_bytes)
    : network_(network),
      station_([&] {
          std::lock_guard guard(network.mutex_);
          network.wires_[network.next_] = this;
          return network.next_++;
      }()),
      batch_bytes_(batch_bytes),
      random_(network.seed_ * 7919 + station_),
      descriptor_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

NetworkWire::~NetworkWire() {
    {
        std::lock_guard guard(network_.mutex_);
        network_.wires_.erase(station_);
    }
    close(descriptor_);
}

NetworkWire::Exposed::~Exposed() {
    if (network_ == nullptr) return;
    std::lock_guard guard(network_->mutex_);
    network_->exposed_.erase(key_);
}

void NetworkWire::wake() noexcept {
    if (!std::exchange(asleep_, false)) return;
    const std::uint64_t one = 1;
    (void)!write(descriptor_, &one, sizeof one);
}

/// Delivers a message. `operation` is that of a send, or nullptr for an inject.
Sent NetworkWire::deliver(Station to, Bytes bytes, Operation* operation) noexcept {
    if (chance(8)) return Sent::again;
    std::lock_guard guard(network_.mutex_);
    const auto at = network_.wires_.find(to);
    if (at == network_.wires_.end())
        return Sent::again;  // as libfabric does, whose diagnose() knows more
    if (network_.cut_.contains(to) || network_.cut_.contains(station_)) {
        if (operation != nullptr) done_.push_back({operation, ECONNRESET});
        failure_ = ECONNRESET;
        return operation != nullptr ? Sent::accepted : Sent::failed;
    }
    NetworkWire& other = *at->second;
    auto& queue = other.incoming_[station_];
    if (queue.size() >= Network::most_under_way) return Sent::again;
    if (!network_.vanished_.contains(to) && !network_.vanished_.contains(station_)) {
        queue.push_back(std::make_unique<Datagram>());
        queue.back()->what = Operation::What::receive;
        queue.back()->bytes.assign(bytes.begin(), bytes.end());
        if (network_.spoilt_.contains(to)) queue.back()->bytes.back() ^= std::byte{4};
        other.wake();
    }
    if (operation != nullptr) done_.push_back({operation, 0});
    return Sent::accepted;
}

Sent NetworkWire::send(Station to, SendBuffer& buffer, std::size_t bytes) noexcept {
    return deliver(to, {buffer.bytes.get(), bytes}, &buffer);
}
Sent NetworkWire::inject(Station to, Bytes bytes) noexcept { return deliver(to, bytes, nullptr); }

bool NetworkWire::take_datagram(WireEvent& event) {
    if (incoming_.empty() || unreleased_.size() >= Network::most_unreleased) return false;
    auto from = incoming_.begin();
    std::advance(from, random_() % incoming_.size());
    if (from->second.empty() || chance(3)) return false;
    const auto [at, added] = unreleased_.insert(std::move(from->second.front()));
    from->second.pop_front();
    event = {at->get(), (*at)->bytes, 0};
    return true;
}

std::size_t NetworkWire::events(std::span<WireEvent> events) noexcept {
    std::lock_guard guard(network_.mutex_);
    std::size_t count = 0;
    while (count < events.size() && !done_.empty() && !chance(4)) {
        events[count++] = {done_.front().operation, {}, done_.front().error};
        done_.pop_front();
    }
    while (count < events.size() && take_datagram(events[count])) ++count;
    return count;
}

void NetworkWire::release(Operation& operation) noexcept {
    const auto at = std::find_if(unreleased_.begin(), unreleased_.end(), [&](const auto& datagram) {
        return datagram.get() == &operation;
    });
    unreleased_.erase(at);
}

bool NetworkWire::diagnose(const std::string& address, std::string& why) {
    std::lock_guard guard(network_.mutex_);
    ++looks_[address];
    if (!network_.wires_.contains(Network::station_at(address))) why = std::strerror(ECONNREFUSED);
    return !why.empty();
}

bool NetworkWire::is_acknowledged(const std::string& address, std::chrono::milliseconds) noexcept {
    std::lock_guard guard(network_.mutex_);
    const Station there = Network::station_at(address);
    return looks_[address] >= looks_for_acknowledgement && network_.wires_.contains(there) &&
        !network_.vanished_.contains(there) && !network_.vanished_.contains(station_);
}

bool NetworkWire::may_sleep() noexcept {
    std::lock_guard guard(network_.mutex_);
    std::uint64_t count = 0;
    (void)!::read(descriptor_, &count, sizeof count);
    const bool nothing = done_.empty() &&
        std::all_of(incoming_.begin(), incoming_.end(),
                    [](const auto& queue) { return queue.second.empty(); });
    asleep_ = nothing;
    return nothing;
}

NetworkWire::Exposed NetworkWire::expose(Bytes memory) {
    std::lock_guard guard(network_.mutex_);
    network_.exposed_[network_.next_key_] = {memory.data(), memory.size()};
    return {network_, network_.next_key_++};
}

Sent NetworkWire::read(Station from, RemoteMemory remote, std::span<std::byte> local,
                       Operation& operation) noexcept {
    if (chance(8)) return Sent::again;
    std::lock_guard guard(network_.mutex_);
    const auto region = network_.exposed_.find(remote.key);
    const bool fine = region != network_.exposed_.end() && network_.wires_.contains(from) &&
        remote.address + local.size() <= region->second.bytes && !network_.cut_.contains(from);
    if (fine) std::memcpy(local.data(), region->second.begin + remote.address, local.size());
    done_.push_back({&operation, fine ? 0 : ECONNRESET});
    return Sent::accepted;
}

}  // namespace heddle::testing
