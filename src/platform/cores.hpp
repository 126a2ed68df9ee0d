// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How many cores this process may run on.

namespace heddle::platform {

struct Cores {
    int allowed;  ///< that the process is bound to
    int online;   ///< of the machine
};
Cores cores() noexcept;

}  // namespace heddle::platform
