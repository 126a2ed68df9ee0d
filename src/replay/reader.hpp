// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Reads what match/recording.hpp has written, and believes nothing of it: a file that is not whole is
/// refused with the place from which on it is not.

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

    Recorded before;  ///< what could be read: the whole blocks before the damage
};

/// Throws Damaged; or std::runtime_error if there is no recording at all.
Recorded read_recording(const std::string& path);

}  // namespace heddle::replay
