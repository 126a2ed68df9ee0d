// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A datatype (MPI 5.0, 5). Predefined types and, later, derived ones.
///
/// The seam for derived types: a type whose elements do not lie densely says `contiguous = false`,
/// and whoever moves bytes asks it to (un)pack instead of copying (p2p/payload.hpp). Until then the
/// gaps of such a type (MPI_DOUBLE_INT) travel along, and bytes_per_element() counts them.

#include <cstdint>
#include <string>

#include "core/object.hpp"
#include "mpi.h"

namespace heddle::objects {

class Process;

/// The unit of basic elements that a type repeats: one of them, or a value and its index.
struct BasicUnit {
    std::int64_t bytes = 1;  ///< as they travel, with the gap of a pair
    std::int64_t first = 0;  ///< bytes of the value of a pair; 0: the unit is one element
};

struct Datatype : core::Object {
    Datatype* next = nullptr;
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    std::string name;         ///< guarded by the process's set-up lock
    std::int64_t size = 0;    ///< bytes of data in one element
    std::int64_t extent = 0;  ///< bytes from one element to the next
    std::int64_t true_extent = 0;  ///< bytes from the first of its data to the last
    BasicUnit unit;
    bool contiguous = true;   ///< size == extent and no gaps: count * size bytes from the start
    bool committed = true;
};

/// `count` elements of `old`, side by side; not committed. nullptr: too large for 63 bits.
Datatype* make_contiguous(Process& process, std::int64_t count, const Datatype& old);
Datatype& duplicate(Process& process, const Datatype& old);
/// Drops a reference; the last one destroys.
void drop(Process& process, Datatype& type) noexcept;

/// Bytes of a message per element.
inline std::int64_t bytes_per_element(const Datatype& type) noexcept {
    return type.contiguous ? type.size : type.extent;
}
/// Whole elements in a message of so many bytes; MPI_UNDEFINED if there is a rest.
std::int64_t count_in(std::uint64_t bytes, const Datatype& type) noexcept;
/// Basic elements likewise.
std::int64_t elements_in(std::uint64_t bytes, const Datatype& type) noexcept;

}  // namespace heddle::objects
