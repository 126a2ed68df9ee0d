// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Threads that do the same job together, again and again: a parallel region that says how many
/// threads the system gives it, and whose threads sleep in between.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <limits>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace heddle::stencil {

class Team {
public:
    /// Starts as many threads as the system gives, up to `wanted`: see size(). If there are fewer,
    /// they end again at once. Their stacks may be all the memory there is, and the caller has to
    /// report the lack. A team that lacks threads does not run().
    explicit Team(int wanted) {
        threads_.reserve(static_cast<std::size_t>(wanted));
        try {
            for (int i = 0; i < wanted; ++i) threads_.emplace_back([this, i] { work(i); });
        } catch (const std::system_error& error) {
            why_ = error.code().message();
        }
        size_ = static_cast<int>(threads_.size());
        if (size_ < wanted) end();
    }
    ~Team() { end(); }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return size_; }
    const std::string& why_not_more() const { return why_; }

    /// Calls job(i) in each thread and returns when all have come back.
    void run(const std::function<void(int)>& job) {
        // Relaxed: begin() publishes it.
        busy_.store(static_cast<unsigned>(size()), std::memory_order_relaxed);
        begin(&job);
        // A2: pairs with R2; the results of the threads are visible.
        while (const unsigned left = busy_.load(std::memory_order_acquire))
            sleep_while(busy_, left);
    }

private:
    void end() {
        begin(nullptr);
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }
    void begin(const std::function<void(int)>* job) {
        job_ = job;
        round_.fetch_add(1, std::memory_order_release);  // R1: pairs with A1
        wake(round_, std::numeric_limits<int>::max());
    }
    void work(int i) {
        for (unsigned round = 0;; ++round) {
            // A1: pairs with R1; job_ and busy_ are this round's.
            while (round_.load(std::memory_order_acquire) == round) sleep_while(round_, round);
            if (job_ == nullptr) return;
            (*job_)(i);
            // R2: pairs with A2, and with itself: the last thread hands on the results of all.
            if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) wake(busy_, 1);
        }
    }

    // std::atomic would spin and yield before it sleeps, and so take the core from threads still at
    // work.
    static void sleep_while(std::atomic<unsigned>& word, unsigned value) {
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr);
    }
    static void wake(std::atomic<unsigned>& word, int threads) {
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads);
    }

    std::vector<std::thread> threads_;
    int size_ = 0;
    std::string why_;
    const std::function<void(int)>* job_ = nullptr;  ///< of this round; nullptr ends the threads
    std::atomic<unsigned> round_{0};
    std::atomic<unsigned> busy_{0};
};

}  // namespace heddle::stencil
