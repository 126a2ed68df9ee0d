// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Arguments of other ABIs, for the calls that faces hand on unconverted (api/direct_calls.h,
/// decision 68).
///
/// Integers      the ABI of libmpi.so.12: handles are integers.
/// Addresses     the ABI of libmpi.so.40: handles are addresses, requests the library's own.
/// Both convert usual handles to those of the standard ABI, and back. The face converts all others.
///
/// The kinds of arguments below differ from those of api/arguments.hpp in the values they are made
/// from. A usual datatype costs a look into a table. So does a request that is an integer. Numbers
/// are converted only if they are wrong.

#include <cstdint>
#include <cstring>

#include "api/addresses.hpp"
#include "api/completion.hpp"
#include "api/direct_calls.h"
#include "api/entry.hpp"

namespace heddle::api::direct {

/// The face of this process. There is one at most: a process with two is refused.
extern constinit HeddleFace face __attribute__((visibility("hidden")));

/// Converts a handle that is a constant of the standard ABI. Those constants have ten bits.
[[gnu::always_inline]] inline MPI_Datatype constant(std::uintptr_t standard) noexcept {
    if (standard >= 1024) __builtin_unreachable();
    return reinterpret_cast<MPI_Datatype>(standard);
}
/// Returns whether this can be memory. Faces refuse negative addresses.
inline bool is_place(const void* address) noexcept {
    return reinterpret_cast<std::intptr_t>(address) >= std::intptr_t{first_address};
}

struct Integers {
    using Comm = int;
    using Type = int;
    using Win = int;
    using Request = int;
    struct Status {
        std::int32_t count_low;
        std::int32_t count_high_and_cancelled;
        std::int32_t source;
        std::int32_t tag;
        std::int32_t error;

        void set_bytes(std::uint64_t bytes) noexcept {
            count_low = static_cast<std::int32_t>(bytes);
            count_high_and_cancelled = static_cast<std::int32_t>((bytes >> 32) << 1);
        }
    };
    static constexpr std::uintptr_t ignored_status = 1;
    static constexpr bool has_negative_addresses = true;
    static constexpr bool has_halves = true;

    static std::uintptr_t raw(int handle) noexcept { return static_cast<unsigned>(handle); }
    static bool is_world(int handle) noexcept {
        return handle == static_cast<int>(face.comm_world);
    }

    template <class Handle>
    static bool is_known(const HeddleKnown& known, int handle, Handle& standard) noexcept {
        const unsigned place = static_cast<unsigned>(handle) - known.first;
        if (place >= heddle_known_objects) [[unlikely]]
            return false;
        standard = static_cast<Handle>(__atomic_load_n(&known.objects[place], __ATOMIC_RELAXED));
        return true;
    }
    [[gnu::always_inline]] static bool quickly(MPI_Comm& standard, int handle) noexcept {
        return is_known(face.comms, handle, standard);
    }
    [[gnu::always_inline]] static bool quickly(MPI_Win& standard, int handle) noexcept {
        return is_known(face.windows, handle, standard);
    }
    /// Finds the constant of the standard ABI for a predefined datatype.
    [[gnu::always_inline]] static bool is_predefined(MPI_Datatype& standard, int handle) noexcept {
        const HeddleInteger& candidate =
            static_cast<const HeddleInteger*>(face.types)[static_cast<unsigned char>(handle)];
        if (candidate.face != static_cast<unsigned>(handle)) [[unlikely]]
            return false;
        standard = constant(candidate.standard);
        return true;
    }
    static bool quickly(MPI_Datatype& standard, int handle) noexcept {
        return is_known(face.datatypes, handle, standard);
    }
    /// Returns an address. It is no request's if the integer does not have the bits of this half.
    template <int half>
    [[gnu::always_inline]] static MPI_Request usual_request(int handle) noexcept {
        return reinterpret_cast<MPI_Request>(
            __atomic_load_n(&face.requests.whole_of_bit[half], __ATOMIC_RELAXED) +
            static_cast<unsigned>(handle));
    }
    /// Converts a handle that is no constant. The difference has an upper half if the address has
    /// another one.
    [[gnu::always_inline]] static int request_out(MPI_Request handle) noexcept {
        const std::uint64_t number = reinterpret_cast<std::uintptr_t>(handle) -
            __atomic_load_n(&face.requests.whole_of_bit[0], __ATOMIC_RELAXED);
        if (number >> 32 == 0) [[likely]]
            return static_cast<int>(number);
        return other_request_out(handle);
    }

private:
    static int other_request_out(MPI_Request handle) noexcept {
        const std::uint64_t number = reinterpret_cast<std::uintptr_t>(handle) -
            __atomic_load_n(&face.requests.whole_of_bit[1], __ATOMIC_RELAXED);
        return number >> 32 == 0 ? static_cast<int>(number)
                                 : static_cast<int>(face.request_out(handle));
    }
};

struct Addresses {
    using Comm = void*;
    using Type = void*;
    using Win = void*;
    using Request = MPI_Request;
    struct Status {
        std::int32_t source;
        std::int32_t tag;
        std::int32_t error;
        std::int32_t cancelled;
        std::uint64_t bytes;

        void set_bytes(std::uint64_t received) noexcept {
            bytes = received;
            cancelled = 0;
        }
    };
    static constexpr std::uintptr_t ignored_status = 0;
    static constexpr bool has_negative_addresses = false;
    static constexpr bool has_halves = false;

    static std::uintptr_t raw(const void* handle) noexcept {
        return reinterpret_cast<std::uintptr_t>(handle);
    }
    static bool is_world(const void* handle) noexcept { return raw(handle) == face.comm_world; }

    /// Takes the handle unconverted: objects of the library have its own handles, and no other
    /// handle finds one.
    template <class Handle>
    [[gnu::always_inline]] static bool quickly(Handle& standard, void* handle) noexcept {
        standard = static_cast<Handle>(handle);
        return true;
    }
    [[gnu::always_inline]] static bool is_predefined(MPI_Datatype& standard,
                                                     const void* handle) noexcept {
        const auto* candidate = reinterpret_cast<const HeddleAddress*>(
            static_cast<const char*>(face.types) + (raw(handle) & 0xFFFF));
        if (candidate->address != handle) [[unlikely]]
            return false;
        standard = constant(candidate->standard);
        return true;
    }
    template <int half>
    static MPI_Request usual_request(MPI_Request handle) noexcept {
        return handle;
    }
    static MPI_Request request_out(MPI_Request handle) noexcept { return handle; }
};

// --- handles ---

inline MPI_Comm converted(MPI_Comm, std::uintptr_t raw) { return face.comm_in(raw); }
inline MPI_Datatype converted(MPI_Datatype, std::uintptr_t raw) { return face.type_in(raw); }
inline MPI_Win converted(MPI_Win, std::uintptr_t raw) { return face.win_in(raw); }

/// Makes the argument of kind `Base` from a handle of the other ABI. Asks the face about a handle
/// without an object.
template <class Abi, class Base, class Standard, class Raw>
[[gnu::always_inline]] inline Base found(Process& process, Raw raw) noexcept {
    Standard standard = nullptr;
    if (Abi::quickly(standard, raw)) [[likely]] {
        const Base argument(process, standard);
        if (argument.object != nullptr) [[likely]]
            return argument;
    }
    return Base(process, converted(Standard{}, Abi::raw(raw)));
}

template <class Abi>
struct Comm : api::Comm {
    [[gnu::always_inline]] Comm(Process& process, typename Abi::Comm raw) noexcept
        : api::Comm(Abi::is_world(raw) ? api::Comm(process, MPI_COMM_WORLD)
                                       : found<Abi, api::Comm, MPI_Comm>(process, raw)),
          raw(raw) {}
    std::string wrong(const Communicator*) const {
        return no_communicator(face.comm_in(Abi::raw(raw)));
    }
    typename Abi::Comm raw;
};

template <class Abi>
struct Type : api::Type {
    [[gnu::always_inline]] Type(Process& process, typename Abi::Type raw) noexcept
        : api::Type(of(process, raw)) {}

private:
    [[gnu::always_inline]] static api::Type of(Process& process, typename Abi::Type raw) noexcept {
        MPI_Datatype predefined = nullptr;
        if (Abi::is_predefined(predefined, raw)) [[likely]]
            return api::Type(process, predefined);
        return found<Abi, api::Type, MPI_Datatype>(process, raw);
    }
};

// --- numbers: constants never pass the checks before they are converted ---

template <class Base>
struct Peer : Base {
    Peer(Process& process, int raw) noexcept : Base(process, raw), raw(raw) {}
    bool null() const noexcept { return raw == face.proc_null; }
    int error(const Communicator* communicator) noexcept {
        if (is_rank(this->rank, communicator)) [[likely]]
            return MPI_SUCCESS;
        this->rank = face.rank_in(raw);
        return Base::error(communicator);
    }
    int raw;
};
using Dest = Peer<api::Dest>;
using Source = Peer<api::Source>;

struct ReceiveTag : api::ReceiveTag {
    using api::ReceiveTag::ReceiveTag;
    int error(const Communicator* communicator) noexcept {
        if (value >= 0) [[likely]]
            return MPI_SUCCESS;
        value = face.tag_in(value);
        return api::ReceiveTag::error(communicator);
    }
};

// --- addresses ---

/// Returns whether the address is a constant that stands for an address, and passes is_memory().
/// These constants are negative in one ABI, and pass if comparisons are unsigned.
template <class Abi>
[[gnu::always_inline]] inline bool is_unseen_constant(const void* raw) noexcept {
    return Abi::has_negative_addresses && !negative_is_refused &&
        reinterpret_cast<std::intptr_t>(raw) < 0;
}
/// Returns the address to name in an error: the constant of the standard ABI, if it is one of the
/// face.
inline const void* known_constant(const void* address) {
    const bool negative = reinterpret_cast<std::intptr_t>(address) < 0;
    return negative && face.buffer_in != nullptr ? face.buffer_in(address) : address;
}
template <class Abi, class Address>
[[gnu::always_inline]] inline Address buffer_of(Address raw) noexcept {
    if (is_unseen_constant<Abi>(raw)) [[unlikely]]
        return face.buffer_in(raw);
    return raw;
}
/// A place for a result.
template <class T>
struct Out : api::Out<T> {
    using api::Out<T>::Out;
    int error(const Communicator*) const noexcept {
        return is_place(this->place) ? MPI_SUCCESS : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const {
        return no_memory(known_constant(this->place)) + ", where a result belongs";
    }
};

template <class Abi>
struct SendBuffer : api::SendBuffer {
    SendBuffer(Process& process, const void* raw) noexcept
        : api::SendBuffer(process, buffer_of<Abi>(raw)) {}
};
template <class Abi>
struct ReceiveBuffer : api::ReceiveBuffer {
    ReceiveBuffer(Process& process, void* raw) noexcept
        : api::ReceiveBuffer(process, buffer_of<Abi>(raw)) {}
};

// --- requests ---

/// A variable of the program that holds a request.
template <class Abi>
struct Variable {
    typename Abi::Request* place;

    /// Writes the handle of a request that exists.
    [[gnu::always_inline]] const Variable& operator=(MPI_Request handle) const noexcept {
        *place = Abi::request_out(handle);
        return *this;
    }
};
template <class Abi>
[[gnu::always_inline]] inline void set_null(Variable<Abi> variable) noexcept {
    *variable.place = (typename Abi::Request)face.request_null;
}
template <class Abi>
struct RequestPlace {
    static constexpr const char* name = "request";
    Variable<Abi> variable;

    RequestPlace(Process&, typename Abi::Request* raw) noexcept : variable{raw} {}
    int error(const Communicator*) const noexcept {
        return is_place(variable.place) ? MPI_SUCCESS : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const {
        return no_memory(known_constant(variable.place)) + ", where a result belongs";
    }
    Variable<Abi> operator*() const noexcept { return variable; }
};

/// Finds the request of an integer whose upper half is not the usual one, or of any other unusual
/// handle.
template <class Abi>
[[gnu::noinline]] Unusual find_other_request(Thread& thread, typename Abi::Request handle) {
    if constexpr (Abi::has_halves)
        if (Request* request =
                usual_request(engine_of(thread), Abi::template usual_request<1>(handle)))
            return {request, MPI_SUCCESS};
    return find_unusual_request(thread, face.request_in((std::uintptr_t)handle));
}
template <class Abi>
[[gnu::always_inline]] inline int find_request(Thread& thread, Variable<Abi> variable,
                                               Request*& request) {
    request = usual_request(engine_of(thread), Abi::template usual_request<0>(*variable.place));
    if (request != nullptr) [[likely]]
        return MPI_SUCCESS;
    const Unusual other = find_other_request<Abi>(thread, *variable.place);
    request = other.request;
    return other.error;
}

// --- statuses ---

template <class Abi>
struct Status {
    static constexpr const char* name = "status";
    typename Abi::Status* place;

    Status(Process&, typename Abi::Status* raw) noexcept : place(raw) {}
    int error(const Communicator*) const noexcept {
        return reinterpret_cast<std::uintptr_t>(place) == Abi::ignored_status || is_place(place)
            ? MPI_SUCCESS
            : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const { return no_memory(known_constant(place)); }
};

template <class Abi>
inline bool is_wanted(const typename Abi::Status* status) noexcept {
    return reinterpret_cast<std::uintptr_t>(status) != Abi::ignored_status;
}
template <class Abi>
[[gnu::always_inline]] inline void write(typename Abi::Status* status, std::int32_t source,
                                         std::int32_t tag, std::uint64_t bytes) noexcept {
    if (!is_wanted<Abi>(status)) return;
    if ((source | tag) < 0) [[unlikely]] {
        source = face.rank_out(source);
        tag = face.tag_out(tag);
    }
    status->source = source;
    status->tag = tag;
    status->set_bytes(bytes);
}
template <class Abi>
[[gnu::always_inline]] inline void write_empty(typename Abi::Status* status) noexcept {
    write<Abi>(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    if (is_wanted<Abi>(status)) status->error = MPI_SUCCESS;
}

/// These set the status of a receive, of no operation, and of a receive from MPI_PROC_NULL.
#define HEDDLE_STATUS_OF(Abi)                                                               \
    [[gnu::always_inline]] inline void set_status(Abi::Status* status, std::int32_t source, \
                                                  std::int32_t tag, std::uint64_t bytes,    \
                                                  bool) noexcept {                          \
        write<Abi>(status, source, tag, bytes);                                             \
    }                                                                                       \
    [[gnu::always_inline]] inline void set_empty_status(Abi::Status* status) noexcept {     \
        write_empty<Abi>(status);                                                           \
    }                                                                                       \
    [[gnu::always_inline]] inline void set_null_status(Abi::Status* status) noexcept {      \
        write<Abi>(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);                                  \
    }                                                                                       \
    /** Completes a request that is no plain receive, by those of the standard ABI. */      \
    int complete_uncommon(Thread& thread, Variable<Abi> handle, Request& request,           \
                          Abi::Status* status);                                             \
    int complete(Thread& thread, Variable<Abi> handle, Request& request, Abi::Status* status);
HEDDLE_STATUS_OF(Integers)
HEDDLE_STATUS_OF(Addresses)
#undef HEDDLE_STATUS_OF

/// Calls with arguments of the other ABI, and returns its error code.
template <auto function, class... Raw>
[[gnu::always_inline]] inline int call_by_face(const char* name, Raw... raw) {
    const int error = api::call<function>(name, raw...);
    return error == MPI_SUCCESS ? MPI_SUCCESS : face.error_out(error);
}

/// The calls, with the parameters that they have in the other ABI. Each is defined beside the one
/// of the standard ABI.
template <class Abi>
struct Calls {
    using Comm = typename Abi::Comm;
    using Type = typename Abi::Type;
    using Win = typename Abi::Win;
    using Request = typename Abi::Request;
    using Status = typename Abi::Status;

    static int Send(const void* buffer, int count, Type type, int dest, int tag, Comm comm);
    static int Recv(void* buffer, int count, Type type, int source, int tag, Comm comm,
                    Status* status);
    static int Isend(const void* buffer, int count, Type type, int dest, int tag, Comm comm,
                     Request* request);
    static int Irecv(void* buffer, int count, Type type, int source, int tag, Comm comm,
                     Request* request);
    static int Wait(Request* request, Status* status);
    static int Test(Request* request, int* flag, Status* status);
    static int Put(const void* origin, int count, Type type, int rank, MPI_Aint displacement,
                   int target_count, Type target_type, Win win);
    static int Get(void* origin, int count, Type type, int rank, MPI_Aint displacement,
                   int target_count, Type target_type, Win win);
};

}  // namespace heddle::api::direct
