// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The thread of the library that carries messages of the node while no thread of the program does:
/// the worker of P5.
///
/// Asleep         until a large message is announced, by this process or to it, or its receiver
///                answers.
/// Awake          it naps, and looks whether threads of the program have made progress meanwhile.
///                If none has, the worker makes it. If there has been none to make for a while, it
///                falls asleep again. No process rings while it naps. So a row of messages costs
///                those that announce them nothing.
/// Others         a napping worker does not count. A thread that is alone in its process
///                (sync/lone_thread.hpp) stays alone. No thread depends on the worker: a thread
///                that waits for a message finds it if the worker misses it.
///
/// Thread safety  start() from one thread, or by the engine once
///                (ProgramThreads::start_with_large_messages()). The destructor runs when neither
///                can happen any more. No lock is held then.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "platform/cores.hpp"

namespace heddle::core {
struct Thread;
}
namespace heddle::objects {
class Process;
}
namespace heddle::node {
class Mailboxes;
}

namespace heddle::p2p {

/// Wakes the workers of both processes. A large message from process `rank` to another one of its
/// node has been announced.
void wake_workers(const node::Mailboxes& mailboxes, std::int32_t rank,
                  std::int32_t process) noexcept;

/// Warns that the process goes on without a worker.
void say_no_worker(const objects::Process& process, const char* why) noexcept;

class NodeWorker {
public:
    explicit NodeWorker(objects::Process& process) noexcept : process_(process) {}
    ~NodeWorker();
    /// Throws std::system_error if there can be no other thread.
    void start();
    NodeWorker(const NodeWorker&) = delete;
    NodeWorker& operator=(const NodeWorker&) = delete;

private:
    void work() noexcept;
    void stay_awake(core::Thread& thread);
    bool nap(std::chrono::microseconds time);

    objects::Process& process_;
    /// Cores of the thread that made this. The starting thread may be bound to fewer.
    const platform::CoreSet cores_;
    std::mutex lock_;
    std::condition_variable ending_;
    bool ends_ = false;  ///< guarded by lock_
    std::thread thread_;
};

}  // namespace heddle::p2p
