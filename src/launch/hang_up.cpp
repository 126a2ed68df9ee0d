// SPDX-License-Identifier: BSD-3-Clause
#include "launch/hang_up.hpp"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <new>

#include "launch/thread_names.hpp"

namespace heddle::launch {
namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 10;
constexpr int patience_ms = 1'000;

}  // namespace

struct HangUp::Watch {
    int descriptor, rank;
    std::atomic<bool> expected{false};
    /// The watch that was made before. A thread may outlive the object that made its watch, so all
    /// are kept.
    const Watch* before = nullptr;

    static void* run(void* self) noexcept {
        pthread_setname_np(pthread_self(), hang_up_thread);
        static_cast<Watch*>(self)->wait();
        return nullptr;
    }
    void wait() const noexcept {
        // Does not wait for words of the launcher, which belong to the thread that has asked.
        pollfd what{descriptor, POLLRDHUP, 0};
        while (poll(&what, 1, -1) < 0 && errno == EINTR) {}
        poll(nullptr, 0, patience_ms);
        if (expected.load(std::memory_order_relaxed)) return;
        std::fprintf(
            stderr, "heddle: the launcher has closed the connection (PMI-1); rank %d ends\n", rank);
        _exit(1);
    }
};

HangUp::HangUp(int descriptor, int rank) noexcept
    : watch_(new(std::nothrow) Watch{descriptor, rank}) {
    static constinit std::atomic<const Watch*> last{nullptr};
    if (watch_ == nullptr) return;
    watch_->before = last.exchange(watch_, std::memory_order_relaxed);
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_t attributes;
    pthread_t thread{};
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's threads
    (void)pthread_create(&thread, &attributes, Watch::run, watch_);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
}

void HangUp::expect() noexcept {
    if (watch_ != nullptr) watch_->expected.store(true, std::memory_order_relaxed);
}

}  // namespace heddle::launch
