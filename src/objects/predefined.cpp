// SPDX-License-Identifier: BSD-3-Clause
#include "objects/predefined.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "objects/process.hpp"

namespace heddle::objects {
namespace {

struct PredefinedType {
    MPI_Datatype handle;
    const char* name;
    std::int64_t size;
    std::int64_t extent;
    std::int64_t value = 0;  ///< of a pair: bytes of its value
    std::int64_t true_extent = extent;
};

template <class Value, class Index>
struct Pair {
    Value value;
    Index index;
};

/// Bytes from the beginning of the value to the end of the index.
template <class Value, class Index>
constexpr std::int64_t end_of_index() {
    using Both = Pair<Value, Index>;
    return offsetof(Both, index) + sizeof(Index);
}

#define TYPE(name, c_type) {MPI_##name, "MPI_" #name, sizeof(c_type), sizeof(c_type)}
#define PAIR(name, value, index) \
    {MPI_##name, "MPI_" #name, sizeof(value) + sizeof(index), sizeof(Pair<value, index>), \
     sizeof(value), end_of_index<value, index>()}
#define BYTES(name, bytes) {MPI_##name, "MPI_" #name, bytes, bytes}
#define TWO(name, bytes) {MPI_##name, "MPI_" #name, 2 * bytes, 2 * bytes, bytes}
const PredefinedType types[] = {
    TYPE(AINT, MPI_Aint), TYPE(COUNT, MPI_Count), TYPE(OFFSET, MPI_Offset), BYTES(PACKED, 1),
    TYPE(SHORT, short), TYPE(INT, int), TYPE(LONG, long), TYPE(LONG_LONG, long long),
    TYPE(UNSIGNED_SHORT, unsigned short), TYPE(UNSIGNED, unsigned), TYPE(UNSIGNED_LONG, unsigned long),
    TYPE(UNSIGNED_LONG_LONG, unsigned long long), TYPE(FLOAT, float),
    TYPE(C_FLOAT_COMPLEX, std::complex<float>), TYPE(CXX_FLOAT_COMPLEX, std::complex<float>),
    TYPE(DOUBLE, double), TYPE(C_DOUBLE_COMPLEX, std::complex<double>),
    TYPE(CXX_DOUBLE_COMPLEX, std::complex<double>), TYPE(LONG_DOUBLE, long double),
    TYPE(C_LONG_DOUBLE_COMPLEX, std::complex<long double>),
    TYPE(CXX_LONG_DOUBLE_COMPLEX, std::complex<long double>),
    // Fortran's, in the sizes that its compilers give them unless told otherwise.
    BYTES(LOGICAL, 4), BYTES(INTEGER, 4), BYTES(REAL, 4), BYTES(COMPLEX, 8),
    BYTES(DOUBLE_PRECISION, 8), BYTES(DOUBLE_COMPLEX, 16), BYTES(CHARACTER, 1), TWO(2REAL, 4),
    TWO(2DOUBLE_PRECISION, 8), TWO(2INTEGER, 4),
    PAIR(FLOAT_INT, float, int), PAIR(DOUBLE_INT, double, int), PAIR(LONG_INT, long, int),
    PAIR(2INT, int, int), PAIR(SHORT_INT, short, int), PAIR(LONG_DOUBLE_INT, long double, int),
    TYPE(C_BOOL, bool), TYPE(CXX_BOOL, bool), TYPE(WCHAR, wchar_t), TYPE(CHAR, char),
    TYPE(SIGNED_CHAR, signed char), TYPE(UNSIGNED_CHAR, unsigned char), BYTES(BYTE, 1),
    BYTES(INT8_T, 1), BYTES(UINT8_T, 1), BYTES(INT16_T, 2), BYTES(UINT16_T, 2), BYTES(INT32_T, 4),
    BYTES(UINT32_T, 4), BYTES(INT64_T, 8), BYTES(UINT64_T, 8),
    BYTES(LOGICAL1, 1), BYTES(INTEGER1, 1), BYTES(LOGICAL2, 2), BYTES(INTEGER2, 2), BYTES(REAL2, 2),
    BYTES(LOGICAL4, 4), BYTES(INTEGER4, 4), BYTES(REAL4, 4), BYTES(COMPLEX4, 4), BYTES(LOGICAL8, 8),
    BYTES(INTEGER8, 8), BYTES(REAL8, 8), BYTES(COMPLEX8, 8), BYTES(LOGICAL16, 16),
    BYTES(INTEGER16, 16), BYTES(REAL16, 16), BYTES(COMPLEX16, 16), BYTES(COMPLEX32, 32),
};
#undef TYPE
#undef PAIR
#undef BYTES
#undef TWO

void make_types(Process& process) {
    for (const PredefinedType& type : types) {
        Datatype* object = Process::make(process.datatypes, core::Kind::datatype);
        object->handle = type.handle;
        object->name = type.name;
        object->size = type.size;
        object->extent = type.extent;
        object->true_extent = type.true_extent;
        object->unit = {type.extent, type.value};
        object->contiguous = type.size == type.extent;
        process.predefined_types[reinterpret_cast<std::uintptr_t>(type.handle)] = object;
    }
}

struct PredefinedOperation {
    MPI_Op handle;
    const char* name;
    Builtin builtin;
};

#define OPERATION(name, builtin) {MPI_##name, "MPI_" #name, Builtin::builtin}
const PredefinedOperation operations[] = {
    OPERATION(SUM, sum), OPERATION(MIN, min), OPERATION(MAX, max), OPERATION(PROD, product),
    OPERATION(BAND, bit_and), OPERATION(BOR, bit_or), OPERATION(BXOR, bit_xor),
    OPERATION(LAND, logical_and), OPERATION(LOR, logical_or), OPERATION(LXOR, logical_xor),
    OPERATION(MINLOC, min_location), OPERATION(MAXLOC, max_location), OPERATION(REPLACE, replace),
    OPERATION(NO_OP, no_op),
};
#undef OPERATION

void make_operations(Process& process) {
    for (const PredefinedOperation& operation : operations) {
        Operation* object = Process::make(process.operations, core::Kind::operation);
        object->handle = operation.handle;
        object->name = operation.name;
        object->builtin = operation.builtin;
        object->commutative =
            operation.builtin != Builtin::replace && operation.builtin != Builtin::no_op;
        process.predefined_operations[reinterpret_cast<std::uintptr_t>(operation.handle)] = object;
    }
}

Communicator* make_predefined(Process& process, MPI_Comm handle, const char* name,
                              std::uint32_t context, Group& group) {
    Communicator* communicator = Process::make(process.communicators, core::Kind::communicator);
    communicator->handle = handle;
    communicator->name = name;
    communicator->context = context;
    communicator->group = &group;
    communicator->rank = group.rank;
    communicator->peers = group.size();
    communicator->processes = group.processes.data();
    communicator->errhandler = process.errors_are_fatal;
    process.errors_are_fatal->retain();
    return communicator;
}

}  // namespace

void make_predefined(Process& process) {
    make_types(process);
    make_operations(process);
    using Action = Errhandler::Action;
    process.errors_are_fatal = &make_errhandler(process, Action::fatal);
    process.errors_abort = &make_errhandler(process, Action::abort);
    process.errors_return = &make_errhandler(process, Action::give_back);

    Members everyone(static_cast<std::size_t>(process.size()));
    std::iota(everyone.begin(), everyone.end(), 0);
    process.empty_group = &make_group(process, {});
    process.world = make_predefined(process, MPI_COMM_WORLD, "MPI_COMM_WORLD", world_context,
                                    make_group(process, std::move(everyone)));
    process.self = make_predefined(process, MPI_COMM_SELF, "MPI_COMM_SELF", self_context,
                                   make_group(process, {process.rank()}));
    process.predefined_attributes.universe_size = process.size();
    if (process.job.appnum >= 0) process.predefined_attributes.appnum = process.job.appnum;
}

}  // namespace heddle::objects
