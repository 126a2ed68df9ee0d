// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A window (MPI 5.0, 12.2): memory of each process of a group that the others may access. What is done with
/// one is in rma/; here is what it consists of.
///
/// Thread safety  fields above the line are read by every access, and written while the window is made or by
///                the calls that begin and end epochs. No access writes anything that threads share.
/// Errors         raised on the window, once there is one.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/object.hpp"
#include "core/request.hpp"
#include "mpi.h"
#include "node/segments.hpp"
#include "objects/attributes.hpp"
#include "objects/communicator.hpp"
#include "objects/errhandler.hpp"
#include "objects/node_memory.hpp"
#include "platform/memory.hpp"

namespace heddle::rma {
class FarService;
class FarTargets;
struct Front;
struct Gate;
class Gathered;
struct Region;
class Service;
struct WholeParty;
}  // namespace heddle::rma

namespace heddle::objects {

class Process;
struct Info;

/// What allows accesses to a target: bits, none of them while there is no epoch.
enum Access : std::uint32_t {
    by_fence = 1,
    by_start = 2,
    by_shared_lock = 4,
    by_exclusive_lock = 8,
    by_lock_all = 16,
    // Where flushing takes more than a fence: of a target of another node,
    by_far_shared_lock = 32,
    by_far_exclusive_lock = 64,
    by_lock_all_nodes =
        128,  ///< or of all in a window that has such (its near targets are also open by_lock_all)
};
inline constexpr std::uint32_t by_near_lock = by_shared_lock | by_exclusive_lock | by_lock_all;
inline constexpr std::uint32_t by_one_lock =
    by_shared_lock | by_exclusive_lock | by_far_shared_lock | by_far_exclusive_lock;
inline constexpr std::uint32_t by_locks_of_all = by_lock_all | by_lock_all_nodes;
inline constexpr std::uint32_t by_any_lock = by_one_lock | by_locks_of_all;

/// What MPI_Win_unlock or MPI_Win_unlock_all does otherwise than usual: bits.
enum Unlocking : std::uint8_t {
    nobody_asked = 1,    ///< locked with MPI_MODE_NOCHECK: there is no lock to leave
    instances_held = 2,  ///< operations have held instances (rma/held.hpp)
    other_nodes = 4,     ///< messages have to be waited for
    gathered = 8,        ///< there may be operations that have only been begun (rma/gathered.hpp)
};

/// The part of the window that is one process's. On a line of its own, since threads begin and end epochs with
/// different targets at once.
struct alignas(cache_line) Target {
    std::byte* memory = nullptr;  ///< mapped here; nullptr: it is copied by the kernel
    std::uint64_t bytes = 0;
    std::int64_t unit = 1;                 ///< of displacements
    std::atomic<std::uint32_t> open{0};    ///< Access, to this target alone
    std::atomic<std::uint32_t> ticket{0};  ///< of the lock that is held, which was checked
    std::int32_t process = 0;              ///< its number
    std::uint64_t address = 0;             ///< in its process
    std::atomic<bool> asked{false};  ///< a thread of this process has the lock, or is about to
    std::uint8_t unlocking = 0;
    /// Of its node: accumulates are the processor's instructions, where it has one. Not set where it is far.
    bool mapped_by_all = false;
    bool far = false;  ///< of another node: it is asked by messages (rma/far_targets.hpp)
    std::uint64_t short_bytes = 0;  ///< of `memory`, for short ways; 0: they are closed
};
static_assert(sizeof(Target) == cache_line);

/// Info keys (MPI 5.0, 12.2.1).
struct WindowHints {
    Flag no_locks = false;
    Flag same_size = false;
    Flag same_disp_unit = false;
    Flag noncontiguous = false;  ///< alloc_shared_noncontig
    std::string accumulate_ordering = "rar,raw,war,waw";
    std::string accumulate_ops = "same_op_no_op";
    std::string granularity = "0";       ///< mpi_accumulate_granularity
    std::size_t alignment = cache_line;  ///< mpi_minimum_memory_alignment
};

/// An epoch of post and wait, or of start and complete.
struct Exposure {
    bool open = false;
    std::vector<std::int32_t> ranks;        ///< of the group
    std::vector<core::Request*> announced;  ///< one for each: what is still to come of it
};

struct alignas(512) Window : core::Object {
    std::int32_t ranks = 0;
    std::int32_t short_ranks =
        0;  ///< `ranks`, for short ways (api/rma_short.hpp); 0: they are closed
    std::atomic<std::uint32_t> open_to_all{0};  ///< Access, to every target
    std::int32_t short_flushes =
        0;  ///< `ranks`, for short flushes; 0: there may be more to be done
    std::unique_ptr<Target[]> targets;
    // ----
    Communicator* communicator = nullptr;  ///< of its own, counted: nobody else uses its contexts
    rma::Front* front = nullptr;           ///< of all targets, in the segment (rma/control.hpp)
    rma::Gate* gates = nullptr;            ///< of each target, likewise
    rma::WholeParty* parties = nullptr;    ///< each process at the lock of all targets, likewise
    std::atomic<std::uint32_t>* places = nullptr;  ///< of those who wait for locks
    /// Of single targets, held by this process. On a line that accesses do not read.
    alignas(cache_line) std::atomic<std::int32_t> locks{0};
    std::uint8_t unlocking_all = 0;
    std::atomic<std::uint32_t> fencing{
        0};  ///< threads of this process in MPI_Win_fence: one is, others wait
    std::atomic<std::uint64_t> instances{0};  ///< that operations have held (rma/held.hpp)
    rma::Region* regions = nullptr;           ///< of a dynamic window
    Exposure exposure;                        ///< MPI_Win_post
    Exposure started;                         ///< MPI_Win_start

    Window* next = nullptr;
    Errhandler* errhandler = nullptr;  ///< counted; guarded by the process's set-up lock
    std::string name;                  ///< guarded likewise
    Attributes attributes;             ///< guarded likewise
    WindowHints hints;                 ///< guarded likewise
    node::Segment segment;             ///< of this node's processes, taken by the first of them
    std::vector<std::int32_t> here;    ///< the ranks of those
    std::vector<std::int32_t> first_beside;  ///< by rank, the first rank of its node
    std::vector<std::int32_t> nodes;         ///< the first rank of each node, in their order
    std::shared_ptr<const platform::Mapping> mapping;
    NodeMemory::Holder own_piece;  ///< MPI_Win_create on memory of MPI_Alloc_mem,
    std::vector<std::shared_ptr<const platform::Mapping>>
        other_pieces;  ///< and that of other processes
    /// Where a process cannot get at the memory of another: there are messages for it.
    std::shared_ptr<rma::Service> service;
    /// Where the kernel copies for some targets; else there is none.
    std::shared_ptr<rma::Gathered> gathered;
    // Where processes are on several nodes; else there are none.
    std::shared_ptr<rma::FarTargets> far;
    std::shared_ptr<rma::FarService> far_service;

    // What predefined attributes point at.
    int flavor = 0;
    int model = MPI_WIN_UNIFIED;
    int unit = 1;
    void* base = nullptr;
    MPI_Aint bytes = 0;

    MPI_Win handle() noexcept { return reinterpret_cast<MPI_Win>(this); }
};

/// With the handle's reference, and the communicator, whose reference it takes over. Throws std::bad_alloc.
Window& make_window(Process& process, Communicator& communicator);
/// The handle names nothing any more, and everything is given back but the segment.
void close_handle(Process& process, Window& window) noexcept;

/// Takes the hints that it understands; one that is absent stays as it is.
void apply_hints(WindowHints& hints, const Info& info);
void report_hints(const WindowHints& hints, Info& info);

}  // namespace heddle::objects
