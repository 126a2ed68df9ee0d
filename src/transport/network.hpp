// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The network between hosts, as far as a build without it knows of it, too.

#include <memory>
#include <string>

#include "tool/settings.hpp"
#include "transport/any_lane.hpp"
#include "transport/guests.hpp"

namespace heddle::transport {

/// Returns one line for `heddle info`: which network a process with these settings would use, and
/// why; or why none.
std::string describe_network(const tool::Settings& settings);

/// Finds the network, which takes time at first, and reports nothing. It can run beside other
/// things.
void prepare() noexcept;

/// A lane of that network, and the network's name in a business card.
struct OpenLane {
    std::unique_ptr<AnyLane> lane;
    std::string fabric;
};
/// Throws std::runtime_error with what is missing.
OpenLane open_lane(const tool::Settings& settings, Identity identity);

/// Opens a lane to processes of other jobs (transport/guests.hpp), by sockets. `guests` must live
/// as long. Throws std::runtime_error.
std::unique_ptr<AnyLane> open_guest_lane(Guests& guests, const tool::Settings& settings);

}  // namespace heddle::transport
