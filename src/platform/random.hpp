// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Numbers that other processes cannot guess, and do not have by chance.

#include <cstddef>

namespace heddle::platform {

/// Fills `bytes` at `to` from the kernel's generator. If that is refused, it uses random bytes that
/// the kernel gave this program at its start, and the time. These differ from those of all other
/// processes, but are not secret.
void random_bytes(void* to, std::size_t bytes) noexcept;

}  // namespace heddle::platform
