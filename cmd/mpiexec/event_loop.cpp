// SPDX-License-Identifier: BSD-3-Clause
#include "event_loop.hpp"

#include <sys/signalfd.h>

#include <cerrno>
#include <ctime>

#include "say.hpp"

namespace heddle::mpiexec {

namespace {

sigset_t original_mask;  // the mask of the process as the kernel has it

/// Returns true if the signal is ignored, as nohup(1) sets it up. Blocking an ignored signal would
/// make it pending.
bool is_ignored(int signal) {
    struct sigaction action{};
    ::sigaction(signal, nullptr, &action);
    return action.sa_handler == SIG_IGN;
}

}  // namespace

void EventLoop::watch(int fd, short events, Handler handler) {
    polled_.push_back(pollfd{fd, events, 0});
    handlers_.push_back(std::move(handler));
}

void EventLoop::unwatch(int fd) {
    for (pollfd& one : polled_)
        if (one.fd == fd) one.fd = -1;  // poll() skips it; compact() removes it with its handler
}

void EventLoop::compact() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < polled_.size(); ++i) {
        if (polled_[i].fd < 0) continue;
        if (kept != i) {
            polled_[kept] = polled_[i];
            handlers_[kept] = std::move(handlers_[i]);
        }
        ++kept;
    }
    polled_.resize(kept);
    handlers_.resize(kept);
}

void EventLoop::wait(int milliseconds) {
    compact();
    const int ready = ::poll(polled_.data(), polled_.size(), milliseconds);
    if (ready <= 0) return;
    // Handlers may add descriptors, which wait for the next call.
    const std::size_t count = polled_.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (polled_[i].fd < 0 || polled_[i].revents == 0) continue;
        polled_[i].revents = 0;
        const Handler handler = handlers_[i];  // a copy: watch() may move the vector
        handler();
    }
}

Signals::Signals(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : signals)
        if (!is_ignored(signal)) sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_) throw Failure(exit_failed, fmt::format("signalfd: {}", error_text(errno)));
}

int Signals::next() {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return 0;
    return static_cast<int>(info.ssi_signo);
}

void Signals::remember_mask() { sigprocmask(SIG_BLOCK, nullptr, &original_mask); }
const sigset_t& Signals::mask_at_start() { return original_mask; }

long long now_ms() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<long long>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

}  // namespace heddle::mpiexec
