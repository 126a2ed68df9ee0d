// SPDX-License-Identifier: BSD-3-Clause
#include "coll/select.hpp"

#include <array>
#include <limits>

#include "coll/algorithms.hpp"
#include "coll/combination_order.hpp"
#include "coll/lanes.hpp"
#include "coll/levels.hpp"

namespace heddle::coll {
namespace {

constexpr std::uint64_t any_size = std::numeric_limits<std::uint64_t>::max();
constexpr std::int32_t any_ranks = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t KiB = 1024;

using enum Collective;
using enum Needs;
using S = Schedule;
using A = Arguments;

/// Returns the blocks that go out, apart from those that come in.
Blocks given(S& schedule, const A& arguments) {
    return arguments.in_place ? copied(schedule, arguments.from) : arguments.from;
}

/// Returns all blocks, that of this process in its place.
Blocks gathered(S& schedule, const A& arguments) {
    schedule.copy(arguments.mine.data, arguments.to[schedule.rank].data, arguments.mine.bytes);
    return arguments.to;
}

/// The algorithms. Those of an operation are in the order of the words of its knob.
constexpr Algorithm rows[] = {
    {barrier, "shared", shared, [](S& s, const A&) { shared_barrier(s); }},
    {barrier, "direct", nothing, [](S& s, const A&) { direct_barrier(s); }},
    {barrier, "dissemination", nothing, [](S& s, const A&) { dissemination_barrier(s); }},
    {barrier, "levels", nodes, [](S& s, const A&) { levels_barrier(s); }},
    {bcast, "shared", shared, [](S& s, const A& a) { shared_bcast(s, a.out, a.count, a.root); }},
    {bcast, "binomial", nothing,
     [](S& s, const A& a) { binomial_bcast(s, a.out, a.count, a.root); }},
    {bcast, "scatter-ring", nothing,
     [](S& s, const A& a) { scatter_ring_bcast(s, a.out, a.count, a.root); }},
    {bcast, "levels", nodes, [](S& s, const A& a) { levels_bcast(s, a.out, a.count, a.root); }},
    {reduce, "shared", shared,
     [](S& s, const A& a) { shared_reduce(s, a.in, a.out, a.count, a.root); }},
    {reduce, "direct", nothing,
     [](S& s, const A& a) { direct_reduce(s, a.in, a.out, a.count, a.root); },
     CombinationOrder::at_root},
    {reduce, "binomial", commutative,
     [](S& s, const A& a) { binomial_reduce(s, a.in, a.out, a.count, a.root); },
     CombinationOrder::binomial},
    {reduce, "ordered", nothing,
     [](S& s, const A& a) { ordered_reduce(s, a.in, a.out, a.count, a.root); },
     CombinationOrder::ordered},
    {reduce, "accumulated", commutative | shared,
     [](S& s, const A& a) { accumulated_reduce(s, a.in, a.out, a.count, a.root); }},
    {reduce, "travelling", commutative,
     [](S& s, const A& a) { travelling_reduce(s, a.in, a.out, a.count, a.root); },
     CombinationOrder::turns},
    {reduce, "scattered", nothing,
     [](S& s, const A& a) { scattered_reduce(s, a.in, a.out, a.count, a.root); }},
    {reduce, "levels", nodes,
     [](S& s, const A& a) { levels_reduce(s, a.in, a.out, a.count, a.root); }},
    {allreduce, "shared", shared,
     [](S& s, const A& a) { shared_allreduce(s, a.in, a.out, a.count); }},
    {allreduce, "halved", shared,
     [](S& s, const A& a) { halved_allreduce(s, a.in, a.out, a.count); }},
    {allreduce, "direct", nothing,
     [](S& s, const A& a) { direct_allreduce(s, a.in, a.out, a.count); }, CombinationOrder::last},
    {allreduce, "doubling", nothing,
     [](S& s, const A& a) { doubling_allreduce(s, a.in, a.out, a.count); },
     CombinationOrder::doubling},
    {allreduce, "accumulated", commutative | shared,
     [](S& s, const A& a) { accumulated_allreduce(s, a.in, a.out, a.count); }},
    {allreduce, "travelling", commutative,
     [](S& s, const A& a) { travelling_allreduce(s, a.in, a.out, a.count); },
     CombinationOrder::turns},
    {allreduce, "scattered", nothing,
     [](S& s, const A& a) { scattered_allreduce(s, a.in, a.out, a.count); }},
    {allreduce, "levels", nodes,
     [](S& s, const A& a) { levels_allreduce(s, a.in, a.out, a.count); }},
    {gather, "direct", nothing, [](S& s, const A& a) { direct_gather(s, a.mine, a.to, a.root); }},
    {gather, "binomial", nothing,
     [](S& s, const A& a) { binomial_gather(s, a.mine, a.to, a.root); }},
    {gather, "levels", nodes, [](S& s, const A& a) { levels_gather(s, a.mine, a.to, a.root); }},
    {gatherv, "direct", nothing, [](S& s, const A& a) { direct_gather(s, a.mine, a.to, a.root); }},
    {allgather, "shared", shared, [](S& s, const A& a) { shared_allgather(s, a.mine, a.to); }},
    {allgather, "direct", nothing, [](S& s, const A& a) { direct_allgather(s, gathered(s, a)); }},
    {allgather, "bruck", nothing, [](S& s, const A& a) { bruck_allgather(s, gathered(s, a)); }},
    {allgather, "ring", nothing, [](S& s, const A& a) { ring_allgather(s, gathered(s, a)); }},
    {allgather, "levels", nodes, [](S& s, const A& a) { levels_allgather(s, a.mine, a.to); }},
    {allgatherv, "direct", nothing, [](S& s, const A& a) { direct_allgather(s, gathered(s, a)); }},
    {allgatherv, "ring", nothing, [](S& s, const A& a) { ring_allgather(s, gathered(s, a)); }},
    {allgatherv, "levels", nodes, [](S& s, const A& a) { levels_allgatherv(s, gathered(s, a)); }},
    {scatter, "direct", nothing,
     [](S& s, const A& a) { direct_scatter(s, a.from, a.mine, a.root); }},
    {scatter, "binomial", nothing,
     [](S& s, const A& a) { binomial_scatter(s, a.from, a.mine, a.root); }},
    {scatter, "levels", nodes, [](S& s, const A& a) { levels_scatter(s, a.from, a.mine, a.root); }},
    {scatterv, "direct", nothing,
     [](S& s, const A& a) { direct_scatter(s, a.from, a.mine, a.root); }},
    {alltoall, "shared", shared,
     [](S& s, const A& a) { shared_alltoall(s, a.from, a.to, a.in_place); }},
    {alltoall, "direct", nothing, [](S& s, const A& a) { direct_alltoall(s, given(s, a), a.to); }},
    {alltoall, "pairwise", nothing,
     [](S& s, const A& a) { pairwise_alltoall(s, given(s, a), a.to); }},
    {alltoall, "levels", nodes,
     [](S& s, const A& a) { levels_alltoall(s, a.from, a.to, a.in_place); }},
    {alltoallv, "direct", nothing, [](S& s, const A& a) { direct_alltoall(s, given(s, a), a.to); }},
    {alltoallv, "pairwise", nothing,
     [](S& s, const A& a) { pairwise_alltoall(s, given(s, a), a.to); }},
    {alltoallw, "direct", nothing, [](S& s, const A& a) { direct_alltoall(s, given(s, a), a.to); }},
    {alltoallw, "pairwise", nothing,
     [](S& s, const A& a) { pairwise_alltoall(s, given(s, a), a.to); }},
    {reduce_scatter_block, "direct", nothing,
     [](S& s, const A& a) { direct_reduce_scatter(s, a.in, a.out, a.starts, a.in == a.out); }},
    {reduce_scatter, "direct", nothing,
     [](S& s, const A& a) { direct_reduce_scatter(s, a.in, a.out, a.starts, a.in == a.out); }},
    {scan, "doubling", nothing, [](S& s, const A& a) { doubling_scan(s, a.in, a.out, a.count); }},
    {exscan, "doubling", nothing,
     [](S& s, const A& a) { doubling_exscan(s, a.in, a.out, a.count); }},
};

/// Returns the row. A name that is not there does not compile.
consteval const Algorithm* row(Collective what, std::string_view name) {
    const Algorithm* at = rows;
    while (at->what != what || at->name != name) ++at;
    return at;
}

constexpr Line table[] = {
    {row(barrier, "levels"), any_size, any_ranks, "one message between nodes in a round"},
    {row(barrier, "shared"), any_size, 16, "one line of memory for each rank"},
    {row(barrier, "direct"), any_size, 8, "one round"},
    {row(barrier, "dissemination"), any_size, any_ranks, "fewest rounds"},
    {row(bcast, "levels"), any_size, any_ranks, "a node gets everything once"},
    {row(bcast, "shared"), any_size, 16, "the root copies in while the others copy out"},
    {row(bcast, "binomial"), any_size, 2, "one message"},
    {row(bcast, "binomial"), 128 * KiB, any_ranks, "fewest rounds"},
    {row(bcast, "scatter-ring"), any_size, any_ranks, "the root sends everything once"},
    {row(reduce, "levels"), any_size, any_ranks, "one message from each node"},
    {row(reduce, "shared"), any_size, 2, "both copy at once"},
    {row(reduce, "shared"), 16 * KiB, 8, "no rounds"},
    {row(reduce, "direct"), 16 * KiB, 8, "the order of shared", blocking},
    {row(reduce, "binomial"), 32 * KiB, any_ranks, "fewest rounds"},
    {row(reduce, "ordered"), 32 * KiB, any_ranks, "fewest rounds that keep the order"},
    {row(reduce, "accumulated"), any_size, 32, "every operand is read once, by its owner"},
    {row(reduce, "binomial"), any_size, 2, "the root gets every operand once", blocking},
    {row(reduce, "travelling"), any_size, 32, "the order of accumulated", blocking},
    {row(reduce, "scattered"), any_size, any_ranks, "everyone combines a piece"},
    {row(allreduce, "levels"), any_size, any_ranks, "one message between nodes in a round"},
    {row(allreduce, "shared"), 16 * KiB, 2, "both copy at once"},
    {row(allreduce, "halved"), 128 * KiB, 2, "each combines half"},
    {row(allreduce, "accumulated"), any_size, 2, "every operand is read once, by its owner"},
    {row(allreduce, "shared"), any_size, 2, "both copy at once"},
    {row(allreduce, "shared"), 16 * KiB, 4, "one round"},
    {row(allreduce, "shared"), 2 * KiB, 8, "one round"},
    {row(allreduce, "direct"), 16 * KiB, 4, "the order of shared", blocking},
    {row(allreduce, "direct"), 2 * KiB, 8, "the order of shared", blocking},
    {row(allreduce, "direct"), 256, 4, "one round"},
    {row(allreduce, "doubling"), 16 * KiB, 2, "one round"},
    {row(allreduce, "doubling"), 8 * KiB, any_ranks, "fewest rounds"},
    {row(allreduce, "direct"), 1024 * KiB, 2, "one round"},
    {row(allreduce, "scattered"), any_size, 2, "everyone combines a piece"},
    {row(allreduce, "accumulated"), any_size, 32, "every operand is read once, by its owner"},
    {row(allreduce, "travelling"), any_size, 32, "the order of accumulated", blocking},
    {row(allreduce, "doubling"), 16 * KiB, any_ranks, "fewest rounds"},
    {row(allreduce, "scattered"), any_size, any_ranks, "everyone combines a piece"},
    {row(gather, "levels"), 1 * KiB, any_ranks, "one message from each node"},
    {row(gather, "direct"), any_size, 8, "fewest copies"},
    {row(gather, "binomial"), 1 * KiB, any_ranks, "the root takes few messages"},
    {row(gather, "direct"), any_size, any_ranks, "fewest copies"},
    {row(gatherv, "direct"), any_size, any_ranks, "only the root knows the sizes"},
    {row(allgather, "levels"), any_size, any_ranks, "a node gets everything once"},
    {row(allgather, "shared"), any_size, 8, "all copy at once"},
    {row(allgather, "direct"), any_size, 8, "one round"},
    {row(allgather, "bruck"), 1 * KiB, any_ranks, "fewest rounds"},
    {row(allgather, "ring"), any_size, any_ranks, "one message under way for each process"},
    {row(allgatherv, "levels"), any_size, any_ranks, "a node gets everything once"},
    {row(allgatherv, "direct"), any_size, 8, "one round"},
    {row(allgatherv, "ring"), any_size, any_ranks, "one message under way for each process"},
    {row(scatter, "levels"), 1 * KiB, any_ranks, "one message to each node"},
    {row(scatter, "direct"), any_size, 8, "fewest copies"},
    {row(scatter, "binomial"), 1 * KiB, any_ranks, "the root sends few messages"},
    {row(scatter, "direct"), any_size, any_ranks, "fewest copies"},
    {row(scatterv, "direct"), any_size, any_ranks, "only the root knows the sizes"},
    {row(alltoall, "levels"), any_size, any_ranks, "one message from each node to each"},
    {row(alltoall, "shared"), any_size, 8, "all copy at once"},
    {row(alltoall, "direct"), any_size, 8, "one round"},
    {row(alltoall, "direct"), 1 * KiB, 64, "one round"},
    {row(alltoall, "pairwise"), any_size, any_ranks, "one message under way for each process"},
    {row(alltoallv, "direct"), any_size, 32, "one round"},
    {row(alltoallv, "pairwise"), any_size, any_ranks, "one message under way for each process"},
    {row(alltoallw, "direct"), any_size, 32, "one round"},
    {row(alltoallw, "pairwise"), any_size, any_ranks, "one message under way for each process"},
    {row(reduce_scatter_block, "direct"), any_size, any_ranks, "one round"},
    {row(reduce_scatter, "direct"), any_size, any_ranks, "one round"},
    {row(scan, "doubling"), any_size, any_ranks, "fewest rounds"},
    {row(exscan, "doubling"), any_size, any_ranks, "fewest rounds"},
};

constexpr bool fits(const Line& line, const Call& call) noexcept {
    return call.bytes <= line.most_bytes && call.ranks <= line.most_ranks &&
        includes(call.has, line.algorithm->needs | line.calls);
}

/// The beginnings of rows and lines of an operation.
struct Begin {
    std::uint8_t row, line;
};
constexpr auto begins = [] {
    std::array<Begin, static_cast<std::size_t>(exscan) + 1> all{};
    for (std::size_t i = 1; i < all.size(); ++i) {
        while (rows[all[i].row].what != static_cast<Collective>(i)) ++all[i].row;
        while (table[all[i].line].algorithm->what != static_cast<Collective>(i)) ++all[i].line;
    }
    return all;
}();
constexpr const Begin& begin_of(Collective what) noexcept {
    return begins[static_cast<std::size_t>(what)];
}

/// Returns whether the words of the knob are auto and the names of all its algorithms.
consteval bool spelled_alike(Collective what, std::span<const char* const> words) {
    std::size_t at = begin_of(what).row;
    for (const char* word : words.subspan(1))
        if (rows[at].what != what || rows[at++].name != word) return false;
    return rows[at].what != what;
}

}  // namespace

const Algorithm* forced(Collective what, const tool::Settings& settings) noexcept {
    std::uint8_t number = 0;  // of the word
    switch (what) {
#define FORCED_BY(operation)                                                                     \
    case Collective::operation:                                                                  \
        static_assert(spelled_alike(Collective::operation,                                       \
                                    tool::spelled<decltype(tool::Settings::coll_##operation)>)); \
        number = static_cast<std::uint8_t>(settings.coll_##operation);                           \
        break;
        FORCED_BY(barrier)
        FORCED_BY(bcast)
        FORCED_BY(reduce)
        FORCED_BY(allreduce)
        FORCED_BY(gather)
        FORCED_BY(allgather)
        FORCED_BY(allgatherv)
        FORCED_BY(scatter)
        FORCED_BY(alltoall)
        FORCED_BY(alltoallv)
        FORCED_BY(alltoallw)
#undef FORCED_BY
        default: break;  // there is one algorithm
    }
    return number == 0 ? nullptr : &rows[begin_of(what).row + number - 1];
}

const Algorithm& select(const Call& call, const tool::Settings& settings) noexcept {
    const Algorithm* by_knob = forced(call.what, settings);
    if (by_knob != nullptr && includes(call.has, by_knob->needs)) [[unlikely]]
        return *by_knob;
    const Line* line = &table[begin_of(call.what).line];
    while (!fits(*line, call)) ++line;  // the last line of each operation fits every call
    return *line->algorithm;
}

std::int32_t tag_of(Collective what, const p2p::Engine& engine,
                    const objects::Communicator& communicator) noexcept {
    constexpr std::uint32_t first = 2048;
    const auto number = static_cast<std::int32_t>(what);
    if (!shares_lanes(communicator)) [[likely]]
        return number;
    return tag_through(engine, communicator, first, static_cast<std::uint32_t>(number),
                       first_lane(communicator));
}

std::span<const Algorithm> algorithms() noexcept { return rows; }

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

}  // namespace heddle::coll
