// SPDX-License-Identifier: BSD-3-Clause
#include "objects/numeric_types.hpp"

#include "objects/basic_types.hpp"
#include "objects/process.hpp"

namespace heddle::objects {
namespace {

struct Kind {
    int precision, range;  ///< at most
    MPI_Datatype real, complex;
};
/// Kinds of reals. Fortran compilers for this processor have its extended format as a separate
/// kind.
const Kind kinds[] = {{6, 37, MPI_REAL4, MPI_COMPLEX8},
                      {15, 307, MPI_REAL8, MPI_COMPLEX16},
                      {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
                      {33, 4931, MPI_REAL16, MPI_COMPLEX32}};

struct IntegerKind {
    int range;
    MPI_Datatype type;
};
const IntegerKind integer_kinds[] = {{2, MPI_INTEGER1},
                                     {4, MPI_INTEGER2},
                                     {9, MPI_INTEGER4},
                                     {18, MPI_INTEGER8},
                                     {38, MPI_INTEGER16}};

struct Sized {
    int type_class, size;
    MPI_Datatype type;
};
const Sized sized[] = {
    {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
    {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
    {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, 2, MPI_REAL2},
    {MPI_TYPECLASS_REAL, 4, MPI_REAL4},         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
    {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},
    {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},   {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
    {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}, {MPIX_TYPECLASS_LOGICAL, 1, MPI_LOGICAL1},
    {MPIX_TYPECLASS_LOGICAL, 2, MPI_LOGICAL2},  {MPIX_TYPECLASS_LOGICAL, 4, MPI_LOGICAL4},
    {MPIX_TYPECLASS_LOGICAL, 8, MPI_LOGICAL8},  {MPIX_TYPECLASS_LOGICAL, 16, MPI_LOGICAL16},
};

/// Defines a type with the values of a basic type under another name.
DefinitionPointer define_like(const Definition& like, int combiner, int precision, int range) {
    Recipe recipe;
    recipe.combiner = combiner;
    recipe.integers = {precision, range};
    if (combiner == MPI_COMBINER_F90_INTEGER) recipe.integers = {range};
    return define_basic(*like.basic, std::move(recipe));
}

bool within(int wanted, int most) noexcept { return wanted == MPI_UNDEFINED || wanted <= most; }

}  // namespace

MPI_Datatype type_of_kind(int combiner, int precision, int range) noexcept {
    if (combiner == MPI_COMBINER_F90_INTEGER) {
        for (const IntegerKind& kind : integer_kinds)
            if (within(range, kind.range)) return kind.type;
        return MPI_DATATYPE_NULL;
    }
    for (const Kind& kind : kinds)
        if (within(precision, kind.precision) && within(range, kind.range))
            return combiner == MPI_COMBINER_F90_REAL ? kind.real : kind.complex;
    return MPI_DATATYPE_NULL;
}

Datatype& numeric_type(Process& process, int combiner, int precision, int range,
                       MPI_Datatype like) {
    const std::array<int, 3> key{combiner, precision, range};
    std::lock_guard guard(process.set_up);
    if (const auto known = process.numeric_types.find(key); known != process.numeric_types.end())
        return *known->second;
    Datatype& type = make_datatype(
        process, define_like(*predefined_definition(like), combiner, precision, range));
    type.committed = true;
    type.permanent = true;
    process.numeric_types.emplace(key, &type);
    return type;
}

MPI_Datatype type_of_size(int type_class, int size) noexcept {
    for (const Sized& type : sized)
        if (type.type_class == type_class && type.size == size) return type.type;
    return MPI_DATATYPE_NULL;
}

}  // namespace heddle::objects
