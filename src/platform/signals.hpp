// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Signals for threads that belong to the library.

#include <csignal>
#include <ctime>

namespace heddle::platform {

/// A scope in which new threads take no signals. Those of the program are for its own threads.
class WithoutSignals {
public:
    WithoutSignals() noexcept {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    WithoutSignals(const WithoutSignals&) = delete;
    WithoutSignals& operator=(const WithoutSignals&) = delete;

private:
    sigset_t before_;
};

/// A scope that holds a signal which would end the program. A system call of this thread that
/// causes it fails with only its error. A signal that was pending before stays pending.
class HeldSignal {
public:
    explicit HeldSignal(int signal) noexcept {
        sigemptyset(&it_);
        sigaddset(&it_, signal);
        pthread_sigmask(SIG_BLOCK, &it_, &before_);
        was_pending_ = is_pending(signal);
        signal_ = signal;
    }
    ~HeldSignal() {
        const timespec at_once{};
        if (!was_pending_ && is_pending(signal_)) sigtimedwait(&it_, nullptr, &at_once);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    HeldSignal(const HeldSignal&) = delete;
    HeldSignal& operator=(const HeldSignal&) = delete;

private:
    static bool is_pending(int signal) noexcept {
        sigset_t pending;
        return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
    }

    sigset_t it_;
    sigset_t before_;
    int signal_;
    bool was_pending_;
};

}  // namespace heddle::platform
