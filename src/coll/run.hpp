// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Running schedules.

#include "coll/schedule.hpp"
#include "core/thread.hpp"

namespace heddle::coll {

/// The next collective call of the thread on the communicator, for as long as the object lives. The
/// call is blocking. A call that fails before it begins does not count.
class Numbered {
public:
    Numbered(core::Thread& thread, objects::Communicator& communicator) noexcept
        : thread_(thread), communicator_(communicator) {
        thread.collective = ++communicator.calls;
    }
    ~Numbered() {
        thread_.collective = 0;
        if (!began_) [[unlikely]]
            --communicator_.calls;
    }
    void begin() noexcept { began_ = true; }
    Numbered(const Numbered&) = delete;
    Numbered& operator=(const Numbered&) = delete;

private:
    core::Thread& thread_;
    objects::Communicator& communicator_;
    bool began_ = false;
};

/// Runs the schedule to its end, and sleeps while it waits. Returns MPI_SUCCESS or the first error,
/// which has been raised. A message that is too long does not stop it: the other processes do not
/// know of the error, and still get what they wait for. An exception that leaves an operation of
/// the program does not stop it either: it passes through at the end.
int run(core::Thread& thread, const Schedule& schedule);

}  // namespace heddle::coll
