// SPDX-License-Identifier: BSD-3-Clause
/// Packing and unpacking (MPI 5.0, 5.2 and 5.3). The packed form of this library is that of its
/// messages: data without gaps and without a header.

#include <cstring>

#include "api/datatype_arguments.hpp"
#include "api/object_arguments.hpp"
#include "objects/external32.hpp"

namespace heddle::api {
namespace {

HEDDLE_NAMED(InBuffer, SendBuffer, "inbuf")
HEDDLE_NAMED(OutBuffer, ReceiveBuffer, "outbuf")
HEDDLE_NAMED(InCount, Count, "incount")
HEDDLE_NAMED(OutCount, Count, "outcount")
HEDDLE_NAMED(OutSize, Natural, "outsize")
HEDDLE_NAMED(InSize, Natural, "insize")
struct Representation : Text {
    static constexpr const char* name = "datarep";
    using Text::Text;
    int error(const Communicator*) const noexcept {
        return is_memory(value) && std::strcmp(value, "external32") == 0 ? MPI_SUCCESS
                                                                         : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const {
        return is_memory(value) ? std::string(value) + " is not external32" : no_memory(value);
    }
};

/// A call that moves `count` elements between a user's buffer and a packed one.
template <class Position>
struct Move {
    Thread& thread;
    Communicator* communicator;
    const void* elements;
    std::int64_t count;
    const Type& type;
    std::int64_t element_bytes;  ///< packed
    const void* packed;
    std::int64_t room;
    Position& position;
    std::int64_t bytes = 0;  ///< set by check()

    int fail(int error_class, const std::string& detail) const {
        return objects::fail(thread, communicator, error_class, detail);
    }
    int check() {
        if (position < 0)
            return fail(MPI_ERR_ARG,
                        "argument position: " + std::to_string(position) + " is negative");
        if (__builtin_mul_overflow(count, element_bytes, &bytes))
            return fail(MPI_ERR_COUNT, "the data have more than 2^63 bytes");
        if (bytes > room - position)
            return fail(MPI_ERR_TRUNCATE,
                        "the data have " + std::to_string(bytes) + " bytes, and from position " +
                            std::to_string(position) + " there are " +
                            std::to_string(room - position));
        if (bytes == 0) return MPI_SUCCESS;
        if (!is_memory(packed))
            return fail(MPI_ERR_BUFFER, "the packed buffer: " + no_memory(packed));
        // A null pointer is MPI_BOTTOM, too; its data have addresses for displacements.
        constexpr auto page = static_cast<std::int64_t>(first_address);
        const bool at_bottom = elements == nullptr &&
            (type->true_lower_bound <= -page || page <= type->true_lower_bound);
        if (!is_memory(elements) && !at_bottom)
            return fail(MPI_ERR_BUFFER, "the buffer: " + no_memory(elements));
        return MPI_SUCCESS;
    }
};

template <class Position>
int pack(Thread& thread, InBuffer in, InCount count, Type type, OutBuffer out, OutSize room,
         InOut<Position> position, Comm comm) {
    Move<Position> move{thread,     comm.object, in.address, count.value, type,
                        type->size, out.address, room.value, *position};
    if (const int error = move.check()) return error;
    objects::pack(*type, in.address, 0, out.address + *position,
                  static_cast<std::uint64_t>(move.bytes));
    *position += static_cast<Position>(move.bytes);
    return MPI_SUCCESS;
}

template <class Position>
int unpack(Thread& thread, InBuffer in, InSize room, InOut<Position> position, OutBuffer out,
           OutCount count, Type type, Comm comm) {
    Move<Position> move{thread,     comm.object, out.address, count.value, type,
                        type->size, in.address,  room.value,  *position};
    if (const int error = move.check()) return error;
    objects::unpack(*type, out.address, 0, in.address + *position,
                    static_cast<std::uint64_t>(move.bytes));
    *position += static_cast<Position>(move.bytes);
    return MPI_SUCCESS;
}

/// Writes the bytes of `count` elements, or MPI_UNDEFINED if the result's type does not hold them.
template <class T>
int write_size(Thread& thread, std::int64_t count, std::int64_t each, Out<T>& size) {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(count, each, &bytes))
        return objects::fail(thread, nullptr, MPI_ERR_COUNT,
                             "argument incount: more than 2^63 bytes");
    *size = or_undefined<T>(bytes);
    return MPI_SUCCESS;
}

template <class T>
int pack_size(Thread& thread, InCount count, Type type, Comm, Out<T> size) {
    return write_size(thread, count.value, type->size, size);
}

// --- external32 ---

int pack_external(Thread& thread, Representation, InBuffer in, InCount count, Type type,
                  OutBuffer out, OutSize room, InOut<std::int64_t> position) {
    const objects::Definition& definition = *type->definition;
    Move<std::int64_t> move{thread,      nullptr,    in.address,
                            count.value, type,       definition.external_size,
                            out.address, room.value, *position};
    if (const int error = move.check()) return error;
    objects::pack_external(definition, in.address, count.value, out.address + *position);
    *position += move.bytes;
    return MPI_SUCCESS;
}

int unpack_external(Thread& thread, Representation, InBuffer in, InSize room,
                    InOut<std::int64_t> position, OutBuffer out, OutCount count, Type type) {
    const objects::Definition& definition = *type->definition;
    Move<std::int64_t> move{thread,      nullptr,    out.address,
                            count.value, type,       definition.external_size,
                            in.address,  room.value, *position};
    if (const int error = move.check()) return error;
    objects::unpack_external(definition, out.address, count.value, in.address + *position);
    *position += move.bytes;
    return MPI_SUCCESS;
}

int pack_external_size(Thread& thread, Representation, InCount count, Type type,
                       Out<std::int64_t> size) {
    return write_size(thread, count.value, type->definition->external_size, size);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(7, Pack, pack<int>)
MPI_ENTRY(7, Pack_c, pack<MPI_Count>)
MPI_ENTRY(7, Unpack, unpack<int>)
MPI_ENTRY(7, Unpack_c, unpack<MPI_Count>)
MPI_ENTRY(4, Pack_size, pack_size<int>)
MPI_ENTRY(4, Pack_size_c, pack_size<MPI_Count>)
MPI_ENTRY_C(7, Pack_external, pack_external)
MPI_ENTRY_C(7, Unpack_external, unpack_external)
MPI_ENTRY_C(4, Pack_external_size, pack_external_size)
