// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What Lustre says of how a file is spread over its servers: the extended attribute lustre.lov, as
/// lustre_user.h describes it (little endian).

#include <cstddef>
#include <span>

#include "io/file_system.hpp"

namespace heddle::io {

/// Of a file whose layout has several components, the last one, where large files have most of their data. Nothing
/// where it is not understood.
Striping striping_in(std::span<const std::byte> attribute) noexcept;

/// Of an open file; nothing where the file system says nothing.
Striping striping_of(int descriptor) noexcept;

}  // namespace heddle::io
