// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The notice board: what each rank of a node lets its launcher know, without a message.
///
/// It stands at the start of the node's shared memory, one page for each rank: the launcher makes
/// the memory (memfd), sizes it to hold the board and hands the descriptor down in HEDDLE_NODE_FD;
/// the ranks enlarge it for their rings, which follow the board. Zeroes are a valid empty board.
///
/// Writers        a page has one writing process, its rank; within the rank a Blocked entry belongs
///                to the thread that claimed it (owner != 0).
/// Readers        the launcher, at any time, also after the rank has died. What it reads is advice
///                for a report; a text may be torn, so a reader bounds it and checks version.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heddle::launch {

inline constexpr std::size_t board_page_bytes = 4096;
inline constexpr std::size_t blocked_entries = 24;
inline constexpr const char* node_descriptor_variable = "HEDDLE_NODE_FD";

/// How far a rank has come. A process that ends before `finalized` although it was `initialized`
/// has left the others waiting.
enum class Stage : std::uint32_t { started = 0, initialized = 1, finalized = 2, aborted = 3 };

/// One thread asleep inside an MPI call.
struct Blocked {
    std::atomic<std::uint32_t> owner;      ///< thread id of the sleeper, 0 when the entry is free
    std::atomic<std::uint32_t> version;    ///< odd while the text is being written
    std::atomic<std::int64_t> since_ns;    ///< CLOCK_MONOTONIC, nanoseconds
    char text[112];                        ///< "MPI_Recv(source 1, tag 7, MPI_COMM_WORLD)", ends in NUL
};

struct alignas(64) Page {
    std::atomic<Stage> stage;
    std::atomic<std::uint32_t> pid;
    std::atomic<std::int32_t> abort_code;
    std::atomic<std::uint32_t> recipe;     ///< tool::agreement(); 0: not known yet
    char abort_reason[240];                ///< why the rank aborted, ends in NUL; empty: not known
    Blocked blocked[blocked_entries];
};
static_assert(sizeof(Page) <= board_page_bytes);

/// The page of `rank` in a board mapped at `node`.
inline Page& board_page(void* node, std::size_t rank) noexcept {
    return *reinterpret_cast<Page*>(static_cast<std::byte*>(node) + rank * board_page_bytes);
}

}  // namespace heddle::launch
