// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which algorithm a collective operation takes.
///
/// The table is read from the top: the first line that fits a call is taken. Every process of a call
/// finds the same line, since it depends on nothing that may differ between them.

#include <cstdint>
#include <span>
#include <string_view>

namespace heddle::coll {

/// The operations; also the tags of their messages, so that a report of a hang tells them apart.
enum class Collective : std::uint8_t {
    barrier = 1,
    bcast,
    reduce,
    allreduce,
    gather,
    gatherv,
    allgather,
    allgatherv,
    scatter,
    scatterv,
    alltoall,
    alltoallv,
    alltoallw,
    reduce_scatter_block,
    reduce_scatter,
    scan,
    exscan,
    neighbor_allgather,
    neighbor_allgatherv,
    neighbor_alltoall,
    neighbor_alltoallv,
    neighbor_alltoallw,
};
constexpr std::int32_t tag_of(Collective what) noexcept { return static_cast<std::int32_t>(what); }

enum class Algorithm : std::uint8_t {
    dissemination,
    binomial,
    ordered,
    direct,
    ring,
    bruck,
    pairwise,
    doubling,
    scattered,
    scatter_ring,
    accumulated,
};

/// What a call looks like to the table.
struct Call {
    Collective what;
    std::int32_t ranks;
    std::uint64_t bytes = 0;  ///< of the buffer, or of one block where there is one for everyone;
                              ///< 0 where blocks differ, since no process knows them all
    bool commutative = true;  ///< where there is an operation
};

struct Line {
    Collective what;
    Algorithm algorithm;
    std::uint64_t most_bytes;
    std::int32_t most_ranks;
    bool needs_commutative;
    const char* why;
};

const Line& select(const Call& call) noexcept;

std::span<const Line> selection_table() noexcept;
std::string_view name_of(Collective what) noexcept;
std::string_view name_of(Algorithm algorithm) noexcept;

}  // namespace heddle::coll
