// SPDX-License-Identifier: BSD-3-Clause
#include "requests.hpp"

#include <array>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "buffers.hpp"
#include "findings.hpp"
#include "node.hpp"

namespace heddle::check {

namespace {

/// Never destroyed: threads of the program may call MPI to the end.
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
        const std::lock_guard<std::mutex> held(shard.guard);
        for (auto& [handle, tracked] : shard.known) function(*tracked);
    }
}

/// Objects that are over wait here, those of a thread in its own list.
struct Spare {
    std::vector<Tracked*> objects;
    ~Spare() {
        for (Tracked* object : objects) delete object;
    }
};
thread_local Spare spare;

Tracked* get() {
    if (spare.objects.empty()) return new (std::nothrow) Tracked;
    Tracked* const object = spare.objects.back();
    spare.objects.pop_back();
    *object = Tracked{};
    return object;
}
void put(Tracked* object) {
    if (spare.objects.size() < 4096)
        spare.objects.push_back(object);
    else
        delete object;
}

void activate(const Call& call, Tracked& tracked) {
    tracked.active = true;
    if (!tracked.uses.reads.is_empty() || !tracked.uses.writes.is_empty()) occupy(call, tracked);
    tracked.hashed = !tracked.uses.reads.is_empty() && !tracked.overlaps;
}

/// Only buffers of calls that the library has accepted are read.
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

void begun(Tracked* tracked, MPI_Request* request, int error) {
    if (error != MPI_SUCCESS || *request == MPI_REQUEST_NULL) {
        deactivate(*tracked);
        if (error != MPI_SUCCESS) unsend(tracked->sent);
        return put(tracked);
    }
    tracked->handle = *request;
    if (tracked->active) take_hash(*tracked);
    Shard& shard = shard_of(*request);
    const std::lock_guard<std::mutex> held(shard.guard);
    Tracked*& entry = shard.known[*request];
    if (entry != nullptr && entry->state == Tracked::State::held) {
        // The library gives this handle to several operations, which are over from the beginning.
        deactivate(*tracked);
        deactivate(*entry);
        entry->common = true;
        return put(tracked);
    }
    if (entry != nullptr && entry->state == Tracked::State::over) put(entry);
    entry = tracked;
}

void promise(MPI_Request request, MPI_Comm* newcomm, MPI_Comm parent) {
    Shard& shard = shard_of(request);
    const std::lock_guard<std::mutex> held(shard.guard);
    if (const auto entry = shard.known.find(request); entry != shard.known.end()) {
        entry->second->newcomm = newcomm;
        entry->second->parent = parent;
    }
}

void cancelling(MPI_Request request) {
    Shard& shard = shard_of(request);
    const std::lock_guard<std::mutex> held(shard.guard);
    const auto entry = shard.known.find(request);
    if (entry == shard.known.end() || entry->second->comm == nullptr || Node::get() == nullptr)
        return;
    Node::get()->lose_sight_of(entry->second->comm->world_rank(entry->second->dest));
}

Tracked* begin_completion(const Call& call, MPI_Request request) {
    if (request == MPI_REQUEST_NULL) return nullptr;
    Shard& shard = shard_of(request);
    Tracked seen;
    {
        const std::lock_guard<std::mutex> held(shard.guard);
        const auto entry = shard.known.find(request);
        if (entry == shard.known.end() || entry->second->common) return nullptr;
        Tracked& tracked = *entry->second;
        if (tracked.state == Tracked::State::held) {
            tracked.state = Tracked::State::completing;
            tracked.thread = own_thread();
            return &tracked;
        }
        seen.state = tracked.state;
        seen.function = tracked.function;
        seen.place = tracked.place;
        seen.completed_at = tracked.completed_at;
        seen.thread = tracked.thread;
    }
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
    return nullptr;
}

void not_completed(Tracked* tracked) {
    if (tracked == nullptr) return;
    Shard& shard = shard_of(tracked->handle);
    const std::lock_guard<std::mutex> held(shard.guard);
    tracked->state = Tracked::State::held;
}

void end_completion(const Call& call, Tracked* tracked, const MPI_Status& status, int error) {
    if (tracked == nullptr) return;
    int cancelled = 0;
    const bool was_active = tracked->active;
    if (was_active && tracked->kind != Kind::other && error == MPI_SUCCESS)
        library().Test_cancelled(&status, &cancelled);
    if (was_active && tracked->hashed && tracked->uses.reads.hash() != tracked->hash)
        tell("buffer-changed", name_of(tracked->function), tracked->place,
             "the buffer was changed before " + std::string(call.name()) + " at " +
                 location_of(call.place()) + " completed it",
             "Write to the buffer after the request is complete.");
    deactivate(*tracked);
    if (cancelled != 0) unsend(tracked->sent);
    if (was_active && tracked->receives && tracked->comm != nullptr && error == MPI_SUCCESS &&
        cancelled == 0)
        compare_received(name_of(tracked->function), tracked->place, *tracked->comm,
                         tracked->uses.writes, status.MPI_SOURCE, status.MPI_TAG);
    if (was_active && tracked->receives && error != MPI_SUCCESS) lost();
    tracked->sent = {};
    if (tracked->newcomm != nullptr && error == MPI_SUCCESS) {
        made_at(name_of(tracked->function), tracked->place, Object::communicator,
                *tracked->newcomm);
        new_communicator(tracked->parent, in_order, *tracked->newcomm);
    }
    if (tracked->persistent) return not_completed(tracked);
    Shard& shard = shard_of(tracked->handle);
    const std::lock_guard<std::mutex> held(shard.guard);
    const auto entry = shard.known.find(tracked->handle);
    if (entry == shard.known.end() || entry->second != tracked) return put(tracked);
    tracked->state = Tracked::State::over;
    tracked->completed_at = call.place();
    tracked->uses = {};
    tracked->comm = nullptr;
}

Tracked* begin_start(const Call& call, MPI_Request request) {
    if (request == MPI_REQUEST_NULL) return nullptr;
    Tracked* tracked = nullptr;
    {
        Shard& shard = shard_of(request);
        const std::lock_guard<std::mutex> held(shard.guard);
        const auto entry = shard.known.find(request);
        if (entry == shard.known.end() || !entry->second->persistent) return nullptr;
        tracked = entry->second;
    }
    if (tracked->active) {
        tell("request-twice", call.name(), call.place(),
             "the request of " + std::string(name_of(tracked->function)) + " at " +
                 location_of(tracked->place) + " is started again before it is complete",
             "Complete it by MPI_Wait before MPI_Start.");
        return nullptr;
    }
    activate(call, *tracked);
    take_hash(*tracked);
    put_on_its_way(*tracked);
    return tracked;
}

void released(Tracked* tracked) {
    if (tracked == nullptr) return;
    // What it receives is not seen: messages to this rank may have come or not.
    if (tracked->active && tracked->receives) lost();
    deactivate(*tracked);
    Shard& shard = shard_of(tracked->handle);
    const std::lock_guard<std::mutex> held(shard.guard);
    const auto entry = shard.known.find(tracked->handle);
    if (entry != shard.known.end() && entry->second == tracked) shard.known.erase(entry);
    put(tracked);
}

void tell_open_requests() {
    std::vector<Tracked*> open;
    for_each_request([&](Tracked& tracked) {
        if (tracked.state == Tracked::State::held && !tracked.common) open.push_back(&tracked);
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
