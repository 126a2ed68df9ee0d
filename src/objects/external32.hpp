// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The portable format of MPI_Pack_external (MPI 5.0, 5.3 and 14.5.2): big endian, IEEE, without
/// gaps, in sizes of its own. Integers that are wider in memory lose their most significant bytes.

#include <cstddef>
#include <cstdint>

#include "objects/definition.hpp"

namespace heddle::objects {

/// Moves count * external_size bytes. Both throw std::bad_alloc.
void pack_external(const Definition& type, const std::byte* elements, std::int64_t count,
                   std::byte* packed);
void unpack_external(const Definition& type, std::byte* elements, std::int64_t count,
                     const std::byte* packed);

}  // namespace heddle::objects
