// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The notice board: what each rank of a node lets its launcher know, without a message.
///
/// The board lies at the start of the node's shared memory: a header, by which a process knows the
/// memory as that of the job, and one page for each rank. The launcher makes the memory
/// (node/file.hpp). It is large enough for the ranks' rings, which follow the board. The launcher
/// hands it down in HEDDLE_NODE_FD=DESCRIPTOR:TOKEN. Zeroes are a valid empty page.
///
/// Writers        a page has one writing process, its rank: the process that was first to put its
///                process id there. Within the rank a Blocked or Attached entry belongs to the
///                thread that claimed it (owner != 0).
/// Keeper         if another launcher has started a rank, the rank's parent has this kind of memory
///                for that one rank. HEDDLE_KEEPER_FD names it. It holds only blocked threads and
///                unexpected messages.
/// Readers        the launcher, at any time, also after the rank has died. The launcher uses what
///                it reads as advice for a report. An entry may be torn, so a reader bounds its
///                texts and checks version.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "node/token.hpp"
#include "node/unexpected_messages.hpp"
#include "node/waits_for.hpp"

namespace heddle::node {

inline constexpr std::size_t board_page_bytes = 20480;
inline constexpr std::size_t blocked_entries = 16;
inline constexpr std::size_t attached_entries = 64;
inline constexpr const char* node_descriptor_variable = "HEDDLE_NODE_FD";
inline constexpr const char* keeper_descriptor_variable = "HEDDLE_KEEPER_FD";
/// A new layout needs a new number.
inline constexpr std::uint64_t board_magic = 0x3565'6c64'6465'4821;

/// Written by the process that makes the memory, before any other process sees it.
struct FileHeader {
    std::uint64_t magic;
    std::uint64_t bytes;  ///< size of the memory
    std::uint64_t ranks;
    Token token;  ///< token of the job
    bool operator==(const FileHeader&) const = default;
};

/// How far a rank has come. A process that ends before `finalized` although it was `initialized`
/// has left the others waiting. A process whose sessions are `closed` may open others: it may end,
/// but not fail.
enum class Phase : std::uint32_t {
    started = 0,
    initialized = 1,
    finalized = 2,  ///< MPI_Finalize was called
    aborted = 3,
    closed = 4,  ///< no session is open, and the world model was not used
};

/// One thread that has been asleep inside an MPI call for a while.
struct Blocked {
    std::atomic<std::uint32_t> owner;    ///< thread id of the sleeper, 0 when the entry is free
    std::atomic<std::uint32_t> version;  ///< odd while `what` is being written
    WaitsFor what;
};

/// The events that a thread tests for in vain. It lies in the memory of the rank.
struct Tested {
    std::atomic<std::uint32_t> version;  ///< odd while the rest is being written
    std::uint32_t tests;                 ///< the thread's count when this was written
    WaitsFor what;                       ///< `since_ns` is the time at which this was written
};

/// One thread that has come to MPI. Addresses are those of the rank's memory. A reader that the
/// kernel allows to look there finds the name of the last MPI function. It also finds how many
/// tests have found nothing, and what the thread tests for.
struct Attached {
    std::atomic<std::uint32_t> owner;  ///< thread id, 0 when the entry is free
    std::atomic<std::uint32_t> of_library;
    std::atomic<std::uint64_t> call;    ///< address of a const char*
    std::atomic<std::uint64_t> tests;   ///< address of a std::uint32_t
    std::atomic<std::uint64_t> tested;  ///< address of a Tested; 0: none has been written
};

struct alignas(64) Page {
    std::atomic<Phase> phase;
    std::atomic<std::uint32_t> pid;  ///< 0: no process has taken this rank's place yet
    std::atomic<std::int32_t> abort_code;
    /// Address of a copy of `token` in the memory of the process, and its value. By them other
    /// processes know that a process id is also to them that of this process
    /// (p2p/payload/peer_memory.hpp). 0: not known yet.
    std::atomic<std::uint64_t> token_address;
    Token token;
    std::atomic<std::uint64_t> recipe;  ///< tool::agreement(); 0: not known yet
    /// The errno with which the kernel refuses membarrier to this process; 0: it does not refuse.
    std::atomic<std::int32_t> fences_refused;
    /// The highest level of threads that the program was given. Below MPI_THREAD_SERIALIZED its
    /// main thread alone calls MPI.
    std::atomic<std::int32_t> thread_level;
    std::atomic<std::uint32_t> not_listed;  ///< threads that sleep, without a Blocked entry
    std::atomic<std::uint32_t> ever_attached;
    char abort_reason[240];  ///< why the rank aborted, ends in NUL; empty: not known
    Attached attached[attached_entries];
    Blocked blocked[blocked_entries];
    std::atomic<std::uint32_t> unexpected_version;  ///< odd while `unexpected` is being written
    UnexpectedMessages unexpected;
};
static_assert(sizeof(Page) <= board_page_bytes);

inline constexpr std::size_t board_bytes(std::size_t ranks) noexcept {
    return (1 + ranks) * board_page_bytes;
}

/// Returns the page of `rank` in a board mapped at `node`.
inline Page& board_page(void* node, std::size_t rank) noexcept {
    return *reinterpret_cast<Page*>(static_cast<std::byte*>(node) + (1 + rank) * board_page_bytes);
}

/// The board in memory that is mapped at `node`.
class Board {
public:
    explicit Board(void* node) noexcept : node_(node) {}
    /// Returns the token of the memory.
    const Token& token() const noexcept { return static_cast<const FileHeader*>(node_)->token; }
    Page& page(std::size_t rank) const noexcept { return board_page(node_, rank); }

private:
    void* node_;
};

}  // namespace heddle::node
