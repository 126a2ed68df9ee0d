// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waits for descriptors and signals, and calls their handlers. One thread.
///
/// It uses poll() and not epoll, because standard output may be a plain file, which epoll refuses.

#include <poll.h>
#include <signal.h>

#include <functional>
#include <initializer_list>
#include <vector>

#include "unique_fd.hpp"

namespace heddle::mpiexec {

class EventLoop {
public:
    using Handler = std::function<void()>;

    /// Calls `handler` whenever `fd` has one of `events` (POLLIN, POLLOUT), hangs up or fails.
    void watch(int fd, short events, Handler handler);

    /// Removes `fd`. Handlers may call it. Ignores an fd that is not watched.
    void unwatch(int fd);

    /// Waits at most `milliseconds` (-1: without limit), then calls the handlers of all that is
    /// ready.
    void wait(int milliseconds);

private:
    std::vector<pollfd> polled_;
    std::vector<Handler> handlers_;  ///< parallel to the polled descriptors; empty once unwatched
    void compact();
};

/// Signals as events. They stay blocked during the object's life, so that none is lost between two
/// waits.
class Signals {
public:
    /// Blocks `signals`, except those that are ignored.
    explicit Signals(std::initializer_list<int> signals);

    [[nodiscard]] int fd() const { return fd_.get(); }

    /// Returns the next signal that has arrived, or 0 if there is none.
    [[nodiscard]] int next();

    /// Returns the signal mask for a program that is started.
    [[nodiscard]] static const sigset_t& mask_at_start();

    /// Saves the mask of the process. main() calls it first.
    static void remember_mask();

private:
    UniqueFd fd_;
};

/// Returns the monotonic clock in milliseconds.
long long now_ms() noexcept;

}  // namespace heddle::mpiexec
