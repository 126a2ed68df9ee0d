// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How many cores this process may run on, and which.

#include <cstdint>

namespace heddle::platform {

struct Cores {
    int allowed;          ///< that the process is bound to
    int online;           ///< of the machine
    std::uint64_t which;  ///< a digest of the set, not 0
};
Cores cores() noexcept;

}  // namespace heddle::platform
