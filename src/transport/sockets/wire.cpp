// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sockets/wire.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace heddle::transport::sockets {

Wire::Wire(const Options& options)
    : reads_(options.reads), acceptor_(loop_, options.rings), rings_(options.rings) {
    if (options.same_machine) acceptor_.listen_here(own_);
    if (options.other_hosts) acceptor_.listen_to_others(own_, options.interface);
}

std::vector<Endpoint> Wire::endpoints_of(const Address& address) const {
    if (address.is_beside(own_) && address.name != 0) return {abstract_endpoint(address.name)};
    if (address.port == 0 || address.internet.empty())
        throw std::runtime_error(
            address.is_beside(own_) ? "it listens nowhere"
                                    : "it is on another host, or in another network namespace, and "
                                      "listens only on its own");
    return address.internet;
}

Outgoing* Wire::find(const std::string& address) {
    if (Outgoing* const there = known(address)) return there;
    const Address parsed = Address::from_bytes(address);
    auto made = std::make_unique<Outgoing>(loop_, completions_, parsed.secret, endpoints_of(parsed),
                                           rings_);
    return outgoing_.emplace(address, std::move(made)).first->second.get();
}

std::string Wire::place(const std::string& address) const {
    return Address::from_bytes(address).place(own_);
}

Outgoing* Wire::known(const std::string& address) const noexcept {
    const auto at = outgoing_.find(address);
    return at == outgoing_.end() ? nullptr : at->second.get();
}

std::size_t Wire::events(std::span<WireEvent> events) noexcept {
    has_read_ = false;
    acceptor_.look_at_rings();
    // The set is looked at even if batches come by rings without end.
    if (!acceptor_.has_batches() || ++without_look_ == most_without_look) {
        const bool found = look();
        if (completions_.failures != 0 &&
            (!found || ++looks_since_failure_ == most_looks_before_failure)) [[unlikely]]
            tell_failures();
    }
    std::size_t count = 0;
    while (count < events.size() && completions_.pop(events[count])) ++count;
    while (count < events.size() && acceptor_.take(events[count])) ++count;
    return count;
}

/// Returns whether something was there. If a connection has failed, it looks surely.
bool Wire::look() noexcept {
    without_look_ = 0;
    const bool found = completions_.failures != 0 ? loop_.look_surely() : loop_.look();
    if (loop_.ticked()) [[unlikely]]
        tick();
    return found;
}

/// Tells failures. Peers have said nothing more before they went, or what others say has no end.
void Wire::tell_failures() noexcept {
    looks_since_failure_ = 0;
    for (auto& [address, connection] : outgoing_) connection->tell_failure();
}

void Wire::tick() noexcept {
    acceptor_.tick();
    for (auto& [address, connection] : outgoing_) connection->tick();
}

std::string Wire::last_error() const noexcept {
    const int error = acceptor_.last_error() != 0 ? acceptor_.last_error() : failure_;
    return error == 0 ? std::string() : std::string(std::strerror(error));
}

bool Wire::diagnose(const std::string& address, std::string& why) {
    Outgoing* const there = known(address);
    why = there == nullptr ? std::string() : there->finding();
    return !why.empty();
}

bool Wire::is_acknowledged(const std::string& address, std::chrono::milliseconds within) noexcept {
    Outgoing* const there = known(address);
    return there != nullptr && there->is_acknowledged(within);
}

void Wire::end_diagnosis(const std::string& address) noexcept {
    if (Outgoing* const there = known(address)) there->end_diagnosis();
}

}  // namespace heddle::transport::sockets
