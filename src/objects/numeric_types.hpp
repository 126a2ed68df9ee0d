// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Datatypes by what their numbers can do (MPI 5.0, 19.1.5): Fortran's kinds by decimal precision and
/// range, and predefined types by class and size.

#include "mpi.h"
#include "objects/datatype.hpp"

namespace heddle::objects {

/// The predefined type with the values of Fortran's selected_real_kind(p, r) and
/// selected_int_kind(r); `combiner` is MPI_COMBINER_F90_REAL, _COMPLEX or _INTEGER (p is not looked at).
/// MPI_UNDEFINED asks for nothing. MPI_DATATYPE_NULL: there is none.
MPI_Datatype type_of_kind(int combiner, int precision, int range) noexcept;

/// The type for one choice of arguments: always the same, there for ever. `like` has its values.
Datatype& numeric_type(Process& process, int combiner, int precision, int range, MPI_Datatype like);

/// MPI_DATATYPE_NULL: there is none.
MPI_Datatype type_of_size(int type_class, int size) noexcept;

}  // namespace heddle::objects
