// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A scope in which threads share one core.

#include <sched.h>

namespace heddle::testing {

/// Restricts the calling thread, and threads that it starts, to one core.
class OnOneCore {
public:
    OnOneCore() {
        sched_getaffinity(0, sizeof before_, &before_);
        int core = 0;
        while (!CPU_ISSET(core, &before_)) ++core;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    ~OnOneCore() { sched_setaffinity(0, sizeof before_, &before_); }
    OnOneCore(const OnOneCore&) = delete;
    OnOneCore& operator=(const OnOneCore&) = delete;

private:
    cpu_set_t before_;
};

}  // namespace heddle::testing
