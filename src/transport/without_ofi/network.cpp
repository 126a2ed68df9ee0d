// SPDX-License-Identifier: BSD-3-Clause
#include "transport/network.hpp"

#include <stdexcept>

namespace heddle::transport {

std::string describe_network(const tool::Settings&) {
    return "none: built without libfabric's headers, for one machine only";
}

void prepare() noexcept {}

OpenLane open_lane(const tool::Settings&, Identity) {
    throw std::runtime_error(
        "ranks on several hosts need a network: this library was built without libfabric's "
        "headers");
}

}  // namespace heddle::transport
