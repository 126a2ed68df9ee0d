// SPDX-License-Identifier: BSD-3-Clause
/// Datatypes selected by their numeric properties (MPI 5.0, 19.1.5), and the pairs of MPI_MINLOC
/// (6.9.4).

#include "api/datatype_arguments.hpp"
#include "objects/basic_types.hpp"
#include "objects/numeric_types.hpp"

namespace heddle::api {
namespace {

template <int combiner>
int create_numeric(Thread& thread, int precision, int range, Out<MPI_Datatype>& result) {
    for (const int wanted : {precision, range})
        if (wanted < 0 && wanted != MPI_UNDEFINED)
            return objects::fail(thread, nullptr, MPI_ERR_ARG,
                                 "argument p or r: " + std::to_string(wanted) + " is negative");
    if (precision == MPI_UNDEFINED && range == MPI_UNDEFINED)
        return wrong(thread, "r", "MPI_UNDEFINED, and nothing else is asked for");
    const MPI_Datatype like = objects::type_of_kind(combiner, precision, range);
    if (like == MPI_DATATYPE_NULL)
        return objects::fail(thread, nullptr, MPI_ERR_ARG, "no type has that precision and range");
    *result = objects::numeric_type(*thread.process, combiner, precision, range, like).handle;
    return MPI_SUCCESS;
}

template <int combiner>
int create_real(Thread& thread, Raw<int> precision, Raw<int> range, Out<MPI_Datatype> result) {
    return create_numeric<combiner>(thread, precision.value, range.value, result);
}

int create_integer(Thread& thread, Raw<int> range, Out<MPI_Datatype> result) {
    return create_numeric<MPI_COMBINER_F90_INTEGER>(thread, MPI_UNDEFINED, range.value, result);
}

int match_size(Thread& thread, Raw<int> type_class, Raw<int> size, Out<MPI_Datatype> result) {
    const MPI_Datatype type = objects::type_of_size(type_class.value, size.value);
    if (type == MPI_DATATYPE_NULL)
        return objects::fail(thread, nullptr, MPI_ERR_ARG,
                             "no type of class " + std::to_string(type_class.value) + " has " +
                                 std::to_string(size.value) + " bytes");
    *result = type;
    return MPI_SUCCESS;
}

HEDDLE_NAMED(ValueType, AnyType, "value_type")
HEDDLE_NAMED(IndexType, AnyType, "index_type")

/// Finds the pair of two types. There are no pairs without a name in the standard.
int get_value_index(Thread&, ValueType value, IndexType index, Out<MPI_Datatype> result) {
    *result = objects::pair_of(value->handle, index->handle);
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(3, Type_create_f90_real, create_real<MPI_COMBINER_F90_REAL>)
MPI_ENTRY(3, Type_create_f90_complex, create_real<MPI_COMBINER_F90_COMPLEX>)
MPI_ENTRY(2, Type_create_f90_integer, create_integer)
MPI_ENTRY(3, Type_match_size, match_size)
MPI_ENTRY(3, Type_get_value_index, get_value_index)
