// SPDX-License-Identifier: BSD-3-Clause
#include "coll/algorithms.hpp"
#include "coll/tree.hpp"

namespace heddle::coll {

void direct_scatter(Schedule& schedule, const Blocks& all, Block mine, std::int32_t root) {
    if (schedule.rank != root) return schedule.receive(mine.data, mine.bytes, root);
    for (std::int32_t distance = 1; distance < schedule.size; ++distance) {
        const std::int32_t to = schedule.after(distance);
        schedule.send(all[to].data, all[to].bytes, to);
    }
    schedule.copy(all[root].data, mine.data, mine.bytes);
}

void binomial_scatter(Schedule& schedule, const Blocks& all, Block mine, std::int32_t root) {
    const Tree tree(schedule, root);
    const std::uint64_t bytes = mine.bytes;
    const auto blocks = [&](std::int32_t count) {
        return static_cast<std::uint64_t>(count) * bytes;
    };
    const std::byte* dealt =
        nullptr;  // in the order of positions, which at rank 0 is that of ranks
    if (tree.is_root() && root == 0) {
        dealt = all[0].data;
    } else if (tree.is_root()) {
        std::byte* turned = schedule.scratch(blocks(schedule.size));
        schedule.copy(all[root].data, turned, blocks(schedule.size - root));
        schedule.copy(all[0].data, turned + blocks(schedule.size - root), blocks(root));
        dealt = turned;
    } else {
        std::byte* received =
            tree.members() == 1 ? mine.data : schedule.scratch(blocks(tree.members()));
        schedule.receive(received, blocks(tree.members()), tree.parent());
        schedule.wait();
        dealt = received;
    }
    tree.each_child_farthest_first([&](std::int32_t child, std::int32_t distance) {
        schedule.send(dealt + blocks(distance), blocks(tree.members(distance)), child);
    });
    schedule.copy(dealt, mine.data, bytes);
}

}  // namespace heddle::coll
