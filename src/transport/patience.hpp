// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How long silence may last (transport/transport.hpp), by the settings.

#include <chrono>

#include "tool/settings.hpp"
#include "transport/transport.hpp"

namespace heddle::transport {

inline Patience patience_of(const tool::Settings& settings) {
    Patience patience;
    patience.silence = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::nanoseconds{settings.network_silence});
    return patience;
}

}  // namespace heddle::transport
