// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The actions of the checker's functions (functions.cpp, which generate.py writes) before and
/// after those of the library.
///
/// Thread safety  Any thread may call everything, but one thread at a time uses a Call or an
///                Agreement.
/// Failure        Nothing here makes a call of the program fail. If memory runs out, less is
///                checked.

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

// Generated lines say whose functions they call.
namespace check = ::heddle::check;

// ---- The library below ----

const Functions& library() noexcept;
/// Returns the library of another ABI that the program calls, or nullptr if it calls
/// libmpi_abi.so.1.
const Functions* another_mpi() noexcept;
const char* name_of(Function function) noexcept;
/// Returns the name of a predefined datatype, or an empty text for any other handle.
const char* name_of_datatype(std::uint32_t handle) noexcept;
void find_functions(Functions& all, void* handle, const char* prefix) noexcept;
template <class Pointer>
void find(Pointer& function, void* handle, const char* prefix, const char* name) noexcept {
    char whole[80];
    std::snprintf(whole, sizeof whole, "%s%s", prefix, name);
    function = reinterpret_cast<Pointer>(::dlsym(handle, whole));
}

/// True while calls are checked. It begins with MPI_Init or the first session, and ends with
/// MPI_Finalize or the last session.
extern std::atomic<bool> checking;
inline bool is_on() noexcept { return checking.load(std::memory_order_relaxed); }

/// Returns true if an address may be one of the program's. The library itself refuses wrong ones.
inline bool is_memory(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) >= 4096;
}
template <class Value>
Value value_of(const Value* address) noexcept {
    return is_memory(address) ? *address : Value{};
}

// ---- A call ----

/// A call that any thread of the program may make at any time.
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
/// Any other call. Checks whether the thread level allows it.
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
/// Returns the number of the calling thread in its process, in the order of the threads' first
/// calls of MPI.
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
    /// Returns a hash of a short buffer, or of parts of a longer one (buffers.cpp).
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
/// Takes back a message that was not sent.
void unsend(const Sent& sent);

enum class Kind : std::uint8_t { send, receive, other };
struct Tracked;
/// Returns the record of a new request. Throws std::bad_alloc if there is no memory.
Tracked* track(const Call& call, Kind kind, bool persistent, Uses uses);
void sending(Tracked& tracked, MPI_Comm comm, int dest, int tag, MPI_Datatype datatype,
             MPI_Count count);
void receiving(const Call& call, Tracked& tracked, MPI_Comm comm, int source, int tag);
void receiving_matched(Tracked& tracked, MPI_Message message);
/// Sets the data of a partitioned message, in `number` parts of `count` elements.
void sending_partitions(Tracked& tracked, const void* buffer, int number, MPI_Count count,
                        MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
void receiving_partitions(Tracked& tracked, const void* buffer, int number, MPI_Count count,
                          MPI_Datatype datatype, int source, int tag, MPI_Comm comm);
/// Notes that these partitions are about to be ready, or that the library has refused that.
void set_ready(MPI_Request request, int first, int last, bool ready);
void set_ready(MPI_Request request, int length, const int* numbers, bool ready);
/// Ends a call that begins a request. `error` is its result; without one, `request` is set.
void begun(Tracked* tracked, MPI_Request* request, int error);
/// Notes that some of these requests are complete, and none has been freed.
void said_complete(int count, const MPI_Request* requests);
/// Handles MPI_Cancel and MPI_Request_free. The checker then cannot see whether the request's
/// message is received.
void cancelling(MPI_Request request);

/// Check a blocking receive, before it and after it with the library's status.
void before_receive(const Call& call, const Buffer& buffer, MPI_Comm comm, int source, int tag);
void received(const Call& call, const Buffer& buffer, MPI_Comm comm, const MPI_Status& status);
void tell_unreceived();

// ---- Collectives ----

inline constexpr int none = -100;  ///< no root
class Comm;
struct Key;
/// The arguments of a collective call, which are compared with those of other ranks.
class Agreement {
public:
    Agreement(const Call& call, MPI_Comm comm, int root, MPI_Op op);
    ~Agreement();
    Agreement(const Agreement&) = delete;
    Agreement& operator=(const Agreement&) = delete;

    bool has_root() const noexcept { return root_ != none; }
    bool is_root() const noexcept;
    /// Adds data whose signature must be the same on all ranks.
    void data(const void* buffer, MPI_Count count, MPI_Datatype datatype);
    template <class Counts>
    void vector(const Counts* counts, MPI_Datatype datatype);
    template <class Counts>
    void own(const void* buffer, MPI_Count count, MPI_Datatype datatype, const Counts* counts,
             MPI_Datatype of_counts);
    /// Add data from one rank to another. Each rank adds its own part.
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
    /// Takes the call back if the library has refused its arguments. It then does not count as a
    /// collective.
    void over(int error);

private:
    void contradict(const char* kind, const std::string& text, const char* advice);
    void pair(int from, int to, const Signature& signature, bool sends);
    void local(const Signature& one, const Signature& other);

    /// Returns true if the data between each pair of ranks are compared.
    bool compares_pairs() const noexcept;
    bool compares_data() const noexcept;
    int root_in_world() const noexcept;

    Key key() const noexcept;

    const Call& call_;
    std::shared_ptr<Comm> counted_;  ///< numbers the call
    std::shared_ptr<Comm> comm_;     ///< nullptr if the call is not compared
    int root_, rank_ = none - 1;
    std::uint64_t operation_ = 0, number_ = 0, shares_ = 0;
    Signature signature_;
    bool has_signature_ = false;
    bool refused_ = false;  ///< the arguments are wrong, and the library will do nothing
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
/// Adds the result of MPI_Intercomm_create. All members call it.
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
/// Checks whether the target may be accessed now.
void before_access(const Call& call, Access kind, int target, MPI_Win win);
/// Checks an access that the library has accepted for conflicts. `ends` is true if the access ends
/// with its request.
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
