// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Signals and threads of the library's own.

#include <csignal>

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

}  // namespace heddle::platform
