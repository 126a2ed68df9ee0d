// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sockets/loop.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

#include "platform/cpu.hpp"

namespace heddle::transport::sockets {
namespace {

[[noreturn]] void refuse(const char* step) {
    throw std::runtime_error(std::string(step) + ": " + std::strerror(errno));
}

}  // namespace

Loop::Loop()
    : set_(epoll_create1(EPOLL_CLOEXEC)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
    if (!set_) refuse("epoll_create1");
    if (!timer_) refuse("timerfd_create");
    if (!add(timer_.number(), *this, EPOLLIN)) refuse("epoll_ctl");
}

bool Loop::add(int descriptor, Source& source, std::uint32_t what) noexcept {
    epoll_event event{};
    event.events = what;
    event.data.ptr = &source;
    return epoll_ctl(set_.number(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void Loop::change(int descriptor, Source& source, std::uint32_t what) noexcept {
    epoll_event event{};
    event.events = what;
    event.data.ptr = &source;
    (void)epoll_ctl(set_.number(), EPOLL_CTL_MOD, descriptor, &event);
}

void Loop::remove(int descriptor) noexcept {
    (void)epoll_ctl(set_.number(), EPOLL_CTL_DEL, descriptor, nullptr);
}

bool Loop::is_due(std::uint64_t now) noexcept {
    if (left_out_ < most_left_out && now - looked_ < (now - happened_) / part_of_silence) {
        ++left_out_;
        return false;
    }
    left_out_ = 0;
    looked_ = now;
    return true;
}

bool Loop::look() noexcept { return is_due(platform::ticks()) && look_surely(); }

bool Loop::look_surely() noexcept {
    std::array<epoll_event, 32> events;
    const int count = epoll_wait(set_.number(), events.data(), static_cast<int>(events.size()), 0);
    if (count <= 0) return false;
    happened_ = platform::ticks();
    for (const epoll_event& event : std::span(events).first(static_cast<std::size_t>(count)))
        static_cast<Source*>(event.data.ptr)->ready(event.events);
    return true;
}

void Loop::want_ticks(bool on) noexcept {
    const unsigned before = want_ticks_;
    want_ticks_ += on ? 1U : -1U;
    if (before != 0 && want_ticks_ != 0) return;
    itimerspec times{};
    if (on)
        times.it_value.tv_nsec = times.it_interval.tv_nsec = std::chrono::nanoseconds(tick).count();
    timerfd_settime(timer_.number(), 0, &times, nullptr);
}

void Loop::ready(std::uint32_t) noexcept {
    std::uint64_t count = 0;
    if (::read(timer_.number(), &count, sizeof count) > 0) ticked_ = true;
}

bool Loop::ticked() noexcept { return std::exchange(ticked_, false); }

}  // namespace heddle::transport::sockets
