// SPDX-License-Identifier: BSD-3-Clause
#include "coll/algorithms.hpp"
#include "coll/tree.hpp"

namespace heddle::coll {

void direct_gather(Schedule& schedule, Block mine, const Blocks& all, std::int32_t root) {
    if (schedule.rank != root) return schedule.send(mine.data, mine.bytes, root);
    for (std::int32_t distance = 1; distance < schedule.size; ++distance) {
        const std::int32_t from = schedule.after(distance);
        schedule.receive(all[from].data, all[from].bytes, from);
    }
    schedule.copy(mine.data, all[root].data, mine.bytes);
}

void binomial_gather(Schedule& schedule, Block mine, const Blocks& all, std::int32_t root) {
    const Tree tree(schedule, root);
    const std::uint64_t bytes = mine.bytes;
    const auto blocks = [&](std::int32_t count) {
        return static_cast<std::uint64_t>(count) * bytes;
    };
    if (tree.members() == 1 && !tree.is_root())
        return schedule.send(mine.data, bytes, tree.parent());
    // Blocks lie in the order of positions, which at rank 0 is that of ranks.
    const bool in_place = tree.is_root() && root == 0;
    std::byte* gathered = in_place ? all[0].data : schedule.scratch(blocks(tree.members()));
    schedule.copy(mine.data, gathered, bytes);
    tree.each_child([&](std::int32_t child, std::int32_t distance) {
        schedule.receive(gathered + blocks(distance), blocks(tree.members(distance)), child);
    });
    schedule.wait();
    if (!tree.is_root()) return schedule.send(gathered, blocks(tree.members()), tree.parent());
    if (in_place) return;
    schedule.copy(gathered, all[root].data, blocks(schedule.size - root));
    schedule.copy(gathered + blocks(schedule.size - root), all[0].data, blocks(root));
}

}  // namespace heddle::coll
