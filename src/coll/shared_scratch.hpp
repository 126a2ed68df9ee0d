// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory that all ranks of a communicator share, for blocking collectives.
///
/// Nodes          if a communicator spans several nodes, its ranks on one node share such memory
///                (objects/nodes.hpp). Statements about ranks hold for their places there.
/// Life           a communicator gets it with the first call that wants it, and keeps it until it
///                is freed. Rank 0 takes a stage of the node, or a segment if all stages are in use
///                (node/node.hpp). It tells the other ranks, and they map it. A communicator has
///                none if files are limited, or if a rank has no address space left for it.
///                Features::shared_scratch says whether any has it.
/// Turns          calls count their steps in this memory in turns, alike in all ranks. The standing
///                of a rank is the last turn that it has come to. The rank is done with all turns
///                before, and has read what it needs of this one.
/// Slots          each rank has a ring of slots, which it alone writes. The slot of a turn holds
///                the data that the rank gives in that turn. The head of the slot says that they
///                are there. Little data stands in the head itself, so that one cache line moves. A
///                slot is written again when all ranks have come to the turn that it was of. The
///                owner checks this at once for half a ring.
/// Halves         memory in which the ranks work on the same data. Consecutive uses take turns
///                (InScratch in accumulated.cpp).
/// Sleep          a rank that waits long asks the rank that it waits for to send a message. It
///                sleeps as for any message (shared_wait.hpp).
/// Thread safety  that of blocking collectives: one at a time on a communicator.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/thread.hpp"
#include "node/stages.hpp"
#include "objects/communicator.hpp"
#include "sync/event_count.hpp"

namespace heddle::coll {

class Schedule;

/// A turn that a rank has come to. It only grows.
struct SharedWord {
    std::atomic<std::uint64_t> turn;
    std::uint64_t bytes;  ///< of the data that the rank gives in that turn

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
    /// Not 0 if this rank waits, and offers its core meanwhile. A hint (shared_wait.cpp).
    std::atomic<std::uint64_t> waits;
    /// Ranks that nap until this one releases them.
    sync::EventCount releases;
    /// The last turn of the last use of each half. Only the rank itself uses it.
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

    /// Returns the slots of each rank: a power of two.
    static constexpr std::uint64_t slots(std::int32_t ranks) noexcept {
        return std::bit_floor(all_slots / static_cast<std::uint64_t>(ranks));
    }
    Standing& standing(std::int32_t rank) const noexcept {
        return reinterpret_cast<Standing*>(memory_)[rank];
    }
    SlotHead& head(std::int32_t rank, std::uint64_t turn) const noexcept {
        return reinterpret_cast<SlotHead*>(memory_ + heads)[number(rank, turn)];
    }
    /// Returns the place of that many bytes that a rank gives in a turn.
    std::byte* place(std::int32_t rank, std::uint64_t turn, std::uint64_t bytes) const noexcept {
        if (bytes <= SlotHead::room) return head(rank, turn).data;
        return memory_ + data + number(rank, turn) * slot_bytes;
    }
    std::byte* half(std::uint32_t number) const noexcept {
        return memory_ + halves + number * half_bytes;
    }
    /// Returns the bytes that must be zero in the beginning.
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

/// Returns whether the call may have scratch memory, so far as is known. The result is the same in
/// every process.
bool may_have_scratch(const Schedule& schedule) noexcept;

/// Returns whether the communicator of such a call has scratch memory. The ranks agree on it if
/// need be. Throws std::bad_alloc.
bool find_scratch(const Schedule& schedule);

/// Returns whether the ranks of this process's node share scratch memory, for a call in levels. The
/// ranks agree on it if need be. Throws std::bad_alloc.
bool find_scratch_of_node(const Schedule& schedule, objects::Nodes& nodes);

}  // namespace heddle::coll
