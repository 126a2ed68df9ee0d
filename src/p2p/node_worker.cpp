// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/node_worker.hpp"

#include "node/mailboxes.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <utility>

#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "platform/sanitizers.hpp"
#include "platform/signals.hpp"

namespace heddle::p2p {
namespace {

using std::chrono::microseconds;

constexpr microseconds while_they_compute{200};  ///< and messages come
constexpr microseconds while_they_poll{1000};    ///< or no messages come
constexpr microseconds while_they_sleep{8000};
constexpr microseconds until_sleep{100'000};  ///< without any work

/// Returns how often threads of the program have asked for progress.
std::uint64_t polls_of_others(const objects::Process& process, const core::Thread& mine) {
    std::uint64_t polls = 0;
    for (std::size_t i = 0; const core::Thread* thread = process.threads.at_place(i); ++i)
        if (thread != &mine)
            polls += thread->progress.progress_productive.value() +
                thread->progress.progress_empty.value();
    return polls;
}

}  // namespace

void wake_workers(const node::Mailboxes& mailboxes, std::int32_t rank,
                  std::int32_t process) noexcept {
    std::atomic_thread_fence(seq_cst);  // the message before the look at the bell
    mailboxes.of(static_cast<std::size_t>(process)).worker.ring();
    mailboxes.of(static_cast<std::size_t>(rank)).worker.ring();
}

void say_no_worker(const objects::Process& process, const char* why) noexcept {
    std::fprintf(stderr, "heddle: rank %d has no worker (HEDDLE_WORKER): %s\n", process.rank(),
                 why);
}

void NodeWorker::start() {
    const platform::WithoutSignals inherited;
    thread_ = std::thread([this] { work(); });
}

NodeWorker::~NodeWorker() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard guard(lock_);
        ends_ = true;
    }
    ending_.notify_one();
    process_.engine->base().mailbox().worker.ring();
    thread_.join();
}

/// Naps. Returns false if the destructor has ended it.
bool NodeWorker::nap(microseconds time) {
    std::unique_lock guard(lock_);
    return !ending_.wait_for(guard, time, [this] { return ends_; });
}

void NodeWorker::work() noexcept try {
    const platform::LibraryCode library;
    cores_.apply();
    core::Thread& thread = objects::attach(process_, true);
    sync::Doorbell& bell = process_.engine->base().mailbox().worker;
    sync::Naps naps;
    for (;;) {
        bell.prepare();
        if (!nap(microseconds{0})) break;  // the destructor has rung before
        // Messages that came before the bell was prepared have not rung.
        const bool anything = process_.engine->polling().poll_for_program(thread);
        if (!anything) (void)bell.sleep(naps);
        bell.cancel();
        stay_awake(thread);
    }
    bell.cancel();
} catch (const std::exception& problem) {
    say_no_worker(process_, problem.what());  // the thread could not be attached
}

void NodeWorker::stay_awake(core::Thread& thread) {
    Engine& engine = *process_.engine;
    std::uint64_t polls = polls_of_others(process_, thread);
    microseconds idle{0}, time = while_they_compute;
    while (idle < until_sleep && nap(time)) {
        idle += time;
        const std::uint64_t now = polls_of_others(process_, thread);
        if (std::exchange(polls, now) != now) {
            time = while_they_poll;
        } else if (engine.polling().lot().leader() == progress::Lot::Leader::asleep) {
            time = std::min(2 * time, while_they_sleep);  // messages ring for the leader
        } else if (engine.polling().poll_for_program(thread)) {
            idle = microseconds{0};
            time = while_they_compute;
        } else {
            time = std::min(2 * time, while_they_poll);
        }
    }
}

}  // namespace heddle::p2p
