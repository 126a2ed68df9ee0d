// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What the functions of the checker (functions.cpp, which generate.py writes) do before and after those of the library.
///
/// Thread safety  Everything may be called by any thread, except what a Call or an Agreement does by itself.
/// Failure        Nothing here fails a call of the program. Where memory for looking runs out, less is looked at.

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "functions.hpp"
#include "places.hpp"
#include "sent.hpp"
#include "types.hpp"

#define HEDDLE_EXPORTED extern "C" __attribute__((visibility("default")))

namespace heddle::check {

namespace check = ::heddle::check;  // generated lines say whose functions they call

// ---- The library below ----

const Functions& library() noexcept;
/// The library of another ABI that the program calls; nullptr if it calls libmpi_abi.so.1.
const Functions* another_mpi() noexcept;
const char* name_of(Function function) noexcept;
/// Of a predefined one; empty for any other handle.
const char* name_of_datatype(std::uint32_t handle) noexcept;
void find_functions(Functions& all, void* handle, const char* prefix) noexcept;
template <class Pointer>
void find(Pointer& function, void* handle, const char* prefix, const char* name) noexcept {
    char whole[80];
    std::snprintf(whole, sizeof whole, "%s%s", prefix, name);
    function = reinterpret_cast<Pointer>(::dlsym(handle, whole));
}

/// Whether calls are looked at: from MPI_Init or the first session to MPI_Finalize or the last one's end.
extern std::atomic<bool> checking;
inline bool is_on() noexcept { return checking.load(std::memory_order_relaxed); }

/// Whether an address may be one of the program's: wrong ones are the library's to refuse.
inline bool is_memory(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) >= 4096;
}
template <class Value>
Value value_of(const Value* address) noexcept {
    return is_memory(address) ? *address : Value{};
}

// ---- A call ----

/// A call of the program that may be made at any time by any thread.
class Anytime {
public:
    Anytime(Function function, Caller from) noexcept
        : function_(function), place_(place_of(from)) {}
    Function function() const noexcept { return function_; }
    const char* name() const noexcept { return name_of(function_); }
    Place place() const noexcept { return place_; }

private:
    Function function_;
    Place place_;
};
/// Any other one: looks whether the thread level allows it.
class Call : public Anytime {
public:
    Call(Function function, Caller from) noexcept : Anytime(function, from) { enter(); }
    ~Call() { leave(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

private:
    void enter() noexcept;
    static void leave() noexcept;
};
/// The number of the calling thread in its process, in the order in which they came to MPI.
int own_thread() noexcept;
void set_thread_level(int level) noexcept;

// ---- Buffers and requests ----

/// Memory of the program that an operation reads or writes.
struct Buffer {
    const char* address = nullptr;
    MPI_Count count = 0;
    std::shared_ptr<const Type> type;

    Buffer() = default;
    Buffer(const void* buffer, MPI_Count elements, MPI_Datatype datatype);
    bool is_empty() const noexcept { return type == nullptr; }
    /// Of the whole where that is short, else of parts of it (buffers.cpp).
    std::uint64_t hash() const noexcept;
    std::uintptr_t begin() const noexcept;
    std::uintptr_t end() const noexcept;
    bool overlaps(const Buffer& other) const noexcept;
};
struct Uses {
    Buffer reads, writes;
};

Sent send(const Call& call, const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest,
          int tag, MPI_Comm comm);
/// It was not sent.
void unsend(const Sent& sent);

enum class Kind : std::uint8_t { send, receive, other };
struct Tracked;
/// Answers nullptr if there is no memory.
Tracked* track(const Call& call, Kind kind, bool persistent, Uses uses);
void sending(Tracked& tracked, MPI_Comm comm, int dest, int tag, MPI_Datatype datatype,
             MPI_Count count);
void receiving(const Call& call, Tracked& tracked, MPI_Comm comm, int source, int tag);
void receiving_matched(Tracked& tracked, MPI_Message message);
/// Of a partitioned message, in `number` parts of `count` elements.
void sending_partitions(Tracked& tracked, const void* buffer, int number, MPI_Count count,
                        MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
void receiving_partitions(Tracked& tracked, const void* buffer, int number, MPI_Count count,
                          MPI_Datatype datatype, int source, int tag, MPI_Comm comm);
/// These partitions are about to be ready, or the library has refused that.
void set_ready(MPI_Request request, int first, int last, bool ready);
void set_ready(MPI_Request request, int length, const int* numbers, bool ready);
/// The call has answered `error` and, if that is none, a request.
void begun(Tracked* tracked, MPI_Request* request, int error);
/// Some of these requests are complete, and none has been freed.
void said_complete(int count, const MPI_Request* requests);
/// MPI_Cancel, or MPI_Request_free: whether a message that it sends is received is not seen.
void cancelling(MPI_Request request);

/// A blocking receive: looked at before, and after with the status of the library.
void before_receive(const Call& call, const Buffer& buffer, MPI_Comm comm, int source, int tag);
void received(const Call& call, const Buffer& buffer, MPI_Comm comm, const MPI_Status& status);
void tell_unreceived();

// ---- Collectives ----

inline constexpr int none = -100;  ///< no root
class Comm;
struct Key;
/// What a call of a collective says to the same call of the other ranks.
class Agreement {
public:
    Agreement(const Call& call, MPI_Comm comm, int root, MPI_Op op);
    ~Agreement();
    Agreement(const Agreement&) = delete;
    Agreement& operator=(const Agreement&) = delete;

    bool has_root() const noexcept { return root_ != none; }
    bool is_root() const noexcept;
    /// Data whose signature must be the same on all ranks.
    void data(const void* buffer, MPI_Count count, MPI_Datatype datatype);
    template <class Counts>
    void vector(const Counts* counts, MPI_Datatype datatype);
    template <class Counts>
    void own(const void* buffer, MPI_Count count, MPI_Datatype datatype, const Counts* counts,
             MPI_Datatype of_counts);
    /// Data from one rank to another, of which each says its own part.
    void to_root(const void* buffer, MPI_Count count, MPI_Datatype datatype);
    void from_root(const void* buffer, MPI_Count count, MPI_Datatype datatype);
    template <class Counts>
    void from_all(const Counts* counts, MPI_Datatype datatype);
    template <class Counts>
    void to_all(const Counts* counts, MPI_Datatype datatype);
    template <class Counts, class Types>
    void pairs(const void* buffer, const Counts* send_counts, Types send_types,
               const Counts* receive_counts, Types receive_types);
    /// Compares with the ranks that have come before.
    void meet();
    /// The library has refused the arguments: the call is none of the communicator's collectives.
    void over(int error);

private:
    void contradict(const char* kind, const std::string& text, const char* advice);
    void pair(int from, int to, const Signature& signature, bool sends);
    void local(const Signature& one, const Signature& other);

    /// What each rank exchanges with each other one is compared.
    bool compares_pairs() const noexcept;
    bool compares_data() const noexcept;
    int root_in_world() const noexcept;

    Key key() const noexcept;

    const Call& call_;
    std::shared_ptr<Comm> counted_;  ///< by which the call has a number
    std::shared_ptr<Comm> comm_;     ///< nullptr: it is not compared
    int root_, rank_ = none - 1;
    std::uint64_t operation_ = 0, number_ = 0, shares_ = 0;
    Signature signature_;
    bool has_signature_ = false;
    bool refused_ = false;  ///< its arguments are such that the library will do nothing
};

// ---- Objects ----

enum class Object : std::uint8_t {
    communicator,
    datatype,
    group,
    window,
    file,
    operation,
    info,
    errhandler,
    session
};
void made_at(const char* call, Place place, Object kind, const void* handle);
template <class Handle>
void made(const Anytime& call, Object kind, Handle handle) {
    made_at(call.name(), call.place(), kind, handle);
}
void gone(Object kind, const void* handle);
void tell_leaks();

inline constexpr int in_order = -1;
void new_communicator(MPI_Comm parent, int tag, MPI_Comm comm);
/// By MPI_Intercomm_create: all members call it.
void new_intercommunicator(MPI_Comm local, MPI_Comm comm);
void forget_communicator(MPI_Comm comm);
void promised(MPI_Comm comm, MPI_Info info);
void know_type(MPI_Datatype datatype);
void forget_type(MPI_Datatype datatype);

// ---- Windows ----

enum class Access : std::uint8_t { put, get, accumulate };
inline constexpr int all_targets = -1;
void new_window(const Call& call, MPI_Win win, MPI_Comm comm, MPI_Aint size, MPI_Aint unit,
                MPI_Info info);
/// Whether the target may be accessed now.
void before_access(const Call& call, Access kind, int target, MPI_Win win);
/// What an access that the library has accepted gets into the way of. `ends`: it is over when its request is complete.
void accessed(const Call& call, Access kind, int target, MPI_Aint displacement, MPI_Count count,
              MPI_Datatype datatype, MPI_Op op, MPI_Win win, bool ends = false);
void before_fence(const Call& call, int assertion, MPI_Win win);
void after_fence(int assertion, MPI_Win win, int error);
void before_lock(const Call& call, int target, MPI_Win win);
void locked(int target, MPI_Win win, int error);
void before_unlock(const Call& call, int target, MPI_Win win);
void unlocked(int target, MPI_Win win, int error);
void flushed(int target, MPI_Win win);
void started(MPI_Win win, int error);
void completed(MPI_Win win, int error);
void before_win_free(const Call& call, MPI_Win win);

}  // namespace heddle::check

#include "agreement.hpp"
