// SPDX-License-Identifier: BSD-3-Clause
#include "transport/network.hpp"
#include "transport/patience.hpp"
#include "transport/sockets/wire.hpp"

namespace heddle::transport {

std::unique_ptr<AnyLane> open_guest_lane(Guests& guests, const tool::Settings& settings) {
    using GuestLane = Lane<sockets::Wire, GuestMembers>;
    return std::make_unique<LaneOf<GuestLane>>(
        GuestMembers(guests, settings.network_checksum == tool::Switch::on), patience_of(settings),
        sockets::Options{.interface = settings.interface == "auto" ? "" : settings.interface,
                         .reads = settings.single_copy == tool::SingleCopy::always});
}

}  // namespace heddle::transport
