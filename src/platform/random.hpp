// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Numbers that no other process can guess, or has by chance.

#include <cstddef>

namespace heddle::platform {

/// Fills `bytes` at `to` from the kernel's generator. Where that is refused, from what the kernel gave this
/// program when it started it, and the time: other than anybody else's, if not secret.
void random_bytes(void* to, std::size_t bytes) noexcept;

}  // namespace heddle::platform
