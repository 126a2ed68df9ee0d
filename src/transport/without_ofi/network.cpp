// SPDX-License-Identifier: BSD-3-Clause
#include "transport/network.hpp"

namespace heddle::transport {

std::string describe_network(const tool::Settings&) {
    return "none: built without libfabric's headers, for one machine only";
}

}  // namespace heddle::transport
