// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The predefined datatypes (MPI 5.0, 3.2.2 and 6.9.4): what their values are, in memory and in
/// external32 (MPI 5.0, 14.5.2).

#include <cstdint>
#include <span>

#include "mpi.h"

namespace heddle::objects {

struct Definition;

/// How a value changes on its way to external32, besides the order of its bytes.
enum class External : std::uint8_t {
    same,         ///< not at all
    integer,      ///< the least significant bytes; back with its sign
    character,    ///< the least significant bytes; back with zeros
    long_double,  ///< the IEEE format of 16 bytes
};

/// A predefined type that is no pair.
struct BasicType {
    MPI_Datatype handle;
    const char* name;
    std::int64_t size;
    std::int64_t alignment;
    std::int64_t external_size;
    std::int64_t values;  ///< 2: complex, or two of the same
    External external;
};

/// A predefined type, basic or a pair.
struct PredefinedType {
    MPI_Datatype handle;
    const char* name;
    const Definition* definition;
};
std::span<const PredefinedType> predefined_types();

/// The definition of one of them; nullptr: no such handle.
const Definition* predefined_definition(MPI_Datatype handle);
/// The predefined pair of two types, or MPI_DATATYPE_NULL.
MPI_Datatype pair_of(MPI_Datatype value, MPI_Datatype index) noexcept;

}  // namespace heddle::objects
