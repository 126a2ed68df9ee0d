// SPDX-License-Identifier: BSD-3-Clause
#include "transport/network.hpp"

#include "transport/ofi/wire.hpp"
#include "transport/patience.hpp"

namespace heddle::transport {

std::string describe_network(const tool::Settings& settings) try {
    const ofi::Choice choice = ofi::choose({settings.fabric, settings.interface});
    const std::uint32_t version = ofi::library().version();
    std::string text = choice.offer.provider + " on " + choice.offer.interface;
    if (!choice.offer.address.empty()) text += " (" + choice.offer.address + ")";
    return text + ": " + choice.reason + "; libfabric " + std::to_string(FI_MAJOR(version)) + "." +
        std::to_string(FI_MINOR(version));
} catch (const std::exception& error) {
    return std::string("none: ") + error.what();
}

void prepare() noexcept try { (void)ofi::offers(); } catch (const std::exception&) {
    // The caller that opens a lane hears of it.
}

OpenLane open_lane(const tool::Settings& settings, Identity identity) {
    const ofi::Choice choice = ofi::choose({settings.fabric, settings.interface});
    return {std::make_unique<LaneOf<ofi::Lane>>(identity, patience_of(settings), choice,
                                                ofi::Sleeps::yes),
            choice.offer.provider};
}

}  // namespace heddle::transport
