// SPDX-License-Identifier: BSD-3-Clause
#include "io/workers.hpp"

#include <cstdio>
#include <exception>
#include <optional>

#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "platform/sanitizers.hpp"
#include "platform/signals.hpp"

namespace heddle::io {

Workers::~Workers() {
    {
        const std::lock_guard guard(lock_);
        ends_ = true;
    }
    come_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Workers::submit(core::Thread& thread, Job& job) noexcept {
    if (!enqueue(job)) job.run(thread);
}

/// Queues a job. Returns false if there is no thread for it.
bool Workers::enqueue(Job& job) noexcept try {
    const platform::WithoutSignals inherited;
    const std::lock_guard guard(lock_);
    jobs_.push_back(&job);
    if (idle_ < static_cast<int>(jobs_.size()) && static_cast<int>(threads_.size()) < most_) {
        try {
            threads_.reserve(static_cast<std::size_t>(most_));
            threads_.emplace_back([this] { work(); });
        } catch (const std::exception&) {
            if (threads_.empty()) {
                jobs_.pop_back();
                return false;
            }
        }
    }
    come_.notify_one();
    return true;
} catch (const std::bad_alloc&) {
    return false;
}

void Workers::work() noexcept {
    const platform::LibraryCode library;
    cores_.apply();
    try {
        core::Thread& thread = objects::attach(process_, true);
        run_all(thread);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "heddle: rank %d: a thread for files ends: %s\n", process_.rank(),
                     problem.what());
        std::fflush(stderr);
    }
}

void Workers::run_all(core::Thread& thread) {
    std::unique_lock guard(lock_);
    for (;;) {
        ++idle_;
        come_.wait(guard, [this] { return ends_ || !jobs_.empty(); });
        --idle_;
        if (jobs_.empty()) return;
        Job* const job = jobs_.front();
        jobs_.pop_front();
        guard.unlock();
        {
            std::optional<p2p::ProgramThreads::Present> present;
            if (job->communicates()) present.emplace(process_.engine->threads());
            job->run(thread);
        }
        guard.lock();
    }
}

}  // namespace heddle::io
