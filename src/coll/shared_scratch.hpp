// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory that all ranks of a communicator share, for blocking collectives.
///
/// Nodes          the ranks of a communicator on one node of several share such memory among themselves (objects/nodes.hpp). What
///                is said of ranks holds for their places there.
/// Who has it     a communicator gets it with the first call that wants it, and keeps it until it is freed.
///                Rank 0 takes a stage of the node, or a segment when all are in use (node/node.hpp), and
///                tells the others, who map it. A communicator does without where files are limited, or somebody
///                has no address space left for it. In recipes of the laboratory nobody has it.
/// Turns          what calls do there is counted in turns, alike in all ranks. The standing of a rank is the last
///                turn that it has come to: it has done with all before, and has read what it needs of this one.
/// Slots          each rank has a ring of them, which it alone writes: that of a turn holds what it gives in
///                that turn, and the head of the slot says so. Little data stands in the head itself, so that
///                one cache line moves. A slot is written again when all have come to the turn that it was of:
///                looked at once for half a ring.
/// Halves         where the ranks work on the same data; consecutive uses take turns (see Halves).
/// Sleep          who waits long asks the rank that it waits for to send a message, and sleeps as for any
///                message (shared_wait.hpp).
/// Thread safety  that of blocking collectives: one at a time on a communicator.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/thread.hpp"
#include "node/stages.hpp"
#include "objects/communicator.hpp"

namespace heddle::coll {

class Schedule;

/// A turn that somebody has come to. It only grows.
struct SharedWord {
    std::atomic<std::uint64_t> turn;
    std::uint64_t bytes;  ///< of what is given in that turn

    bool reached(std::uint64_t wanted) const noexcept {
        return turn.load(acquire) >= wanted;  // A1: pairs with R1, the store of a signal
    }
};

struct alignas(cache_line) SlotHead {
    static constexpr std::size_t room = 48;
    SharedWord word;
    std::byte data[room];
};
static_assert(sizeof(SlotHead) == cache_line);

struct alignas(cache_line) Standing {
    SharedWord word;
    /// Ranks that sleep until this one goes on. On a line of its own: it is rarely written.
    alignas(cache_line) std::atomic<std::uint64_t> sleepers;
    /// Not 0: this rank waits, and offers its core meanwhile. A hint (shared_wait.cpp).
    std::atomic<std::uint64_t> waits;
    /// Of the rank alone: the last turn of the last use of each half.
    std::uint64_t half_used[2];
};

/// The memory of a stage, divided among `ranks`.
class ScratchLayout {
public:
    static constexpr std::int32_t most_ranks = 32;
    static constexpr std::uint64_t slot_bytes = 16 << 10;
    static constexpr std::uint64_t half_bytes = 1 << 20;

    ScratchLayout(std::byte* memory, std::int32_t ranks) noexcept
        : memory_(memory), slots_(slots(ranks)) {}

    /// Of each rank: a power of two.
    static constexpr std::uint64_t slots(std::int32_t ranks) noexcept {
        return std::bit_floor(all_slots / static_cast<std::uint64_t>(ranks));
    }
    Standing& standing(std::int32_t rank) const noexcept {
        return reinterpret_cast<Standing*>(memory_)[rank];
    }
    SlotHead& head(std::int32_t rank, std::uint64_t turn) const noexcept {
        return reinterpret_cast<SlotHead*>(memory_ + heads)[number(rank, turn)];
    }
    /// Where that many bytes are that a rank gives in a turn.
    std::byte* place(std::int32_t rank, std::uint64_t turn, std::uint64_t bytes) const noexcept {
        if (bytes <= SlotHead::room) return head(rank, turn).data;
        return memory_ + data + number(rank, turn) * slot_bytes;
    }
    std::byte* half(std::uint32_t number) const noexcept {
        return memory_ + halves + number * half_bytes;
    }
    /// What must be zero in the beginning.
    static constexpr std::uint64_t control_bytes() noexcept { return data; }

private:
    static constexpr std::uint64_t all_slots = 256;
    static constexpr std::uint64_t heads = most_ranks * sizeof(Standing);
    static constexpr std::uint64_t data = 64 << 10;
    static constexpr std::uint64_t halves = data + all_slots * slot_bytes;
    static_assert(heads + all_slots * sizeof(SlotHead) <= data);
    static_assert(halves + 2 * half_bytes <= node::stage_bytes);

    std::uint64_t number(std::int32_t rank, std::uint64_t turn) const noexcept {
        return static_cast<std::uint64_t>(rank) * slots_ + turn % slots_;
    }

    std::byte* memory_;
    std::uint64_t slots_;
};

/// Whether the call may have scratch memory, so far as is known; the same in every process.
bool may_have_scratch(const Schedule& schedule) noexcept;

/// Whether the communicator of such a call has it, having agreed on it if need be. Throws std::bad_alloc.
bool find_scratch(const Schedule& schedule);

/// Whether the ranks of this process's node share some, for a call in levels; likewise.
bool find_scratch_of_node(const Schedule& schedule, objects::Nodes& nodes);

}  // namespace heddle::coll
