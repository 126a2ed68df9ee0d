// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "coll/shared_slots.hpp"

namespace heddle::coll {

/// Half of the scratch memory, and the turns of the ranks that work there, which are all of the
/// schedule. Each takes so many turns.
class SharedHalf {
public:
    SharedHalf(Schedule& schedule, std::int32_t turns)
        : schedule_(schedule),
          slots_(schedule, static_cast<std::uint64_t>(turns)),
          number_(schedule.shared->halves++ % 2) {
        std::uint64_t& used = layout().standing(schedule.rank).half_used[number_];
        for (std::int32_t distance = 1; used != 0 && distance < schedule.size; ++distance) {
            const std::int32_t other = schedule.after(distance);
            schedule.await(layout().standing(other).word, used, 0, other);
        }
        used = schedule.shared->turn;
    }
    std::byte* memory() const noexcept { return layout().half(number_); }
    void finish(std::int32_t turn) { slots_.finish(static_cast<std::uint64_t>(turn)); }
    void wait_for(std::int32_t rank, std::int32_t turn) {
        slots_.wait_for(rank, static_cast<std::uint64_t>(turn));
    }
    void wait_for_all(std::int32_t turn) {
        for (std::int32_t distance = 1; distance < schedule_.size; ++distance)
            wait_for(schedule_.after(distance), turn);
    }

private:
    ScratchLayout layout() const noexcept { return {schedule_.shared->memory, schedule_.size}; }

    Schedule& schedule_;
    SharedSlots slots_;
    std::uint32_t number_;
};

}  // namespace heddle::coll
