// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sockets/address.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "platform/place.hpp"
#include "platform/random.hpp"

namespace heddle::transport::sockets {
namespace {

/// Changes with the contents of an address, and with what connections say.
constexpr std::uint32_t format = 0x48'64'73'01;
constexpr std::uint8_t four = 4, six = 6;  // versions of the internet protocol

template <class Number>
void append(std::string& bytes, Number number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// Takes a number off the front. Throws if there are too few bytes.
template <class Number>
Number take(std::string_view& bytes) {
    Number number{};
    if (bytes.size() < sizeof number) throw std::runtime_error("that is no address of sockets");
    std::memcpy(&number, bytes.data(), sizeof number);
    bytes.remove_prefix(sizeof number);
    return number;
}

/// Returns FNV-1a: texts that differ have different values for all that matters.
std::uint64_t hash(std::string_view text) noexcept {
    std::uint64_t value = 0xcbf2'9ce4'8422'2325U;
    for (const char letter : text)
        value = (value ^ static_cast<unsigned char>(letter)) * 0x100'0000'01b3U;
    return value;
}

std::uint64_t network_namespace() noexcept {
    struct stat status{};
    return stat("/proc/self/ns/net", &status) == 0 ? status.st_ino : 0;
}

template <class Sockaddr>
Endpoint endpoint_of(const Sockaddr& address) noexcept {
    Endpoint endpoint;
    std::memcpy(&endpoint.bytes, &address, sizeof address);
    endpoint.length = sizeof address;
    return endpoint;
}

template <class Sockaddr>
Sockaddr as(const Endpoint& endpoint) noexcept {
    Sockaddr address{};
    std::memcpy(&address, &endpoint.bytes, sizeof address);
    return address;
}

void append(std::string& bytes, const Endpoint& endpoint) {
    if (endpoint.family() == AF_INET) {
        append(bytes, four);
        append(bytes, as<sockaddr_in>(endpoint).sin_addr);
    } else {
        append(bytes, six);
        append(bytes, as<sockaddr_in6>(endpoint).sin6_addr);
    }
}

Endpoint take_endpoint(std::string_view& bytes, std::uint16_t port) {
    switch (take<std::uint8_t>(bytes)) {
        case four: {
            sockaddr_in address{};
            address.sin_family = AF_INET;
            address.sin_port = htons(port);
            address.sin_addr = take<in_addr>(bytes);
            return endpoint_of(address);
        }
        case six: {
            sockaddr_in6 address{};
            address.sin6_family = AF_INET6;
            address.sin6_port = htons(port);
            address.sin6_addr = take<in6_addr>(bytes);
            return endpoint_of(address);
        }
        default: throw std::runtime_error("that is no address of sockets");
    }
}

/// An address of an interface, and how likely another host reaches it: 0 is the likeliest.
struct Candidate {
    Endpoint endpoint;
    int rank;
    bool loopback;
};

/// Returns whether the interface is a bridge to containers. Bridges of this host have the same
/// addresses on other hosts.
bool leads_to_containers(std::string_view interface) noexcept {
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{"docker", "br-", "virbr", "veth", "cni", "lxc"},
        [&](std::string_view begin) { return interface.starts_with(begin); });
}

bool is_usable(const ifaddrs& entry) noexcept {
    if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return false;
    if (entry.ifa_addr->sa_family == AF_INET) return true;
    if (entry.ifa_addr->sa_family != AF_INET6) return false;
    // An address of the link alone means nothing without the interface of the process that
    // connects.
    sockaddr_in6 address{};
    std::memcpy(&address, entry.ifa_addr, sizeof address);
    return !IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr);
}

Candidate candidate_of(const ifaddrs& entry, std::uint16_t port) noexcept {
    const bool six_bytes = entry.ifa_addr->sa_family == AF_INET6;
    Endpoint endpoint;
    if (six_bytes) {
        sockaddr_in6 address{};
        std::memcpy(&address, entry.ifa_addr, sizeof address);
        address.sin6_port = htons(port);
        endpoint = endpoint_of(address);
    } else {
        sockaddr_in address{};
        std::memcpy(&address, entry.ifa_addr, sizeof address);
        address.sin_port = htons(port);
        endpoint = endpoint_of(address);
    }
    const int rank = (leads_to_containers(entry.ifa_name) ? 2 : 0) + (six_bytes ? 1 : 0);
    return {endpoint, rank, (entry.ifa_flags & IFF_LOOPBACK) != 0};
}

}  // namespace

std::string Endpoint::text() const {
    char digits[INET6_ADDRSTRLEN] = "";
    const auto text_of = [&](const auto& address, std::uint16_t port) {
        inet_ntop(family(), &address, digits, sizeof digits);
        return std::string(digits) + " port " + std::to_string(ntohs(port));
    };
    if (family() == AF_INET)
        return text_of(as<sockaddr_in>(*this).sin_addr, as<sockaddr_in>(*this).sin_port);
    if (family() == AF_INET6)
        return text_of(as<sockaddr_in6>(*this).sin6_addr, as<sockaddr_in6>(*this).sin6_port);
    return {};
}

Endpoint abstract_endpoint(std::uint64_t name) noexcept {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const int length = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
                                     "heddle-%016llx", static_cast<unsigned long long>(name));
    Endpoint endpoint = endpoint_of(address);
    endpoint.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                             static_cast<std::size_t>(length));
    return endpoint;
}

Address Address::of_this_process() {
    Address address;
    const std::string machine = platform::place_here().machine;
    address.machine = machine == "-" ? 0 : hash(machine);
    address.network = network_namespace();
    address.process = static_cast<std::uint32_t>(getpid());
    platform::random_bytes(&address.secret, sizeof address.secret);
    return address;
}

std::string Address::to_bytes() const {
    std::string bytes;
    append(bytes, format);
    append(bytes, machine);
    append(bytes, network);
    append(bytes, name);
    append(bytes, process);
    append(bytes, port);
    append(bytes, secret);
    for (const Endpoint& endpoint : internet) {
        std::string longer = bytes;
        append(longer, endpoint);
        if (longer.size() > most_address) break;
        bytes = std::move(longer);
    }
    return bytes;
}

Address Address::from_bytes(const std::string& bytes) {
    std::string_view rest = bytes;
    if (take<std::uint32_t>(rest) != format)
        throw std::runtime_error("that is no address of sockets, or of another version of Heddle");
    Address address;
    address.machine = take<std::uint64_t>(rest);
    address.network = take<std::uint64_t>(rest);
    address.name = take<std::uint64_t>(rest);
    address.process = take<std::uint32_t>(rest);
    address.port = take<std::uint16_t>(rest);
    address.secret = take<Secret>(rest);
    while (!rest.empty()) address.internet.push_back(take_endpoint(rest, address.port));
    return address;
}

std::string Address::place(const Address& here) const {
    if (is_beside(here) && name != 0) return "process " + std::to_string(process) + " of this host";
    if (internet.empty()) return {};
    return internet.front().text();
}

std::vector<Endpoint> internet_addresses(const std::string& interface, std::uint16_t port) {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, &freeifaddrs);
    std::vector<Candidate> candidates;
    for (const ifaddrs* entry = all; entry != nullptr; entry = entry->ifa_next)
        if (is_usable(*entry) && (interface.empty() || interface == entry->ifa_name))
            candidates.push_back(candidate_of(*entry, port));
    const bool others = std::ranges::any_of(candidates, [](auto& c) { return !c.loopback; });
    if (others) std::erase_if(candidates, [](const Candidate& c) { return c.loopback; });
    std::ranges::stable_sort(candidates, {}, &Candidate::rank);
    std::vector<Endpoint> endpoints;
    for (const Candidate& candidate : candidates) endpoints.push_back(candidate.endpoint);
    return endpoints;
}

}  // namespace heddle::transport::sockets
