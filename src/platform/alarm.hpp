// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A thread's sleep that ends when another thread rings, when a descriptor becomes readable, or
/// after a time.
///
/// Thread safety  ring() from any thread, sleep() from one. A ring that comes before the sleep ends
///                it at once.

#include <chrono>

namespace heddle::platform {

class Alarm {
public:
    /// Throws std::system_error.
    Alarm();
    ~Alarm();
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    void ring() noexcept;
    /// Sleeps. A `descriptor` of -1 means none.
    void sleep(int descriptor, std::chrono::milliseconds at_most) noexcept;

private:
    int bell_;
};

}  // namespace heddle::platform
