// SPDX-License-Identifier: BSD-3-Clause
/// Windows: epochs, the promises about them, and conflicts between accesses.
///
/// Between two fences the accesses of all ranks of the node are compared. Each access is a record.
/// Its rank removes it after the next fence, since all accesses of the epoch have been compared by
/// then. Under locks an order between ranks may come from anywhere. So only the accesses of one
/// rank, between two flushes, are compared there.

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "communicators.hpp"
#include "findings.hpp"
#include "node.hpp"

namespace heddle::check {

namespace {

constexpr std::size_t most_ranges = 16;     ///< ranges of one access; those beyond are not checked
constexpr std::size_t most_accesses = 512;  ///< accesses of an epoch and target

struct OwnRange {
    int target;
    std::int64_t begin, end;
    Access kind;
    std::uint64_t operation;
    Function function;
    Place place;
};

struct Window {
    std::mutex guard;
    std::uint64_t id = 0;
    std::shared_ptr<Comm> comm;
    std::vector<std::int64_t> units;  ///< displacement unit of each target
    bool no_locks = false;

    bool fence_open = false, no_succeed = false, all_locked = false, access_open = false;
    std::set<int> locked;
    std::int64_t fences = 0;    ///< number of fences passed
    std::int64_t accesses = 0;  ///< number since the last fence
    Place no_succeed_at = 0;
    std::vector<OwnRange> ranges;  ///< of this rank, under locks and since the last flush
    std::vector<std::uint32_t> records, promises;  ///< of this epoch; of the next one

    bool has(int target) const noexcept {
        return target >= 0 && target < static_cast<int>(units.size());
    }
    bool is_locked(int target) const { return all_locked || locked.count(target) != 0; }
};

/// All windows. They are never destroyed: threads of the program may call MPI to the end.
struct Windows {
    std::mutex guard;
    std::unordered_map<MPI_Win, std::shared_ptr<Window>> known;
};
Windows& windows() {
    static Windows& all = *new Windows;
    return all;
}
std::shared_ptr<Window> window_of(MPI_Win win) {
    const std::lock_guard<std::mutex> held(windows().guard);
    const auto entry = windows().known.find(win);
    return entry == windows().known.end() ? nullptr : entry->second;
}

bool says(MPI_Info info, const char* key, const char* wanted) {
    char value[32] = "";
    int length = sizeof value, flag = 0;
    return info != MPI_INFO_NULL &&
        library().Info_get_string(info, key, &length, value, &flag) == MPI_SUCCESS && flag != 0 &&
        std::strcmp(value, wanted) == 0;
}

std::uint64_t number_of_operation(MPI_Op op) noexcept {
    return reinterpret_cast<std::uintptr_t>(op);
}

/// Returns true if two accesses of one origin conflict. Its accumulates are in order (MPI 5.0,
/// 12.7.2).
bool get_into_each_other(Access one, Access other) noexcept {
    if (one == Access::get && other == Access::get) return false;
    return one != Access::accumulate || other != Access::accumulate;
}
/// Returns true if two accesses of any origins conflict. Accumulates of one operation are atomic,
/// also beside MPI_NO_OP.
bool get_into_each_other(Access one, std::uint64_t op, Access other,
                         std::uint64_t other_op) noexcept {
    if (get_into_each_other(one, other)) return true;
    return one == Access::accumulate && other == Access::accumulate && op != other_op &&
        op != number_of_operation(MPI_NO_OP) && other_op != number_of_operation(MPI_NO_OP);
}

/// Returns the bytes of the target's window as ranges. Returns nothing if they are too many or
/// unknown.
std::vector<std::pair<std::int64_t, std::int64_t>> bytes_of(std::int64_t at, const Type& type,
                                                            MPI_Count count) {
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    if (type.dense) {
        found.emplace_back(at + type.low, at + type.low + count * type.signature.bytes);
    } else if (!type.blocks.empty() &&
               type.blocks.size() * static_cast<std::size_t>(count) <= most_ranges) {
        for (MPI_Count i = 0; i < count; ++i)
            for (const Block& block : type.blocks)
                found.emplace_back(at + i * type.extent + block.offset,
                                   at + i * type.extent + block.offset + block.length);
    }
    return found;
}

void tell_window_conflict(const Call& call, const char* other, int rank, Place place, int target) {
    tell("rma-conflict", call.name(), call.place(),
         "accesses the same bytes at target " + std::to_string(target) + " as " + other +
             (rank >= 0 ? " of rank " + std::to_string(rank) : "") + " at " + location_of(place) +
             " in the same epoch: the result is undefined",
         "Separate the two by a fence or flush, or use accumulates with one operation.");
}

/// Compares, under locks, with this rank's accesses since the last flush. The caller holds the
/// guard.
bool look_at_own(Window& window, const OwnRange& range, bool keep, OwnRange& found) {
    for (const OwnRange& other : window.ranges)
        if (other.target == range.target && other.begin < range.end && range.begin < other.end &&
            get_into_each_other(range.kind, other.kind)) {
            found = other;
            return true;
        }
    if (!keep) return false;
    if (!window.ranges.empty() && window.ranges.back().target == range.target &&
        window.ranges.back().end == range.begin && window.ranges.back().kind == range.kind &&
        window.ranges.back().place == range.place)
        window.ranges.back().end = range.end;
    else if (window.ranges.size() < most_accesses)
        window.ranges.push_back(range);
    return false;
}

/// Compares, between fences, with the accesses of all ranks of the node.
bool look_at_all(Window& window, const OwnRange& range, Record& found) {
    Node* const node = Node::get();
    const Key key{Sort::access, window.id, static_cast<std::uint64_t>(range.target),
                  static_cast<std::uint64_t>(window.fences)};
    Bucket bucket(*node, key);
    std::size_t number = 0;
    Record* last = nullptr;
    for (Record* record = bucket.find(); record != nullptr;
         record = bucket.find(record), ++number) {
        if (record->number < range.end && range.begin < record->end &&
            (record->rank == own_rank()
                 ? get_into_each_other(range.kind, static_cast<Access>(record->kind))
                 : get_into_each_other(range.kind, range.operation,
                                       static_cast<Access>(record->kind), record->operation))) {
            found = *record;
            return true;
        }
        last = record;
    }
    if (last != nullptr && last->rank == own_rank() && last->end == range.begin &&
        last->place == range.place) {
        last->end = range.end;
        return false;
    }
    if (number >= most_accesses) return false;
    Record* const record = bucket.add();
    if (record == nullptr) return false;
    record->number = range.begin;
    record->end = range.end;
    record->kind = static_cast<std::uint8_t>(range.kind);
    record->operation = range.operation;
    record->function = static_cast<std::int32_t>(range.function);
    record->place = range.place;
    record->rank = own_rank();
    window.records.push_back(node->index_of(*record));
    return false;
}

Key promise_key(const Window& window, int target, std::int64_t fence) {
    return {Sort::promise, window.id, static_cast<std::uint64_t>(target),
            static_cast<std::uint64_t>(fence)};
}

void look_for_no_put(const Call& call, const Window& window, int target) {
    Node* const node = Node::get();
    if (node == nullptr || window.id == 0) return;
    Place place = 0;
    {
        Bucket bucket(*node, promise_key(window, target, window.fences));
        if (const Record* record = bucket.find()) place = record->place;
    }
    if (place != 0)
        tell("assertion", call.name(), call.place(),
             "writes to target " + std::to_string(target) + ", whose fence at " +
                 location_of(place) + " has asserted MPI_MODE_NOPUT",
             "Do not write there in this epoch, or do not assert it.");
}

void remove_records(Window& window) {
    Node* const node = Node::get();
    for (const std::uint32_t index : window.records) {
        Record& record = node->at(index);
        const Key key = record.key;
        Bucket(*node, key).remove(record);
    }
    window.records.clear();
}

void clear(Window& window, int target) {
    if (target == all_targets) return window.ranges.clear();
    std::erase_if(window.ranges,
                  [target](const OwnRange& range) { return range.target == target; });
}

}  // namespace

void new_window(const Call& call, MPI_Win win, MPI_Comm comm, MPI_Aint size, MPI_Aint unit,
                MPI_Info info) {
    const auto of = comm_of(comm);
    if (of == nullptr) return;
    auto window = std::make_shared<Window>();
    window->comm = of;
    if (of->id != 0) window->id = (of->id ^ (of->children++ + 1) * 0x9e3779b97f4a7c15) | 8;
    // Displacements count in the target's unit. All ranks have returned from a call of all of them.
    struct Shape {
        std::int64_t size, unit;
    };
    std::vector<Shape> shapes(static_cast<std::size_t>(of->size));
    const Shape own{size, unit};
    if (library().Allgather(&own, sizeof own, MPI_BYTE, shapes.data(), sizeof own, MPI_BYTE,
                            comm) != MPI_SUCCESS)
        return;
    bool same_size = true, same_unit = true;
    for (const Shape& shape : shapes) {
        window->units.push_back(shape.unit);
        same_size = same_size && shape.size == size;
        same_unit = same_unit && shape.unit == unit;
    }
    if (!same_size && says(info, "same_size", "true"))
        tell("assertion", call.name(), call.place(),
             "the sizes of the ranks differ, although info promises same_size",
             "Give the same size on all ranks, or do not promise it.");
    if (!same_unit && says(info, "same_disp_unit", "true"))
        tell("assertion", call.name(), call.place(),
             "the units of the ranks differ, although info promises same_disp_unit",
             "Give the same unit on all ranks, or do not promise it.");
    window->no_locks = says(info, "no_locks", "true");
    const std::lock_guard<std::mutex> held(windows().guard);
    windows().known[win] = std::move(window);
}

void before_access(const Call& call, Access kind, int target, MPI_Win win) {
    const auto window = window_of(win);
    if (window == nullptr || !window->has(target)) return;
    if (kind != Access::get) look_for_no_put(call, *window, target);
    Place asserted = 0;
    {
        const std::lock_guard<std::mutex> held(window->guard);
        ++window->accesses;
        if (window->is_locked(target) || window->access_open || window->fence_open) return;
        if (window->no_succeed) asserted = window->no_succeed_at;
    }
    if (asserted != 0)
        tell("assertion", call.name(), call.place(),
             "accesses the window although the fence at " + location_of(asserted) +
                 " has asserted MPI_MODE_NOSUCCEED",
             "Call MPI_Win_fence without it before.");
    else
        tell("epoch", call.name(), call.place(),
             "accesses target " + std::to_string(target) + " outside of an epoch",
             "Call MPI_Win_fence, MPI_Win_lock or MPI_Win_start before.");
}

void accessed(const Call& call, Access kind, int target, MPI_Aint displacement, MPI_Count count,
              MPI_Datatype datatype, MPI_Op op, MPI_Win win, bool ends) {
    const auto window = window_of(win);
    if (window == nullptr || !window->has(target) || count <= 0) return;
    const auto type = type_of(datatype);
    if (type == nullptr) return;
    std::unique_lock held(window->guard);
    const bool alone = window->is_locked(target) || window->access_open;
    if (!alone && !window->fence_open) return;
    if (!alone && (window->id == 0 || Node::get() == nullptr)) return;
    for (const auto& [begin, end] :
         bytes_of(displacement * window->units[static_cast<std::size_t>(target)], *type, count)) {
        const OwnRange range{target,          begin,       end, kind, number_of_operation(op),
                             call.function(), call.place()};
        OwnRange own{};
        Record other{};
        if (alone ? !look_at_own(*window, range, !ends, own) : !look_at_all(*window, range, other))
            continue;
        held.unlock();
        if (alone)
            tell_window_conflict(call, name_of(own.function), -1, own.place, target);
        else
            tell_window_conflict(call, name_of(static_cast<Function>(other.function)), other.rank,
                                 other.place, target);
        return;
    }
}

void before_fence(const Call& call, int assertion, MPI_Win win) {
    const auto window = window_of(win);
    if (window == nullptr) return;
    bool broken = false;
    {
        const std::lock_guard<std::mutex> held(window->guard);
        broken = (assertion & MPI_MODE_NOPRECEDE) != 0 && window->accesses > 0;
        window->no_succeed_at = call.place();
    }
    if (broken)
        tell("assertion", call.name(), call.place(),
             "asserts MPI_MODE_NOPRECEDE, but this rank has accessed the window since the last "
             "fence",
             "Do not assert it here.");
    Node* const node = Node::get();
    if ((assertion & MPI_MODE_NOPUT) != 0 && node != nullptr && window->id != 0) {
        Bucket bucket(*node, promise_key(*window, window->comm->rank, window->fences + 1));
        if (Record* record = bucket.add()) {
            record->place = call.place();
            const std::lock_guard<std::mutex> held(window->guard);
            window->promises.push_back(node->index_of(*record));
        }
    }
}

void after_fence(int assertion, MPI_Win win, int error) {
    const auto window = window_of(win);
    if (window == nullptr || error != MPI_SUCCESS) return;
    const std::lock_guard<std::mutex> held(window->guard);
    ++window->fences;
    window->accesses = 0;
    window->no_succeed = (assertion & MPI_MODE_NOSUCCEED) != 0;
    window->fence_open = !window->no_succeed;
    if (Node::get() == nullptr) return;
    remove_records(*window);
    // Promises for this epoch are removed after the next fence.
    window->records = std::exchange(window->promises, {});
}

void before_lock(const Call& call, int, MPI_Win win) {
    const auto window = window_of(win);
    if (window != nullptr && window->no_locks)
        tell("assertion", call.name(), call.place(), "locks a window whose info promises no_locks",
             "Do not lock it, or do not promise it.");
}

void locked(int target, MPI_Win win, int error) {
    const auto window = window_of(win);
    if (window == nullptr || error != MPI_SUCCESS) return;
    const std::lock_guard<std::mutex> held(window->guard);
    if (target == all_targets)
        window->all_locked = true;
    else
        window->locked.insert(target);
}

void before_unlock(const Call& call, int target, MPI_Win win) {
    const auto window = window_of(win);
    if (window == nullptr) return;
    bool known = false;
    {
        const std::lock_guard<std::mutex> held(window->guard);
        known = target == all_targets ? window->all_locked : window->locked.count(target) != 0;
    }
    if (!known)
        tell("epoch", call.name(), call.place(),
             target == all_targets ? "the window is not locked"
                                   : "target " + std::to_string(target) + " is not locked",
             "Lock it before.");
}

void unlocked(int target, MPI_Win win, int error) {
    const auto window = window_of(win);
    if (window == nullptr || error != MPI_SUCCESS) return;
    const std::lock_guard<std::mutex> held(window->guard);
    clear(*window, target);
    if (target == all_targets)
        window->all_locked = false;
    else
        window->locked.erase(target);
}

void flushed(int target, MPI_Win win) {
    const auto window = window_of(win);
    if (window == nullptr) return;
    const std::lock_guard<std::mutex> held(window->guard);
    clear(*window, target);
}

void started(MPI_Win win, int error) {
    const auto window = window_of(win);
    if (window == nullptr || error != MPI_SUCCESS) return;
    const std::lock_guard<std::mutex> held(window->guard);
    window->access_open = true;
    window->ranges.clear();
}
void completed(MPI_Win win, int error) {
    const auto window = window_of(win);
    if (window == nullptr || error != MPI_SUCCESS) return;
    const std::lock_guard<std::mutex> held(window->guard);
    window->access_open = false;
    window->ranges.clear();
}

void before_win_free(const Call& call, MPI_Win win) {
    const auto window = window_of(win);
    if (window == nullptr) return;
    bool open = false;
    {
        const std::lock_guard<std::mutex> held(window->guard);
        open = window->all_locked || !window->locked.empty() || window->access_open;
        if (Node::get() != nullptr) {
            remove_records(*window);
            window->records = std::exchange(window->promises, {});
            remove_records(*window);
        }
    }
    if (open)
        tell("epoch", call.name(), call.place(), "frees a window in an epoch",
             "Unlock or complete it before.");
    const std::lock_guard<std::mutex> held(windows().guard);
    windows().known.erase(win);
}

}  // namespace heddle::check
