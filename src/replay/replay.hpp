// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Replays a sequence of posts and arrivals with every matching engine that ships. Counts the
/// entries that each looks at, and takes its time.
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

/// The numbers of entries that operations of one kind have looked at.
class Depths {
public:
    void add(std::uint64_t depth) noexcept;
    Depths& operator+=(const Depths& other) noexcept;

    std::uint64_t operations() const noexcept { return operations_; }
    double average() const noexcept;
    std::uint64_t deepest() const noexcept { return deepest_; }

    /// Bucket 0 is for depth 0, bucket i for depths from 2^(i-1) to 2^i - 1.
    static constexpr std::size_t buckets = 65;
    std::uint64_t bucket(std::size_t i) const noexcept { return histogram_[i]; }
    /// Returns one more than the last bucket that is not empty.
    std::size_t used_buckets() const noexcept {
        return static_cast<std::size_t>(std::bit_width(deepest_)) + 1;
    }

private:
    std::uint64_t operations_ = 0, steps_ = 0, deepest_ = 0;
    std::array<std::uint64_t, buckets> histogram_{};
};

struct Result {
    std::string_view engine;
    std::size_t operations;  ///< number replayed: the whole sequence, or the part that the engine
                             ///< did in time
    Depths arrivals;         ///< entries of the posted receive queue
    Depths posts;            ///< entries of the unexpected message queue; also of probes that took
                             ///< a message
    double seconds;          ///< time of these operations in the fastest of several replays
};

/// The time that an engine may take.
struct Patience {
    double counting =
        10;               ///< seconds; an engine that takes longer for the sequence does part of it
    double timing = 0.1;  ///< seconds; short sequences are timed repeatedly for about this time
};

/// Returns the results of every engine in match/all.hpp, in that order. Throws std::logic_error if
/// engines match differently.
std::vector<Result> replay(const Sequence& sequence, const Patience& patience = {});

}  // namespace heddle::replay
