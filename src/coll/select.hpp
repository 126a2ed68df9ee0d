// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The algorithms of collective operations, a row each, and the choice among them.
///
/// Choice         a call takes the first line of the table that fits it. A knob
///                (tool/collectives.def) may force another algorithm, if it is possible for the
///                call. Every process of a call finds the same, since the choice depends on nothing
///                that may differ between them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "coll/blocks.hpp"
#include "tool/settings.hpp"

namespace heddle::objects {
struct Communicator;
}
namespace heddle::p2p {
class Engine;
}
namespace heddle::coll {

class Schedule;

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
/// Returns the tag of messages of blocking calls. It lies below or above those of agreements
/// (comm/agreement.hpp).
std::int32_t tag_of(Collective what, const p2p::Engine& engine,
                    const objects::Communicator& communicator) noexcept;

/// The needs of an algorithm, in any combination.
enum class Needs : std::uint8_t {
    nothing = 0,
    commutative = 1,  ///< operands may change places
    blocking = 2,     ///< one call at a time on the communicator
    /// Memory that all ranks share (shared_scratch.hpp), which blocking calls may have.
    shared = 4,
    nodes = 8,  ///< ranks on several nodes, of which some share one (levels.hpp)
};
constexpr Needs operator|(Needs a, Needs b) noexcept {
    return static_cast<Needs>(static_cast<int>(a) | static_cast<int>(b));
}
constexpr Needs without(Needs all, Needs one) noexcept {
    return static_cast<Needs>(static_cast<int>(all) & ~static_cast<int>(one));
}
constexpr bool includes(Needs all, Needs one) noexcept {
    return (static_cast<int>(all) & static_cast<int>(one)) == static_cast<int>(one);
}

/// The arguments of a call, as far as its operation has them. `in` equal to `out` is MPI_IN_PLACE.
struct Arguments {
    const std::byte* in = nullptr;
    std::byte* out = nullptr;
    std::uint64_t count = 0;  ///< elements of a reduction; bytes of a broadcast
    std::int32_t root = 0;
    std::span<const std::uint64_t> starts{};  ///< of the pieces of a scattered result
    Block mine{};                             ///< the block of this process
    Blocks from{nullptr, 0};                  ///< blocks that go out
    Blocks to{nullptr, 0};                    ///< blocks that come in
    bool in_place = false;                    ///< `from` and `to` are the same
};

/// The order in which operands are combined (combination_order.hpp).
enum class CombinationOrder : std::uint8_t;

struct Algorithm {
    Collective what;
    std::string_view name;
    Needs needs;
    void (*write)(Schedule&, const Arguments&);
    CombinationOrder order{};  ///< unknown, unless leads can follow it (levels.hpp)
};

/// The properties of a call that the table looks at.
struct Call {
    Collective what;
    std::int32_t ranks;
    /// Bytes of the buffer, or of one block if each process has one. 0 if blocks differ, since no
    /// process knows them all.
    std::uint64_t bytes = 0;
    Needs has = Needs::commutative;  ///< needs of algorithms that the call meets
};

struct Line {
    const Algorithm* algorithm;
    std::uint64_t most_bytes;
    std::int32_t most_ranks;
    const char* why;
    Needs calls = Needs::nothing;  ///< calls that it is for, besides the needs of the algorithm
};

const Algorithm& select(const Call& call, const tool::Settings& settings) noexcept;

/// Returns the algorithm that a knob forces, if it is possible for a call. Returns nullptr if no
/// knob does.
const Algorithm* forced(Collective what, const tool::Settings& settings) noexcept;

std::span<const Algorithm> algorithms() noexcept;
std::span<const Line> selection_table() noexcept;
std::string_view name_of(Collective what) noexcept;

}  // namespace heddle::coll
