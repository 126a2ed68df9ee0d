// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A window (MPI 5.0, 12.2): memory of each process of a group that the others may access. This is
/// its content; rma/ works with it.
///
/// Thread safety  every access reads the fields above the line. They are written while the window
///                is made or by the calls that begin and end epochs. No access writes anything that
///                threads share.
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
struct TargetState;
class Gathered;
struct Region;
class Service;
struct WholeParty;
}  // namespace heddle::rma

namespace heddle::objects {

class Process;
struct Info;

/// Bits for the reasons that allow accesses to a target. None is set while there is no epoch.
enum Access : std::uint32_t {
    by_fence = 1,
    by_start = 2,
    by_shared_lock = 4,
    by_exclusive_lock = 8,
    by_lock_all = 16,
    // Flushing takes more than a fence: for a target of another node,
    by_far_shared_lock = 32,
    by_far_exclusive_lock = 64,
    /// or for all in a window with such targets (its near ones are also open by_lock_all).
    by_lock_all_nodes = 128,
};
inline constexpr std::uint32_t by_near_lock = by_shared_lock | by_exclusive_lock | by_lock_all;
inline constexpr std::uint32_t by_one_lock =
    by_shared_lock | by_exclusive_lock | by_far_shared_lock | by_far_exclusive_lock;
inline constexpr std::uint32_t by_locks_of_all = by_lock_all | by_lock_all_nodes;
inline constexpr std::uint32_t by_any_lock = by_one_lock | by_locks_of_all;

/// Bits for differences of MPI_Win_unlock or MPI_Win_unlock_all from the usual case.
enum Unlocking : std::uint8_t {
    nobody_asked = 1,    ///< locked with MPI_MODE_NOCHECK: there is no lock to leave
    instances_held = 2,  ///< operations have held instances (rma/held.hpp)
    other_nodes = 4,     ///< there are messages to wait for
    gathered = 8,        ///< operations may be pending that have only been begun (rma/gathered.hpp)
};

/// The part of the window that belongs to one process. It has a cache line of its own, since
/// threads begin and end epochs with different targets at once.
struct alignas(cache_line) Target {
    std::byte* memory = nullptr;  ///< its address here; nullptr: the kernel copies
    std::uint64_t bytes = 0;
    std::int64_t unit = 1;                 ///< of displacements
    std::atomic<std::uint32_t> open{0};    ///< Access, to this target alone
    std::atomic<std::uint32_t> ticket{0};  ///< of the lock that is held, which was checked
    std::int32_t process = 0;              ///< its number
    std::uint64_t address = 0;             ///< the address in its process
    std::atomic<bool> asked{false};  ///< a thread of this process has the lock, or is about to
    std::uint8_t unlocking = 0;
    /// All of its node have mapped it: accumulates are instructions of the processor, if it has
    /// them. Not set for a target of another node.
    bool mapped_by_all = false;
    bool far = false;  ///< of another node: accesses are messages (rma/far_targets.hpp)
    std::uint64_t short_bytes = 0;  ///< of `memory`, for short paths; 0 closes them
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
    std::vector<core::Request*> announced;  ///< one for each: what is pending from it
};

struct alignas(512) Window : core::Object {
    std::int32_t ranks = 0;
    /// The number of `ranks`, for short paths (api/rma_short.hpp); 0 closes them.
    std::int32_t short_ranks = 0;
    std::atomic<std::uint32_t> open_to_all{0};  ///< Access, to every target
    /// The number of `ranks`, for short flushes; 0 if there may be more to do.
    std::int32_t short_flushes = 0;
    std::unique_ptr<Target[]> targets;
    // ----
    Communicator* communicator = nullptr;  ///< its own, counted: no other object uses its contexts
    rma::Front* front = nullptr;           ///< of all targets, in the segment (rma/control.hpp)
    rma::TargetState* target_states = nullptr;  ///< of each target, likewise
    rma::WholeParty* parties = nullptr;  ///< each process at the lock of all targets, likewise
    std::atomic<std::uint32_t>* places = nullptr;  ///< of those processes that wait for locks
    /// The locks of single targets that this process holds. On a line that accesses do not read.
    alignas(cache_line) std::atomic<std::int32_t> locks{0};
    std::uint8_t unlocking_all = 0;
    std::atomic<std::uint32_t> fencing{
        0};  ///< threads of this process in MPI_Win_fence: one runs it, others wait
    /// Instances that operations have held (rma/held.hpp).
    std::atomic<std::uint64_t> instances{0};
    rma::Region* regions = nullptr;  ///< of a dynamic window
    Exposure exposure;               ///< MPI_Win_post
    Exposure started;                ///< MPI_Win_start

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
    NodeMemory::Holder own_piece;  ///< memory of MPI_Alloc_mem that MPI_Win_create got
    /// The mappings of such memory of other processes.
    std::vector<std::shared_ptr<const platform::Mapping>> other_pieces;
    /// Serves by messages, if a process cannot access the memory of another.
    std::shared_ptr<rma::Service> service;
    /// Exists if the kernel copies for some targets.
    std::shared_ptr<rma::Gathered> gathered;
    // These exist if processes are on several nodes.
    std::shared_ptr<rma::FarTargets> far;
    std::shared_ptr<rma::FarService> far_service;

    // The values that predefined attributes point at.
    int flavor = 0;
    int model = MPI_WIN_UNIFIED;
    int unit = 1;
    void* base = nullptr;
    MPI_Aint bytes = 0;

    MPI_Win handle() noexcept { return reinterpret_cast<MPI_Win>(this); }
};

/// Makes a window with the handle's reference. Takes over the caller's reference to the
/// communicator. Throws std::bad_alloc.
Window& make_window(Process& process, Communicator& communicator);
/// Makes the handle invalid, and gives everything back but the segment.
void close_handle(Process& process, Window& window) noexcept;

/// Sets the known hints that `info` has. One that is absent stays as it is.
void apply_hints(WindowHints& hints, const Info& info);
void report_hints(const WindowHints& hints, Info& info);

}  // namespace heddle::objects
