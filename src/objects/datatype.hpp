// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A datatype (MPI 5.0, 5): a handle and a name for a definition, which holds everything else.
///
/// Code that moves data asks `contiguous` first. If it is true, the message is the count * size
/// bytes from the buffer's start. Otherwise pack() and unpack() move the data (objects/layout.hpp).

#include <cstdint>
#include <string>

#include "core/object.hpp"
#include "mpi.h"
#include "objects/definition.hpp"

namespace heddle::objects {

class Process;

/// Bounds and sizes are copies of the definition's.
struct Datatype : core::Object, Geometry {
    Datatype* next = nullptr;
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    std::string name;  ///< guarded by the process's set-up lock
    DefinitionPointer definition;
    bool committed = true;
    bool permanent = false;  ///< the user cannot free it
};

/// Makes a new handle for a definition, which is not committed. Throws std::bad_alloc.
Datatype& make_datatype(Process& process, DefinitionPointer definition);
/// Drops a reference. The last one destroys the datatype.
void drop(Process& process, Datatype& type) noexcept;
/// Makes the handle invalid. Holders of references keep the type.
void close_handle(Process& process, Datatype& type) noexcept;

/// Returns the number of whole elements in a message of `bytes` bytes, or MPI_UNDEFINED if there is
/// a rest.
std::int64_t count_in(std::uint64_t bytes, const Datatype& type) noexcept;
/// Returns the number of basic elements likewise.
std::int64_t elements_in(std::uint64_t bytes, const Datatype& type) noexcept;
/// Returns the bytes of `elements` basic elements. The result is negative if they do not fit into
/// 63 bits, or the type has none.
std::int64_t bytes_of_elements(std::int64_t elements, const Datatype& type) noexcept;

}  // namespace heddle::objects
