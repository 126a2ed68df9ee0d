// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Signals and threads of the library's own.

#include <csignal>
#include <ctime>

namespace heddle::platform {

/// Threads that are started meanwhile take no signals: those of the program are for its own threads.
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

/// Meanwhile a system call of this thread that would end the program by the signal fails with its error alone. A signal that
/// was pending before stays so.
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
