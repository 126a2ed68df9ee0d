// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Chooses the provider of libfabric that carries the messages, and its interface.

#include <string>
#include <vector>

#include "transport/ofi/library.hpp"

namespace heddle::transport::ofi {

/// A user's wishes; empty or "auto": the best there is.
struct Wanted {
    std::string fabric;     ///< a provider's name
    std::string interface;  ///< its domain's name: eth0, mlx5_0
};

/// A provider at an interface of this machine.
struct Offer {
    std::string provider;
    std::string interface;
    std::string address;  ///< in figures; empty if it has no such form

    bool operator==(const Offer&) const = default;
};

struct Choice {
    Offer offer;
    std::string reason;  ///< a sentence for users
    Info info;           ///< has what the provider can do
};

/// Returns the offers of this machine that can carry messages, the best first. Fast networks by
/// their own providers come first, then TCP. Among interfaces, the one of the default route comes
/// first. Then come others that lead to other hosts, then the loopback.
std::vector<Offer> offers();

/// Throws std::runtime_error that says what there is, if there is no such offer.
Choice choose(const Wanted& wanted);

/// Returns the address in figures, with its port if `with_port`; empty if it has no such form.
std::string in_figures(const void* address, std::size_t bytes, bool with_port);

}  // namespace heddle::transport::ofi
