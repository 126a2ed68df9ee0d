// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which provider of libfabric carries the messages, and through which interface.

#include <string>
#include <vector>

#include "transport/ofi/library.hpp"

namespace heddle::transport::ofi {

/// What a user asks for; empty or "auto": the best there is.
struct Wanted {
    std::string fabric;     ///< a provider's name
    std::string interface;  ///< its domain's: eth0, mlx5_0
};

/// A provider at an interface of this machine.
struct Offer {
    std::string provider;
    std::string interface;
    std::string address;  ///< in figures; empty where it has no such form

    bool operator==(const Offer&) const = default;
};

struct Choice {
    Offer offer;
    std::string reason;  ///< a sentence for users
    Info info;           ///< with what the provider can do
};

/// What there is on this machine that can carry messages, the best first. The order is: fast networks by their
/// own providers, then TCP; of interfaces, the one of the default route, then others that lead to other
/// hosts, then the loopback.
std::vector<Offer> offers();

/// Throws std::runtime_error that says what there is, if there is no such thing.
Choice choose(const Wanted& wanted);

/// The address in figures, and with its port where that is asked for; empty if it has no such form.
std::string in_figures(const void* address, std::size_t bytes, bool with_port);

}  // namespace heddle::transport::ofi
