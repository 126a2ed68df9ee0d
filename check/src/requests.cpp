// SPDX-License-Identifier: BSD-3-Clause
#include "requests.hpp"

#include <array>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "buffers.hpp"
#include "findings.hpp"
#include "node.hpp"

namespace heddle::check {

namespace {

/// One part of all requests. It is never destroyed: threads of the program may call MPI to the end.
struct alignas(64) Shard {
    std::mutex guard;
    std::unordered_map<MPI_Request, Tracked*> known;
};
constexpr std::size_t shards = 64;
Shard& shard_of(MPI_Request request) {
    static std::array<Shard, shards>& all = *new std::array<Shard, shards>;
    return all[(reinterpret_cast<std::uintptr_t>(request) >> 6) % shards];
}
template <class Function>
void for_each_request(Function function) {
    for (std::size_t i = 0; i < shards; ++i) {
        Shard& shard = shard_of(reinterpret_cast<MPI_Request>(i << 6));
        const std::lock_guard held(shard.guard);
        for (auto& [handle, tracked] : shard.known) function(*tracked);
    }
}

/// True once the thread's list of free objects, below, has been destroyed. The thread may still
/// call MPI.
thread_local bool has_ended = false;
struct Spare {
    std::vector<Tracked*> objects;
    ~Spare() {
        has_ended = true;
        for (Tracked* object : objects) delete object;
    }
};
thread_local Spare spare;

Tracked* get() {
    if (has_ended || spare.objects.empty()) return new (std::nothrow) Tracked;
    Tracked* const object = spare.objects.back();
    spare.objects.pop_back();
    *object = Tracked{};
    return object;
}
void put(Tracked* object) {
    if (!has_ended && spare.objects.size() < 4096)
        spare.objects.push_back(object);
    else
        delete object;
}

void activate(const Call& call, Tracked& tracked) {
    tracked.active = true;
    if (!tracked.uses.reads.is_empty() || !tracked.uses.writes.is_empty()) occupy(call, tracked);
    tracked.hashed = !tracked.uses.reads.is_empty() && !tracked.overlaps;
}

/// Reads the buffer of a call that the library has accepted.
void take_hash(Tracked& tracked) {
    if (tracked.hashed) tracked.hash = tracked.uses.reads.hash();
}

void deactivate(Tracked& tracked) {
    if (!tracked.active) return;
    tracked.active = false;
    vacate(tracked);
}

}  // namespace

Tracked* track(const Call& call, Kind kind, bool persistent, Uses uses) {
    Tracked* const tracked = get();
    if (tracked == nullptr) throw std::bad_alloc();
    tracked->function = call.function();
    tracked->place = call.place();
    tracked->kind = kind;
    tracked->persistent = persistent;
    tracked->uses = std::move(uses);
    if (!persistent) activate(call, *tracked);
    return tracked;
}

void sending(Tracked& tracked, MPI_Comm comm, int dest, int tag, MPI_Datatype datatype,
             MPI_Count count) {
    tracked.comm = comm_of(comm);
    tracked.dest = dest;
    tracked.send_tag = tag;
    tracked.signature = signature_of(datatype, count);
    if (!tracked.persistent) put_on_its_way(tracked);
}

namespace {

/// Lets operations share a handle. The library gives several operations one handle if they are
/// complete from the beginning. It is unknown which of them a call completes. The first call that
/// may complete any checks all, and nothing is known of them afterwards.
void share_handle(Tracked*& entry, Tracked& tracked) {
    if (!entry->shared) {
        Tracked* const head = get();
        if (head == nullptr) {
            deactivate(tracked);
            return put(&tracked);
        }
        head->shared = true;
        head->next = entry;
        entry = head;
    }
    tracked.next = std::exchange(entry->next, &tracked);
}

struct Changed {
    Function function;
    Place place;
};
bool is_changed(const Tracked& tracked) {
    return tracked.hashed && tracked.uses.reads.hash() != tracked.hash;
}

/// Ends all operations of a shared handle. The caller holds its shard's guard.
std::vector<Changed> part_with(Tracked& head) {
    std::vector<Changed> changed;
    while (Tracked* const one = head.next) {
        head.next = one->next;
        if (is_changed(*one)) changed.push_back({one->function, one->place});
        deactivate(*one);
        put(one);
    }
    return changed;
}

void tell_changed(const Call& call, Function function, Place place) {
    tell("buffer-changed", name_of(function), place,
         "the buffer was changed before " + std::string(call.name()) + " at " +
             location_of(call.place()) + " completed it",
         "Write to the buffer after the request is complete.");
}

}  // namespace

void begun(Tracked* tracked, MPI_Request* request, int error) {
    if (error != MPI_SUCCESS || *request == MPI_REQUEST_NULL) {
        deactivate(*tracked);
        if (error != MPI_SUCCESS) unsend(tracked->sent);
        return put(tracked);
    }
    tracked->handle = *request;
    if (tracked->partitions != nullptr) number_pair(*tracked);
    if (tracked->active) take_hash(*tracked);
    Shard& shard = shard_of(*request);
    const std::lock_guard held(shard.guard);
    Tracked*& entry = shard.known[*request];
    if (entry != nullptr && (entry->shared || entry->state == Tracked::State::held))
        return share_handle(entry, *tracked);
    if (entry != nullptr && entry->state == Tracked::State::over) put(entry);
    entry = tracked;
}

void said_complete(int count, const MPI_Request* requests) {
    for (int i = 0; i < count; ++i) {
        Shard& shard = shard_of(requests[i]);
        const std::lock_guard held(shard.guard);
        const auto entry = shard.known.find(requests[i]);
        if (entry == shard.known.end()) continue;
        Tracked& tracked = *entry->second;
        if (tracked.shared) part_with(tracked);
        if (!tracked.active) continue;
        vacate(tracked);
        tracked.hashed = false;
        if (tracked.partitions != nullptr) tracked.partitions->forget();
    }
}

void cancelling(MPI_Request request) {
    Shard& shard = shard_of(request);
    const std::lock_guard held(shard.guard);
    const auto entry = shard.known.find(request);
    if (entry == shard.known.end()) return;
    entry->second->cancelled = true;
    if (entry->second->comm == nullptr || Node::get() == nullptr) return;
    Node::get()->lose_sight_of(entry->second->comm->world_rank(entry->second->dest));
}

namespace {

/// The report on a request that another call completes or has completed.
struct Seen {
    Tracked::State state = Tracked::State::held;
    Function function{};
    Place place = 0, completed_at = 0;
    int thread = 0;
};

void tell_twice(const Call& call, const Seen& seen) {
    const std::string which =
        "the request of " + std::string(name_of(seen.function)) + " at " + location_of(seen.place);
    if (seen.state == Tracked::State::over)
        tell("request-twice", call.name(), call.place(),
             which + " was completed before, at " + location_of(seen.completed_at),
             "Complete each request once: set copies of it to MPI_REQUEST_NULL.");
    else if (seen.thread != own_thread())
        tell("request-twice", call.name(), call.place(),
             which + " is being completed by thread " + std::to_string(seen.thread) +
                 " at the same time",
             "Let one thread complete a request.");
    else
        tell("request-twice", call.name(), call.place(), which + " is twice in the array",
             "Put each request into the array once.");
}

}  // namespace

Tracked* begin_completion(const Call& call, MPI_Request request) {
    if (request == MPI_REQUEST_NULL) return nullptr;
    Shard& shard = shard_of(request);
    std::vector<Changed> changed;
    Seen seen;
    {
        const std::lock_guard held(shard.guard);
        const auto entry = shard.known.find(request);
        if (entry == shard.known.end()) return nullptr;
        Tracked& tracked = *entry->second;
        if (tracked.shared) {
            changed = part_with(tracked);
        } else if (tracked.state == Tracked::State::held) {
            tracked.state = Tracked::State::completing;
            tracked.thread = own_thread();
            return &tracked;
        } else {
            seen = {tracked.state, tracked.function, tracked.place, tracked.completed_at,
                    tracked.thread};
        }
    }
    for (const Changed& one : changed) tell_changed(call, one.function, one.place);
    if (seen.state != Tracked::State::held) tell_twice(call, seen);
    return nullptr;
}

void not_completed(Tracked* tracked) {
    if (tracked == nullptr) return;
    Shard& shard = shard_of(tracked->handle);
    const std::lock_guard held(shard.guard);
    tracked->state = Tracked::State::held;
}

void leave(Tracked* tracked, MPI_Request now) {
    if (tracked != nullptr && now == MPI_REQUEST_NULL) return released(tracked);
    not_completed(tracked);
}

void end_completion(const Call& call, Tracked* tracked, const MPI_Status& status, int error) {
    if (tracked == nullptr) return;
    int cancelled = 0;
    const bool was_active = tracked->active;
    if (was_active && tracked->cancelled && error == MPI_SUCCESS)
        library().Test_cancelled(&status, &cancelled);
    if (was_active && is_changed(*tracked)) tell_changed(call, tracked->function, tracked->place);
    if (was_active && tracked->partitions != nullptr) look_at_partitions(call, *tracked);
    deactivate(*tracked);
    if (cancelled != 0) unsend(tracked->sent);
    if (was_active && tracked->receives && tracked->comm != nullptr && error == MPI_SUCCESS &&
        cancelled == 0)
        compare_received(
            name_of(tracked->function), tracked->place, *tracked->comm,
            tracked->partitions == nullptr ? tracked->uses.writes : tracked->partitions->whole,
            status.MPI_SOURCE, status.MPI_TAG, pair_of(*tracked));
    if (was_active && tracked->receives && error != MPI_SUCCESS) lost();
    tracked->sent = {};
    tracked->cancelled = false;
    if (tracked->persistent) return not_completed(tracked);
    Shard& shard = shard_of(tracked->handle);
    const std::lock_guard held(shard.guard);
    const auto entry = shard.known.find(tracked->handle);
    if (entry == shard.known.end() || entry->second != tracked) return put(tracked);
    tracked->state = Tracked::State::over;
    tracked->completed_at = call.place();
    tracked->uses = {};
    tracked->comm = nullptr;
}

Tracked* partitioned_request(MPI_Request request) {
    Shard& shard = shard_of(request);
    const std::lock_guard held(shard.guard);
    const auto entry = shard.known.find(request);
    if (entry == shard.known.end() || entry->second->partitions == nullptr) return nullptr;
    return entry->second->active ? entry->second : nullptr;
}

Tracked* begin_start(const Call& call, MPI_Request request) {
    if (request == MPI_REQUEST_NULL) return nullptr;
    Tracked* tracked = nullptr;
    {
        Shard& shard = shard_of(request);
        const std::lock_guard held(shard.guard);
        const auto entry = shard.known.find(request);
        if (entry == shard.known.end() || entry->second->shared || !entry->second->persistent)
            return nullptr;
        tracked = entry->second;
    }
    if (tracked->active) {
        tell("request-twice", call.name(), call.place(),
             "the request of " + std::string(name_of(tracked->function)) + " at " +
                 location_of(tracked->place) + " is started again before it is complete",
             "Complete it by MPI_Wait before MPI_Start.");
        return nullptr;
    }
    if (tracked->partitions != nullptr) tracked->partitions->forget();
    activate(call, *tracked);
    take_hash(*tracked);
    put_on_its_way(*tracked);
    return tracked;
}

void not_started(Tracked* tracked) {
    if (tracked == nullptr) return;
    if (tracked->receives) lost();
    deactivate(*tracked);
    unsend(tracked->sent);
    tracked->sent = {};
}

void released(Tracked* tracked) {
    if (tracked == nullptr) return;
    // Its message is not seen: messages to this rank may have come or not.
    if (tracked->active && tracked->receives) lost();
    deactivate(*tracked);
    Shard& shard = shard_of(tracked->handle);
    const std::lock_guard held(shard.guard);
    const auto entry = shard.known.find(tracked->handle);
    if (entry != shard.known.end() && entry->second == tracked) shard.known.erase(entry);
    put(tracked);
}

void tell_open_requests() {
    std::vector<const Tracked*> open;
    for_each_request([&](Tracked& tracked) {
        if (tracked.shared)
            for (const Tracked* one = tracked.next; one != nullptr; one = one->next)
                open.push_back(one);
        else if (tracked.state == Tracked::State::held)
            open.push_back(&tracked);
    });
    for (const Tracked* tracked : open) {
        if (tracked->persistent && !tracked->active)
            tell("leak-request", name_of(tracked->function), tracked->place,
                 "the request is never freed",
                 "Call MPI_Request_free when it is no longer needed.");
        else
            tell("missing-wait", name_of(tracked->function), tracked->place,
                 "the request is not complete at MPI_Finalize: nothing has waited for it",
                 "Call MPI_Wait, or MPI_Test until it says true.");
    }
}

}  // namespace heddle::check
