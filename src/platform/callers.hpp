// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Who has called this library: what the stack of the calling thread says.

#include <cstdint>
#include <string>

namespace heddle::platform {

/// The outermost of the functions by which a library, named by how its file is called (without .so), has come
/// into this one: its exported name. Empty if the calling thread has come in otherwise.
///
/// Nothing is kept for it before: the stack is walked, which takes microseconds.
std::string entry_of(const std::string& library);

/// The address at which the program goes on after its call of this library, or of a face or language binding in front
/// of it; 0 if it cannot be found. Likewise.
std::uint64_t call_site() noexcept;

}  // namespace heddle::platform
