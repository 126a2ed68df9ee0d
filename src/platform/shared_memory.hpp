// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Shared memory objects without a name, whose size is fixed when they are made.
///
/// Seals          forbid every process to shrink or enlarge an object. A process that maps it can
///                touch all of it at any time. A process that gets a descriptor can tell the object
///                from a file.
/// Errors         by errno.

#include <cstddef>
#include <string>

namespace heddle::platform {

/// Returns a new object of `bytes` zeroes, closed on exec. Returns -1 if none can be made; `step`
/// then names the call that was refused.
int create_shared_memory(const char* name, std::size_t bytes, const char*& step) noexcept;

/// Returns a text such as "memfd_create: Too many open files (at most 16, ulimit -n)": `step` was
/// refused with `error`.
std::string why_refused(const char* step, int error);

/// Returns the size of an object of create_shared_memory(), or 0 if the descriptor is no such
/// object. Reads and changes nothing in it.
std::size_t shared_memory_bytes(int descriptor) noexcept;

/// Opens the object behind a path of /proc for writing, if it is one of at least that size. Opening
/// other files may have effects. So the path must be known as a plain file of that size before it
/// is opened, even for reading. Returns -1 if it is no such object (EINVAL), or cannot be opened.
int open_shared_memory(const std::string& path, std::size_t least_bytes) noexcept;

/// Closes the descriptor on exec.
void close_on_exec(int descriptor) noexcept;

bool is_socket(int descriptor) noexcept;

}  // namespace heddle::platform
