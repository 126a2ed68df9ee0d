// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "coll/algorithms.hpp"

namespace heddle::coll {

void direct_allgather(Schedule& schedule, const Blocks& all) {
    const Block mine = all[schedule.rank];
    for (std::int32_t distance = 1; distance < schedule.size; ++distance) {
        const std::int32_t from = schedule.before(distance);
        schedule.receive(all[from].data, all[from].bytes, from);
    }
    for (std::int32_t distance = 1; distance < schedule.size; ++distance)
        schedule.send(mine.data, mine.bytes, schedule.after(distance));
    schedule.wait();
}

void ring_allgather(Schedule& schedule, const Blocks& all, std::int32_t complete) {
    const std::int32_t left = schedule.before(1);
    const std::int32_t right = schedule.after(1);
    for (std::int32_t round = 1; round < schedule.size; ++round) {
        const Block in = all[schedule.before(round)];
        const Block out = all[schedule.before(round - 1)];
        if (schedule.rank != complete) schedule.receive(in.data, in.bytes, left);
        if (right != complete) schedule.send(out.data, out.bytes, right);
        schedule.wait();
    }
}

void bruck_allgather(Schedule& schedule, const Blocks& all) {
    const Block mine = all[schedule.rank];
    const auto blocks = [&](std::int32_t count) {
        return static_cast<std::uint64_t>(count) * mine.bytes;
    };
    // The block of this process first, then those of the ranks above it, around.
    std::byte* gathered = schedule.scratch(blocks(schedule.size));
    schedule.copy(mine.data, gathered, mine.bytes);
    for (std::int32_t distance = 1; distance < schedule.size; distance *= 2) {
        const std::uint64_t bytes = blocks(std::min(distance, schedule.size - distance));
        schedule.receive(gathered + blocks(distance), bytes, schedule.after(distance));
        schedule.send(gathered, bytes, schedule.before(distance));
        schedule.wait();
    }
    const std::int32_t above = schedule.size - schedule.rank;
    schedule.copy(gathered, mine.data, blocks(above));
    schedule.copy(gathered + blocks(above), all[0].data, blocks(schedule.rank));
}

}  // namespace heddle::coll
