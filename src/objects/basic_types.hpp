// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The predefined datatypes (MPI 5.0, 3.2.2 and 6.9.4): the format of their values in memory and in
/// external32 (MPI 5.0, 14.5.2).

#include <cstdint>
#include <span>

#include "mpi.h"

namespace heddle::objects {

struct Definition;

/// The change of a value by the conversion to external32, besides the order of its bytes.
enum class External : std::uint8_t {
    same,         ///< no change
    integer,      ///< the least significant bytes; on the return the sign is extended
    character,    ///< the least significant bytes; on the return zeros are added
    long_double,  ///< the IEEE format of 16 bytes
};

/// A predefined type that is no pair.
struct BasicType {
    MPI_Datatype handle;
    const char* name;
    std::int64_t size;
    std::int64_t alignment;
    std::int64_t external_size;
    std::int64_t values;  ///< 2 for complex types, and for two values of one type
    External external;
};

/// A predefined type, basic or a pair.
struct PredefinedType {
    MPI_Datatype handle;
    const char* name;
    const Definition* definition;
};
std::span<const PredefinedType> predefined_types();

/// Returns the definition of a predefined type, or nullptr if the handle names none.
const Definition* predefined_definition(MPI_Datatype handle);
/// Returns the predefined pair of two types, or MPI_DATATYPE_NULL.
MPI_Datatype pair_of(MPI_Datatype value, MPI_Datatype index) noexcept;

}  // namespace heddle::objects
