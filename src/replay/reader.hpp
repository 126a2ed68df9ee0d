// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Reads files of match/recording.hpp, and trusts nothing in them. A damaged file is refused with
/// the place at which the damage begins.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "match/recording_format.hpp"

namespace heddle::replay {

using match::recording::Event;
using match::recording::Step;

struct Recorded {
    std::string path;
    std::uint32_t rank = 0, ranks = 0;
    std::vector<Event> events;
};

class Damaged : public std::runtime_error {
public:
    Damaged(const std::string& why, Recorded before)
        : std::runtime_error(why), before(std::move(before)) {}

    Recorded before;  ///< the readable part: the whole blocks before the damage
};

/// Throws Damaged, or std::runtime_error if there is no recording at all.
Recorded read_recording(const std::string& path);

}  // namespace heddle::replay
