// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Threads of the library that run long work: accesses to files while the program computes.
///
/// Threads        come with work that finds none idle, up to `most`, and sleep when there is
///                nothing to do. They are no threads of the program: all signals are blocked in
///                them, and they lead no sleepers. The program stays alone in its process
///                (sync/lone_thread.hpp) while they are idle.
/// Order          work begins in the order in which it came. With one thread it also ends in that
///                order.
/// No room        nothing is dropped: if there is no memory or no thread, submit() runs the work
///                itself.
///
/// Thread safety  submit() from any thread; the destructor when no thread submits. It lets the work
///                end.

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

/// Work that any thread runs once. It may be gone when run() returns.
class Job {
public:
    virtual ~Job() = default;
    virtual void run(core::Thread& thread) noexcept = 0;
    /// Returns whether it sends or receives: the thread then counts as one of the process
    /// meanwhile.
    virtual bool communicates() const noexcept = 0;
};

class Workers {
public:
    /// Makes workers without threads. Throws std::bad_alloc.
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
    // Guarded by lock_:
    std::condition_variable come_;
    std::deque<Job*> jobs_;
    std::vector<std::thread> threads_;
    int idle_ = 0;
    bool ends_ = false;
};

}  // namespace heddle::io
