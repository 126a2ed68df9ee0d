// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The distribution of a file over the servers of Lustre. It is in the extended attribute
/// lustre.lov, as lustre_user.h describes it (little endian).

#include <cstddef>
#include <span>

#include "io/file_system.hpp"

namespace heddle::io {

/// Returns the distribution. If a layout has several components, the last one counts: it has most
/// data of large files. Returns nothing if the attribute is not understood.
Striping striping_in(std::span<const std::byte> attribute) noexcept;

/// Returns the distribution of an open file, or nothing if the file system says nothing.
Striping striping_of(int descriptor) noexcept;

}  // namespace heddle::io
