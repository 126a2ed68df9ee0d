// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Datatypes selected by their numeric properties (MPI 5.0, 19.1.5): Fortran's kinds by decimal
/// precision and range, and predefined types by class and size.

#include "mpi.h"
#include "objects/datatype.hpp"

namespace heddle::objects {

/// Returns the predefined type with the values of Fortran's selected_real_kind(p, r) and
/// selected_int_kind(r). `combiner` is MPI_COMBINER_F90_REAL, _COMPLEX or _INTEGER; the last
/// ignores p. MPI_UNDEFINED asks for nothing. Returns MPI_DATATYPE_NULL if there is none.
MPI_Datatype type_of_kind(int combiner, int precision, int range) noexcept;

/// Returns the type for one choice of arguments. It is always the same, and is never destroyed.
/// `like` has its values.
Datatype& numeric_type(Process& process, int combiner, int precision, int range, MPI_Datatype like);

/// Returns MPI_DATATYPE_NULL if there is none.
MPI_Datatype type_of_size(int type_class, int size) noexcept;

}  // namespace heddle::objects
