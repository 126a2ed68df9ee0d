// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waits for descriptors and signals, and calls who asked for them. One thread.
///
/// poll() and not epoll, because standard output may be a plain file, which epoll refuses.

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

    /// Calls `handler` whenever `fd` has one of `events` (POLLIN, POLLOUT), hung up or failed.
    void watch(int fd, short events, Handler handler);

    /// Also from inside a handler. An fd that is not watched is ignored.
    void unwatch(int fd);

    /// Waits up to `milliseconds` (-1: as long as it takes) and calls the handlers of what is
    /// ready.
    void wait(int milliseconds);

private:
    std::vector<pollfd> polled_;
    std::vector<Handler> handlers_;  ///< of the same index; empty once unwatched
    void compact();
};

/// Signals as events. They stay blocked while this lives, so none is lost between two waits.
class Signals {
public:
    /// Blocks `signals` but those that are ignored.
    explicit Signals(std::initializer_list<int> signals);

    [[nodiscard]] int fd() const { return fd_.get(); }

    /// The next one that has arrived, 0 when there is none.
    [[nodiscard]] int next();

    /// The mask to give to a program that is started.
    [[nodiscard]] static const sigset_t& mask_at_start();

    /// Remembers the mask of the process; first thing in main().
    static void remember_mask();

private:
    UniqueFd fd_;
};

/// Milliseconds on the monotonic clock.
long long now_ms() noexcept;

}  // namespace heddle::mpiexec
