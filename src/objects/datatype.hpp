// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A datatype (MPI 5.0, 5). Predefined types and, later, derived ones.
///
/// The seam for derived types: a type whose elements do not lie densely says `contiguous = false`,
/// and whoever moves bytes asks it to (un)pack instead of copying (p2p/payload.hpp).

#include <cstdint>

#include "core/object.hpp"
#include "mpi.h"

namespace heddle::objects {

struct Datatype : core::Object {
    Datatype* next = nullptr;
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    const char* name = "";
    std::int64_t size = 0;    ///< bytes of data in one element
    std::int64_t extent = 0;  ///< bytes from one element to the next
    bool contiguous = true;   ///< size == extent and no gaps: count * size bytes from the start
    bool committed = true;
};

}  // namespace heddle::objects
