// SPDX-License-Identifier: BSD-3-Clause
#include "rma/access.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "platform/ended.hpp"
#include "rma/dynamic.hpp"
#include "rma/far_targets.hpp"
#include "rma/service.hpp"

namespace heddle::rma {
namespace {

using core::Thread;
using objects::Target;
using objects::Window;

__extension__ typedef __int128 Wide;

/// The bytes that elements touch, relative to the place of the first one.
struct Extent {
    Wide begin, end;
};
Extent extent_of(const Remote& there) noexcept {
    const objects::Datatype& type = *there.type;
    const Wide last = static_cast<Wide>(there.count - 1) * type.extent;
    return {type.true_lower_bound + std::min<Wide>(last, 0),
            Wide{type.true_lower_bound} + type.true_extent + std::max<Wide>(last, 0)};
}

std::string printed(Wide value) {
    constexpr Wide limit = INT64_MAX;
    if (value > limit) return "more than 2^63";
    return value < -limit ? "less than -2^63" : std::to_string(static_cast<std::int64_t>(value));
}

int no_epoch(Thread& thread, Window& window, const Remote& there) {
    return objects::fail(thread, window, MPI_ERR_RMA_SYNC,
                         "target " + name_of(there) +
                             ": no epoch in which it may be accessed; there was no MPI_Win_fence, "
                             "MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all for it");
}

int beyond(Thread& thread, Window& window, const Remote& there, Wide begin, Wide end) {
    const Target& target = window.targets[there.rank];
    return objects::fail(thread, window, MPI_ERR_RMA_RANGE,
                         "target " + name_of(there) + ": bytes " + printed(begin) + " to " +
                             printed(end) + " are not in the window, which has " +
                             std::to_string(target.bytes) + " there");
}

int not_attached(Thread& thread, Window& window, const Remote& there) {
    return objects::fail(thread, window, MPI_ERR_RMA_RANGE,
                         "target " + name_of(there) + ": " + std::to_string(there.count) +
                             " elements from there on are not in memory that is attached");
}

bool has_ended(const Thread& thread, std::int32_t process) noexcept {
    const node::Page& page = thread.process->node.page(static_cast<std::size_t>(process));
    return platform::has_lost_its_memory(static_cast<int>(page.pid));
}

/// Raises the error for a target whose process has ended. Waits first: the launcher knows why the
/// process has ended, and ends this one. So no process is blamed that did nothing.
int ended(Thread& thread, Window& window, const Remote& there) {
    constexpr std::chrono::seconds launcher_may_take{10};
    std::this_thread::sleep_for(launcher_may_take);
    return objects::fail(thread, window, MPI_ERR_OTHER,
                         "target " + name_of(there) + ": its process has ended");
}

int out_of_reach(Thread& thread, Window& window, const Remote& there) {
    if (has_ended(thread, window.targets[there.rank].process)) return ended(thread, window, there);
    return objects::fail(thread, window, MPI_ERR_RMA_SHARED,
                         "target " + name_of(there) +
                             ": the kernel does not let this process at the memory of that one "
                             "(process_vm_readv); memory of MPI_Win_allocate can be accessed");
}

int far_away(std::uint64_t place, Spot& spot) noexcept {
    spot.far = true;
    spot.place = place;
    return MPI_SUCCESS;
}

/// Fills in a place from an address of the target's process. The target may be this process.
int reach(Thread& thread, Window& window, const Remote& there, std::uint64_t address, Spot& spot) {
    const std::int32_t process = spot.target->process;
    spot.direct = process == thread.process->number();
    spot.place = address;
    if (spot.direct) return MPI_SUCCESS;
    spot.by_message = window.service != nullptr && window.service->asks(there.rank);
    if (spot.by_message || thread.engine->peer_memory().reachable(process)) return MPI_SUCCESS;
    return out_of_reach(thread, window, there);
}

int locate_dynamic(Thread& thread, Window& window, const Remote& there, Spot& spot) {
    const Extent extent = extent_of(there);
    const auto address = static_cast<std::uint64_t>(there.displacement);
    const Wide begin = Wide{address} + extent.begin, end = Wide{address} + extent.end;
    const Wide most = ~std::uint64_t{0};
    if (begin < 0 || end > most) return not_attached(thread, window, there);
    const auto first = static_cast<std::uint64_t>(begin),
               bytes = static_cast<std::uint64_t>(end - begin);
    const bool far = window.targets[there.rank].far;
    if (far ? !window.far->is_attached(thread, there.rank, first, bytes)
            : !is_attached(window, there.rank, first, bytes))
        return not_attached(thread, window, there);
    if (far) return far_away(address, spot);
    return reach(thread, window, there, address, spot);
}

}  // namespace

std::string name_of(const Remote& there) {
    return "rank " + std::to_string(there.rank) + ", displacement " +
        std::to_string(there.displacement);
}

int not_there(Thread& thread, Window& window, const Remote& there) {
    if (has_ended(thread, window.targets[there.rank].process)) return ended(thread, window, there);
    return objects::fail(
        thread, window, MPI_ERR_RMA_RANGE,
        "target " + name_of(there) + ": the kernel finds no memory there, or not all of it");
}

int measure(Thread& thread, Window& window, std::int64_t count, const objects::Datatype& type,
            std::uint64_t& bytes) {
    std::int64_t length = 0;
    if (__builtin_mul_overflow(count, type.size, &length))
        return objects::fail(thread, window, MPI_ERR_COUNT, "argument count: more than 2^63 bytes");
    bytes = static_cast<std::uint64_t>(length);
    return MPI_SUCCESS;
}

int locate(Thread& thread, Window& window, const Remote& there, Spot& spot) {
    Target& target = window.targets[there.rank];
    if (!is_open(window, target)) return no_epoch(thread, window, there);
    spot.target = &target;
    const bool nothing = there.count == 0 || there.type->size == 0;
    if (nothing && there.displacement >= 0) {
        spot.direct = true;
        return MPI_SUCCESS;
    }
    if (window.flavor == MPI_WIN_FLAVOR_DYNAMIC) return locate_dynamic(thread, window, there, spot);
    const Wide offset = Wide{there.displacement} * target.unit;
    const Extent extent = extent_of(there);
    if (there.displacement < 0 || offset + extent.begin < 0 ||
        offset + extent.end > Wide{target.bytes})
        return beyond(thread, window, there, offset + extent.begin, offset + extent.end);
    if (target.far) return far_away(static_cast<std::uint64_t>(offset), spot);
    if (target.memory == nullptr)
        return reach(thread, window, there, target.address + static_cast<std::uint64_t>(offset),
                     spot);
    spot.direct = true;
    spot.place =
        reinterpret_cast<objects::Place>(target.memory) + static_cast<objects::Place>(offset);
    return MPI_SUCCESS;
}

}  // namespace heddle::rma
