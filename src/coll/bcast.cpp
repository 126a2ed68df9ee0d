// SPDX-License-Identifier: BSD-3-Clause
#include "coll/algorithms.hpp"
#include "coll/tree.hpp"

namespace heddle::coll {

void binomial_bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes, std::int32_t root) {
    const Tree tree(schedule, root);
    if (!tree.is_root()) {
        schedule.receive(data, bytes, tree.parent());
        schedule.wait();
    }
    tree.each_child_farthest_first(
        [&](std::int32_t child, std::int32_t) { schedule.send(data, bytes, child); });
}

void scatter_ring_bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes,
                        std::int32_t root) {
    const std::span<const std::uint64_t> starts = even_pieces(schedule, bytes);
    const auto pieces = schedule.scratch_of<Block>(static_cast<std::size_t>(schedule.size));
    for (std::size_t i = 0; i < pieces.size(); ++i)
        pieces[i] = {data + starts[i], starts[i + 1] - starts[i]};
    const Blocks all(pieces);
    if (schedule.rank == root) {
        for (std::int32_t rank = 0; rank < schedule.size; ++rank)
            if (rank != root) schedule.send(all[rank].data, all[rank].bytes, rank);
    } else {
        schedule.receive(all[schedule.rank].data, all[schedule.rank].bytes, root);
        schedule.wait();
    }
    ring_allgather(schedule, all, root);
}

}  // namespace heddle::coll
