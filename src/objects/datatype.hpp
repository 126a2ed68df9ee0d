// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A datatype (MPI 5.0, 5): a handle and a name for a definition, which says what it is.
///
/// Whoever moves data asks `contiguous` first: true, and count * size bytes from the buffer's start
/// are the message. Otherwise pack() and unpack() move them (objects/layout.hpp).

#include <cstdint>
#include <string>

#include "core/object.hpp"
#include "mpi.h"
#include "objects/definition.hpp"

namespace heddle::objects {

class Process;

/// Bounds and sizes are the definition's, at hand.
struct Datatype : core::Object, Geometry {
    Datatype* next = nullptr;
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    std::string name;  ///< guarded by the process's set-up lock
    DefinitionPointer definition;
    bool committed = true;
    bool permanent = false;  ///< the user cannot free it
};

/// A new handle for a definition; not committed. Throws std::bad_alloc.
Datatype& make_datatype(Process& process, DefinitionPointer definition);
/// Drops a reference; the last one destroys.
void drop(Process& process, Datatype& type) noexcept;
/// The handle names nothing any more; who still uses the type keeps it.
void close_handle(Process& process, Datatype& type) noexcept;

/// Whole elements in a message of so many bytes; MPI_UNDEFINED if there is a rest.
std::int64_t count_in(std::uint64_t bytes, const Datatype& type) noexcept;
/// Basic elements likewise.
std::int64_t elements_in(std::uint64_t bytes, const Datatype& type) noexcept;
/// Bytes of so many basic elements; negative: they do not fit into 63 bits, or the type has none.
std::int64_t bytes_of_elements(std::int64_t elements, const Datatype& type) noexcept;

}  // namespace heddle::objects
