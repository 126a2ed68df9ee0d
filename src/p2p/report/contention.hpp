// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "instance/contention.hpp"

namespace heddle::p2p {

/// Number of times that a thread waited for another because of this pair, in this instance.
struct Contention {
    std::uint8_t instance;
    instance::Contended what;
};

}  // namespace heddle::p2p
