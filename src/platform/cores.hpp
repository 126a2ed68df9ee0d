// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The cores that this process may run on.

#include <cstdint>
#include <sched.h>

namespace heddle::platform {

struct Cores {
    int allowed;          ///< number that the process is bound to
    int online;           ///< number in the machine
    std::uint64_t which;  ///< a digest of the set, not 0
};
Cores cores() noexcept;

/// The cores that a thread may run on.
class CoreSet {
public:
    /// Takes those of the calling thread.
    CoreSet() noexcept;
    /// Binds the calling thread to them. Changes nothing if either set cannot be read.
    void apply() const noexcept;

private:
    cpu_set_t set_;
    bool known_;
};

}  // namespace heddle::platform
