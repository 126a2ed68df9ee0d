// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How many cores this process may run on, and which.

#include <cstdint>
#include <sched.h>

namespace heddle::platform {

struct Cores {
    int allowed;          ///< that the process is bound to
    int online;           ///< of the machine
    std::uint64_t which;  ///< a digest of the set, not 0
};
Cores cores() noexcept;

/// Where a thread may run.
class CoreSet {
public:
    /// The calling thread.
    CoreSet() noexcept;
    /// From now on the calling thread, too. As it is where either set is not to be had.
    void apply() const noexcept;

private:
    cpu_set_t set_;
    bool known_;
};

}  // namespace heddle::platform
