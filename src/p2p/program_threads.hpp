// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The threads of this process, and whether each has a core. Besides, the library's thread that
/// starts once a large message could use a spare core (p2p/node_worker.hpp).
///
/// Thread safety  any thread.

#include <atomic>
#include <cstdint>

#include "core/thread.hpp"
#include "p2p/node_cores.hpp"
#include "sync/lone_thread.hpp"

namespace heddle::p2p {

class NodeWorker;

class ProgramThreads {
public:
    ProgramThreads(const node::Mailboxes& mailboxes, std::int32_t rank,
                   sync::LoneThread& lone_thread)
        : lone_thread_(lone_thread), cores_(mailboxes, rank) {}

    /// Counts a thread of the program that has called MPI for the first time (+1), or has ended
    /// (-1).
    void count(int change) noexcept;
    /// Returns the number of threads of the program, and of those of the library that are present.
    std::uint32_t number() const noexcept { return lone_thread_.threads(); }
    /// Notes that the network has a thread, which is counted and hardly ever wants a core.
    void expect_network_worker() noexcept { network_workers_.store(1, relaxed); }
    /// Finds out about processes that have started since.
    void find_out_about_cores() noexcept;
    void look_for_late_processes() noexcept {
        if (!cores_.all_known()) [[unlikely]]
            find_out_about_cores();
    }
    bool short_of_cores() const noexcept { return cores_.are_short(); }
    const NodeCores& cores() const noexcept { return cores_; }
    /// Returns the estimate whether waiting threads take cores from threads with work.
    core::Company& company() noexcept { return company_; }

    /// Has that thread start when the first large message is sent or taken while there is a spare
    /// core. nullptr: none.
    void start_with_large_messages(NodeWorker* worker) noexcept {
        to_start_.store(worker, relaxed);  // no messages have started yet
    }
    void note_large_message() noexcept {
        if (to_start_.load(relaxed) != nullptr) [[unlikely]]
            start_worker();
    }

    /// While it lives, the calling thread of the library counts among those of the process. Such a
    /// thread needs one for all that threads of the program must not do at the same time.
    class Present {
    public:
        explicit Present(ProgramThreads& threads) noexcept : threads_(threads) {
            threads_.count(+1);
        }
        ~Present() { threads_.count(-1); }
        Present(const Present&) = delete;
        Present& operator=(const Present&) = delete;

    private:
        ProgramThreads& threads_;
    };

private:
    void start_worker() noexcept;

    sync::LoneThread& lone_thread_;
    NodeCores cores_;
    std::atomic<int> network_workers_{0};
    std::atomic<NodeWorker*> to_start_{nullptr};  ///< started with the first large message
    alignas(cache_line) core::Company company_;
};

}  // namespace heddle::p2p
