// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Threads of the library that run what takes long: accesses to files while the program computes.
///
/// Threads        come with work that finds none idle, up to `most`, and sleep when there is nothing to do. They are
///                no threads of the program: all signals are blocked in them, they lead no sleepers, and the program
///                stays alone in its process (sync/lone_thread.hpp) while they are idle.
/// Order          work begins in the order in which it came. With one thread it is also over in that order.
/// No room        nothing is dropped: where no memory or no thread is to be had, submit() runs the work itself.
///
/// Thread safety  submit() from any thread; the destructor when nobody submits. It lets the work end.

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/thread.hpp"
#include "platform/cores.hpp"

namespace heddle::objects {
class Process;
}

namespace heddle::io {

/// Work is run once, by any thread, and may be gone when run() returns.
class Job {
public:
    virtual ~Job() = default;
    virtual void run(core::Thread& thread) noexcept = 0;
    /// Whether it sends or receives: the thread then counts as one of the process meanwhile.
    virtual bool communicates() const noexcept = 0;
};

class Workers {
public:
    /// Throws std::bad_alloc.
    Workers(objects::Process& process, int most) : process_(process), most_(most) {}
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    void submit(core::Thread& thread, Job& job) noexcept;

private:
    bool enqueue(Job& job) noexcept;
    void work() noexcept;
    void run_all(core::Thread& thread);

    objects::Process& process_;
    const int most_;
    const platform::CoreSet cores_;
    std::mutex lock_;
    // Guarded by it:
    std::condition_variable come_;
    std::deque<Job*> jobs_;
    std::vector<std::thread> threads_;
    int idle_ = 0;
    bool ends_ = false;
};

}  // namespace heddle::io
