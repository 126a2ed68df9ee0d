// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Shared memory objects without a name, whose size is settled when they are made.
///
/// Seals          forbid everybody to shrink or enlarge one: whoever maps it can touch all of it for as long
///                as he likes, and whoever finds a descriptor can tell such an object from a file.
/// Errors         by errno.

#include <cstddef>
#include <string>

namespace heddle::platform {

/// A new object of `bytes` zeroes, closed on exec; -1 when there is none to be had. `step` names what was
/// refused then.
int create_shared_memory(const char* name, std::size_t bytes, const char*& step) noexcept;

/// "memfd_create: Too many open files (at most 16, ulimit -n)": `step` was refused with `error`.
std::string why_refused(const char* step, int error);

/// The size of an object as create_shared_memory() makes them; 0: the descriptor is none. Reads nothing of it
/// and changes nothing.
std::size_t shared_memory_bytes(int descriptor) noexcept;

/// Opens the object behind a path of /proc for writing, if it is one of at least that size. Anything else is not
/// even opened for reading before it is known to be a plain file of that size, as opening others may do
/// something. -1: it is not one (EINVAL), or cannot be opened.
int open_shared_memory(const std::string& path, std::size_t least_bytes) noexcept;

/// Closes the descriptor on exec.
void close_on_exec(int descriptor) noexcept;

bool is_socket(int descriptor) noexcept;

}  // namespace heddle::platform
