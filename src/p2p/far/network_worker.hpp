// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The thread of the library that sleeps on the network instead of all other threads (the worker of
/// P5).
///
/// It makes progress when messages come while threads of the program sleep, or compute. Completions
/// wake the threads that wait for them. While threads of the program poll it leaves the network to
/// them. Now and then it looks whether they still do.
///
/// Thread safety  the constructor and the destructor from one thread, which holds no lock.

#include <atomic>
#include <thread>

namespace heddle::objects {
class Process;
}

namespace heddle::p2p {

class Network;

class NetworkWorker {
public:
    /// Throws std::system_error if there can be no other thread.
    NetworkWorker(objects::Process& process, Network& network);
    ~NetworkWorker();
    NetworkWorker(const NetworkWorker&) = delete;
    NetworkWorker& operator=(const NetworkWorker&) = delete;

private:
    void work();

    objects::Process& process_;
    Network& network_;
    std::atomic<bool> ends_{false};
    std::thread thread_;
};

}  // namespace heddle::p2p
