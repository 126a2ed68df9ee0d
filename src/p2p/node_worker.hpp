// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The thread of the library that carries messages of the node while no thread of the program does: the worker of P5.
///
/// Asleep         until a large message is announced, by this process or to it, or the receiver of one answers.
/// Awake          it naps, and looks whether threads of the program have made progress meanwhile. If none has, it makes
///                what there is to be made. When that has been nothing for a while, it falls asleep again. Nobody rings
///                while it naps, so that messages in a row cost those who announce them nothing.
/// Others         while it naps it is not there: a thread that is alone in its process (sync/lone_thread.hpp) stays alone.
///                Nobody depends on it: a message that it misses is found by whoever waits for it.
///
/// Thread safety  start() from one thread, or by the engine once (ProgramThreads::start_with_large_messages()); the destructor
///                when neither can happen any more. No lock is held then.

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

/// A large message from process `rank` to another of its node has been announced: wakes the workers of both.
void wake_workers(const node::Mailboxes& mailboxes, std::int32_t rank,
                  std::int32_t process) noexcept;

/// Warns that the process goes on without one.
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
    const platform::CoreSet cores_;  ///< of who has made this: who starts it may be bound to fewer
    std::mutex lock_;
    std::condition_variable ending_;
    bool ends_ = false;  ///< guarded by it
    std::thread thread_;
};

}  // namespace heddle::p2p
