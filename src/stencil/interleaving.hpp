// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The exchange of P4, section 4.1, as a game of chance: what search depths follow from the order alone.
///
/// Thread t of T has the tags t, t + T, t + 2T, ... and issues them in this order; threads take turns at
/// random. Receives are posted so, then messages arrive so, and each is searched for from the front of
/// one list. A turn of one operation, and one that lasts until the thread has no more to do, are the two
/// ends between which schedulers and locks lie.

#include <cstdint>
#include <random>
#include <vector>

namespace heddle::stencil {

enum class Turns : std::uint8_t {
    single,  ///< a turn is one operation
    whole,   ///< a turn is everything a thread has to do
};

using Random = std::mt19937_64;

/// The tags 0 ... messages - 1 in the order in which `threads` threads issue them.
std::vector<std::int32_t> interleave(std::int32_t messages, std::int32_t threads, Turns turns,
                                     Random& random);

struct Depth {
    double average;  ///< entries looked at for a message, the one found included
    std::int64_t deepest;
};

/// Of a list that holds all of `posted` before the first of `arrived` comes. Both hold the tags
/// 0 ... size - 1, each once.
Depth search_depth(const std::vector<std::int32_t>& posted,
                   const std::vector<std::int32_t>& arrived);

}  // namespace heddle::stencil
