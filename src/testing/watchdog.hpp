// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Ends a test that hangs, and says where it hung. It measures nothing: as long as progress() is
/// called now and then, the test may take any time.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "testing/rounds.hpp"

namespace heddle::testing {

class Watchdog {
public:
    explicit Watchdog(const char* what, std::chrono::seconds patience = usual_patience)
        : what_(what), patience_(patience), thread_([this] { watch(); }) {}
    ~Watchdog() {
        {
            std::lock_guard guard(mutex_);
            over_ = true;
        }
        ended_.notify_one();
        thread_.join();
    }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// Notes progress, from any thread.
    void progress() noexcept { steps_.fetch_add(1, std::memory_order_relaxed); }

private:
    /// ThreadSanitizer takes minutes for what usually takes a second, on a busy machine.
    static constexpr std::chrono::seconds usual_patience{under_thread_sanitizer ? 300 : 60};

    void watch() {
        std::unique_lock guard(mutex_);
        for (std::uint64_t seen = 0;;) {
            if (ended_.wait_for(guard, patience_, [this] { return over_; })) return;
            const std::uint64_t now = steps_.load(std::memory_order_relaxed);
            if (now == seen) {
                std::fprintf(stderr, "watchdog: %s: nothing has happened after step %llu\n", what_,
                             static_cast<unsigned long long>(now));
                std::abort();
            }
            seen = now;
        }
    }

    const char* what_;
    std::chrono::seconds patience_;
    std::atomic<std::uint64_t> steps_{0};
    std::mutex mutex_;
    std::condition_variable ended_;
    bool over_ = false;
    std::thread thread_;
};

}  // namespace heddle::testing
