// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace heddle::progress {

/// What is known of whom a thread waits for. One that runs, on another core, answers soon; one that waits itself may
/// want the core of this thread.
enum class Peer : std::uint8_t { unknown, runs, waits };

}  // namespace heddle::progress
