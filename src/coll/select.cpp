// SPDX-License-Identifier: BSD-3-Clause
#include "coll/select.hpp"

#include <limits>

namespace heddle::coll {
namespace {

constexpr std::uint64_t any_size = std::numeric_limits<std::uint64_t>::max();
constexpr std::int32_t any_ranks = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t KiB = 1024;

using enum Collective;
using A = Algorithm;

constexpr Line table[] = {
    {barrier, A::direct, any_size, 8, false, "one round"},
    {barrier, A::dissemination, any_size, any_ranks, false, "fewest rounds"},
    {bcast, A::binomial, any_size, 2, false, "one message"},
    {bcast, A::binomial, 128 * KiB, any_ranks, false, "fewest rounds"},
    {bcast, A::scatter_ring, any_size, any_ranks, false, "the root sends everything once"},
    {reduce, A::binomial, 32 * KiB, any_ranks, true, "fewest rounds"},
    {reduce, A::ordered, 32 * KiB, any_ranks, false, "fewest rounds that keep the order"},
    {reduce, A::scattered, any_size, any_ranks, false, "everyone combines a piece"},
    {allreduce, A::direct, 256, 4, false, "one round"},
    {allreduce, A::doubling, 16 * KiB, 2, false, "one round"},
    {allreduce, A::doubling, 8 * KiB, any_ranks, false, "fewest rounds"},
    {allreduce, A::direct, 1024 * KiB, 2, false, "one round"},
    {allreduce, A::scattered, any_size, 2, false, "everyone combines a piece"},
    {allreduce, A::accumulated, any_size, 32, true, "every operand is read once, by its owner"},
    {allreduce, A::doubling, 16 * KiB, any_ranks, false, "fewest rounds"},
    {allreduce, A::scattered, any_size, any_ranks, false, "everyone combines a piece"},
    {gather, A::direct, any_size, 8, false, "fewest copies"},
    {gather, A::binomial, 1 * KiB, any_ranks, false, "the root takes few messages"},
    {gather, A::direct, any_size, any_ranks, false, "fewest copies"},
    {gatherv, A::direct, any_size, any_ranks, false, "only the root knows the sizes"},
    {allgather, A::direct, any_size, 8, false, "one round"},
    {allgather, A::bruck, 1 * KiB, any_ranks, false, "fewest rounds"},
    {allgather, A::ring, any_size, any_ranks, false, "one message under way for each process"},
    {allgatherv, A::direct, any_size, 8, false, "one round"},
    {allgatherv, A::ring, any_size, any_ranks, false, "one message under way for each process"},
    {scatter, A::direct, any_size, 8, false, "fewest copies"},
    {scatter, A::binomial, 1 * KiB, any_ranks, false, "the root sends few messages"},
    {scatter, A::direct, any_size, any_ranks, false, "fewest copies"},
    {scatterv, A::direct, any_size, any_ranks, false, "only the root knows the sizes"},
    {alltoall, A::direct, any_size, 8, false, "one round"},
    {alltoall, A::direct, 1 * KiB, 64, false, "one round"},
    {alltoall, A::pairwise, any_size, any_ranks, false, "one message under way for each process"},
    {alltoallv, A::direct, any_size, 32, false, "one round"},
    {alltoallv, A::pairwise, any_size, any_ranks, false, "one message under way for each process"},
    {alltoallw, A::direct, any_size, 32, false, "one round"},
    {alltoallw, A::pairwise, any_size, any_ranks, false, "one message under way for each process"},
    {reduce_scatter_block, A::direct, any_size, any_ranks, false, "one round"},
    {reduce_scatter, A::direct, any_size, any_ranks, false, "one round"},
    {scan, A::doubling, any_size, any_ranks, false, "fewest rounds"},
    {exscan, A::doubling, any_size, any_ranks, false, "fewest rounds"},
};

constexpr bool fits(const Line& line, const Call& call) noexcept {
    return line.what == call.what && call.bytes <= line.most_bytes &&
        call.ranks <= line.most_ranks && (call.commutative || !line.needs_commutative);
}

/// Where the lines of an operation begin.
constexpr std::size_t first_line(Collective what) noexcept {
    std::size_t i = 0;
    while (table[i].what != what) ++i;
    return i;
}
constexpr auto first_lines = [] {
    struct {
        std::uint8_t of[static_cast<std::size_t>(exscan) + 1] = {};
    } lines;
    for (std::size_t i = 1; i <= static_cast<std::size_t>(exscan); ++i)
        lines.of[i] = static_cast<std::uint8_t>(first_line(static_cast<Collective>(i)));
    return lines;
}();

}  // namespace

const Line& select(const Call& call) noexcept {
    const Line* line = table + first_lines.of[static_cast<std::size_t>(call.what)];
    while (!fits(*line, call)) ++line;  // the last line of each operation fits every call
    return *line;
}

std::span<const Line> selection_table() noexcept { return table; }

std::string_view name_of(Collective what) noexcept {
    constexpr std::string_view names[] = {"",
                                          "Barrier",
                                          "Bcast",
                                          "Reduce",
                                          "Allreduce",
                                          "Gather",
                                          "Gatherv",
                                          "Allgather",
                                          "Allgatherv",
                                          "Scatter",
                                          "Scatterv",
                                          "Alltoall",
                                          "Alltoallv",
                                          "Alltoallw",
                                          "Reduce_scatter_block",
                                          "Reduce_scatter",
                                          "Scan",
                                          "Exscan",
                                          "Neighbor_allgather",
                                          "Neighbor_allgatherv",
                                          "Neighbor_alltoall",
                                          "Neighbor_alltoallv",
                                          "Neighbor_alltoallw"};
    return names[static_cast<std::size_t>(what)];
}

std::string_view name_of(Algorithm algorithm) noexcept {
    constexpr std::string_view names[] = {"dissemination", "binomial",     "ordered",    "direct",
                                          "ring",          "bruck",        "pairwise",   "doubling",
                                          "scattered",     "scatter-ring", "accumulated"};
    return names[static_cast<std::size_t>(algorithm)];
}

}  // namespace heddle::coll
