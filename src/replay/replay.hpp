// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A sequence of posts and arrivals under every matching engine that ships: how much each looks at, and
/// how long it takes.
///
/// One engine has the whole sequence, as in a library whose process has one pair of queues (P4).

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "replay/sequence.hpp"

namespace heddle::replay {

/// How many entries were looked at by operations of one kind.
class Depths {
public:
    void add(std::uint64_t depth) noexcept;
    Depths& operator+=(const Depths& other) noexcept;

    std::uint64_t operations() const noexcept { return operations_; }
    double average() const noexcept;
    std::uint64_t deepest() const noexcept { return deepest_; }

    /// Bucket 0: depth 0, bucket i: depths from 2^(i-1) to 2^i - 1.
    static constexpr std::size_t buckets = 65;
    std::uint64_t bucket(std::size_t i) const noexcept { return histogram_[i]; }
    /// One more than the last bucket that is not empty.
    std::size_t used_buckets() const noexcept {
        return static_cast<std::size_t>(std::bit_width(deepest_)) + 1;
    }

private:
    std::uint64_t operations_ = 0, steps_ = 0, deepest_ = 0;
    std::array<std::uint64_t, buckets> histogram_{};
};

struct Result {
    std::string_view engine;
    std::size_t operations;  ///< replayed: the whole sequence, or what the engine came to in time
    Depths arrivals;         ///< entries of the posted receive queue
    Depths posts;            ///< of the unexpected message queue; probes that took something, too
    double seconds;          ///< that these operations take, of the fastest of several replays
};

/// How long an engine may take.
struct Patience {
    double counting =
        10;  ///< seconds; an engine for which the sequence takes longer does part of it
    double timing = 0.1;  ///< seconds; short sequences are timed again and again for about so long
};

/// Of every engine in match/all.hpp, in that order. Throws std::logic_error if engines match differently.
std::vector<Result> replay(const Sequence& sequence, const Patience& patience = {});

}  // namespace heddle::replay
