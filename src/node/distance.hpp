// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Estimates how far the consumer of a ring of payload is from its producer. Asking the machine
/// would not do, since processes move.
///
/// Sample    the producer stores the first lines of a block plainly, whatever the method in use,
///           and times that. Lines come from a cache that both cores share. Or they come from that
///           of the other core, 5 to 20 times as slowly.
/// Changes   only after several samples in a row: a thread may have lost its core in one.
///
/// Thread safety  the producer's

#include <cstddef>
#include <cstdint>

#include "platform/copy_table.hpp"

namespace heddle::node {

using platform::Copy;
using platform::Distance;

class DistanceEstimate {
public:
    static constexpr std::size_t sample_bytes = 2048;

    Distance now() const noexcept { return now_; }

    /// Counts a block that is stored. Returns whether it has a sample.
    bool is_due() noexcept {
        ++blocks_;
        return platform::has_copy_ways && blocks_ % (blocks_ < few ? often : seldom) == 0;
    }
    /// Notes how long the stores of a sample took (platform/cpu.hpp).
    void note(std::uint64_t ticks) noexcept {
        const Distance seen = ticks < least_far ? Distance::near : Distance::far;
        others_ = seen == now_ ? 0 : others_ + 1;
        if (others_ < enough) return;
        now_ = seen;
        others_ = 0;
    }

private:
    static constexpr std::uint64_t few = 128;  ///< blocks until samples are seldom
    static constexpr std::uint64_t often = 8, seldom = 64;
    /// 40 for each line. The counter has 2 to 4 ticks in a nanosecond. Near lines take 7 to 10.
    static constexpr std::uint64_t least_far = 40 * sample_bytes / 64;
    static constexpr unsigned enough = 3;

    Distance now_ = Distance::near;
    unsigned others_ = 0;  ///< samples in a row that say the other
    std::uint64_t blocks_ = 0;
};

}  // namespace heddle::node
