// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Finds the caller of this library on the stack of the calling thread.

#include <cstdint>
#include <string>

namespace heddle::platform {

/// Returns the exported name of the outermost function by which `library` has called this one.
/// `library` is the beginning of the file's name (without .so). Returns an empty text if another
/// caller has.
///
/// Nothing is recorded for it beforehand. The stack is walked, which takes microseconds.
std::string entry_of(const std::string& library);

/// Returns the address at which the program goes on after its call of this library. Skips faces and
/// language bindings between them. Returns 0 if it cannot be found. Walks the stack, too.
std::uint64_t call_site() noexcept;

}  // namespace heddle::platform
