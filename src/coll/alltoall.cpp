// SPDX-License-Identifier: BSD-3-Clause
#include "coll/algorithms.hpp"

namespace heddle::coll {

void direct_alltoall(Schedule& schedule, const Blocks& out, const Blocks& in) {
    for (std::int32_t distance = 1; distance < schedule.size; ++distance) {
        const std::int32_t from = schedule.before(distance);
        schedule.receive(in[from].data, in[from].bytes, from);
    }
    for (std::int32_t distance = 1; distance < schedule.size; ++distance) {
        const std::int32_t to = schedule.after(distance);
        schedule.send(out[to].data, out[to].bytes, to);
    }
    schedule.copy(out[schedule.rank].data, in[schedule.rank].data, out[schedule.rank].bytes);
}

void pairwise_alltoall(Schedule& schedule, const Blocks& out, const Blocks& in) {
    schedule.copy(out[schedule.rank].data, in[schedule.rank].data, out[schedule.rank].bytes);
    for (std::int32_t distance = 1; distance < schedule.size; ++distance) {
        const std::int32_t from = schedule.before(distance);
        const std::int32_t to = schedule.after(distance);
        schedule.receive(in[from].data, in[from].bytes, from);
        schedule.send(out[to].data, out[to].bytes, to);
        schedule.wait();
    }
}

Blocks copied(Schedule& schedule, const Blocks& blocks) {
    const auto list = schedule.scratch_of<Block>(static_cast<std::size_t>(schedule.size));
    std::uint64_t total = 0;
    for (std::int32_t rank = 0; rank < schedule.size; ++rank) total += blocks[rank].bytes;
    std::byte* memory = schedule.scratch(total);
    for (std::int32_t rank = 0; rank < schedule.size; ++rank) {
        const Block block = blocks[rank];
        const bool stays = rank == schedule.rank;
        list[static_cast<std::size_t>(rank)] = stays ? block : Block{memory, block.bytes};
        if (stays) continue;
        schedule.copy(block.data, memory, block.bytes);
        memory += block.bytes;
    }
    return Blocks(list);
}

}  // namespace heddle::coll
