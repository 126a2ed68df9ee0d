// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A network in one address space, for tests. Its wires (transport/wire.hpp) delay, refuse for a
/// while and reorder by a seed. They never reorder datagrams from one wire to another.
///
/// Delay          each time a wire looks for events, each sender's next datagram has arrived or
///                not, by chance.
/// Refusal        a send returns `again` by chance, and if `most_under_way` are pending between two
///                wires. Messages then gather in batches that are cut in other places with each
///                seed.
/// Faults         cut(): sends to a wire, or from it, fail. vanish(): they are lost silently. A
///                wire that has gone refuses connections. spoil(): one byte of each datagram to a
///                wire is changed.
/// Thread safety  any thread; each wire one at a time.

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "transport/guests.hpp"
#include "transport/lane.hpp"

namespace heddle::testing {

class NetworkWire;

class Network {
public:
    explicit Network(unsigned seed) noexcept : seed_(seed) {}

    using Station = std::uint32_t;
    static std::string address_of(Station station) {
        return {reinterpret_cast<const char*>(&station), sizeof station};
    }
    static Station station_at(const std::string& address);

    void cut(const std::string& address);
    void vanish(const std::string& address);
    void spoil(const std::string& address);

private:
    friend NetworkWire;
    static constexpr std::size_t most_under_way = 8;
    static constexpr std::size_t most_unreleased = 64;

    struct Region {
        const std::byte* begin;
        std::size_t bytes;
    };

    const unsigned seed_;
    std::mutex mutex_;
    Station next_ = 1;
    std::map<Station, NetworkWire*> wires_;
    std::set<Station> cut_;
    std::set<Station> vanished_;
    std::set<Station> spoilt_;
    std::map<std::uint64_t, Region> exposed_;
    std::uint64_t next_key_ = 1;
};

class NetworkWire {
public:
    static constexpr std::string_view name = "simulated";
    using Destination = Network::Station;

    class Exposed {
    public:
        Exposed(Network& network, std::uint64_t key) noexcept : network_(&network), key_(key) {}
        Exposed(Exposed&& other) noexcept
            : network_(std::exchange(other.network_, nullptr)), key_(other.key_) {}
        Exposed& operator=(Exposed&&) = delete;
        ~Exposed();
        transport::RemoteMemory remote() const noexcept { return {0, key_}; }

    private:
        Network* network_;
        std::uint64_t key_;
    };

    explicit NetworkWire(Network& network, std::size_t batch_bytes = 16384);
    ~NetworkWire();
    NetworkWire(const NetworkWire&) = delete;
    NetworkWire& operator=(const NetworkWire&) = delete;

    std::string address() const { return Network::address_of(station_); }
    Destination find(const std::string& address) { return Network::station_at(address); }
    std::string place(const std::string& address) const {
        return "station " + std::to_string(Network::station_at(address));
    }

    transport::Sent send(Destination to, transport::SendBuffer& buffer, std::size_t bytes) noexcept;
    transport::Sent inject(Destination to, transport::Bytes bytes) noexcept;
    std::size_t inject_limit() const noexcept { return 64; }
    std::size_t batch_bytes() const noexcept { return batch_bytes_; }
    std::size_t events(std::span<transport::WireEvent> events) noexcept;
    void release(transport::Operation& operation) noexcept;
    int failure() const noexcept { return failure_; }
    bool diagnose(const std::string& address, std::string& why);
    /// Returns true only after several looks, as on a real network.
    bool is_acknowledged(const std::string& address, std::chrono::milliseconds) noexcept;
    void end_diagnosis(const std::string& address) noexcept { looks_.erase(address); }
    std::string last_error() const noexcept { return {}; }

    int descriptor() const noexcept { return descriptor_; }
    bool may_sleep() noexcept;

    bool can_read() const noexcept { return true; }
    bool can_read(Destination) const noexcept { return true; }
    Exposed expose(transport::Bytes memory);
    transport::Sent read(Destination from, transport::RemoteMemory remote,
                         std::span<std::byte> local, transport::Operation& operation) noexcept;

private:
    using Station = Network::Station;
    struct Datagram : transport::Operation {
        std::vector<std::byte> bytes;
    };
    struct Done {
        transport::Operation* operation;
        int error;
    };

    bool chance(unsigned one_in) { return random_() % one_in == 0; }
    transport::Sent deliver(Station to, transport::Bytes bytes,
                            transport::Operation* operation) noexcept;
    bool take_datagram(transport::WireEvent& event);
    void wake() noexcept;

    // Guarded by the network's mutex:
    Network& network_;
    const Station station_;
    const std::size_t batch_bytes_;
    std::map<Station, std::deque<std::unique_ptr<Datagram>>> incoming_;
    std::deque<Done> done_;
    bool asleep_ = false;
    // Used by the owner:
    std::minstd_rand random_;
    std::set<std::unique_ptr<Datagram>> unreleased_;
    static constexpr int looks_for_acknowledgement = 5;
    std::map<std::string, int> looks_;  ///< looks of a diagnosis
    int descriptor_;
    int failure_ = 0;
};
static_assert(transport::Wire<NetworkWire>);

using NetworkLane = transport::Lane<NetworkWire>;
using NetworkGuestLane = transport::Lane<NetworkWire, transport::GuestMembers>;
static_assert(transport::Transport<NetworkLane>);

}  // namespace heddle::testing
