// SPDX-License-Identifier: BSD-3-Clause
#include "transport/network.hpp"
#include "transport/patience.hpp"
#include "transport/sockets/wire.hpp"

namespace heddle::transport {

namespace {

/// Below it the kernel's copy costs more than what it saves.
constexpr std::size_t worth_reading = std::size_t{32} << 10;

std::size_t read_from(tool::SingleCopy wanted) noexcept {
    switch (wanted) {
        case tool::SingleCopy::always: return 0;
        case tool::SingleCopy::never: return sockets::never_read;
        default: return worth_reading;
    }
}

}  // namespace

std::unique_ptr<AnyLane> open_guest_lane(Guests& guests, const tool::Settings& settings) {
    using GuestLane = Lane<sockets::Wire, GuestMembers>;
    return std::make_unique<LaneOf<GuestLane>>(
        GuestMembers(guests, settings.network_checksum == tool::Switch::on), patience_of(settings),
        sockets::Options{.interface = settings.interface == "auto" ? "" : settings.interface,
                         .read_from = read_from(settings.single_copy)});
}

}  // namespace heddle::transport
