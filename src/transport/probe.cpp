// SPDX-License-Identifier: BSD-3-Clause
#include "transport/probe.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace heddle::transport {
namespace {

constexpr std::chrono::seconds until_next{1};
constexpr std::chrono::seconds until_unreachable{15};

void set_option(int socket, int level, int option, int value) noexcept {
    (void)setsockopt(socket, level, option, &value, sizeof value);
}

/// Has the kernel ask the peer's kernel each second, and never give up by itself.
void ask_for_signs_of_life(int socket) noexcept {
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 1);
    set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
    set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 127);
}

}  // namespace

std::chrono::milliseconds acknowledgement_age(int socket) noexcept {
    tcp_info info{};
    socklen_t bytes = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0)
        return std::chrono::milliseconds::max();
    return std::chrono::milliseconds{info.tcpi_last_ack_recv};
}

Probe::Probe(const std::string& address, std::string greeting) noexcept
    : address_(address), greeting_(std::move(greeting)) {
    begin();
}
Probe::~Probe() { end(); }

void Probe::begin() noexcept {
    sockaddr_storage to{};
    std::memcpy(&to, address_.data(), std::min(address_.size(), sizeof to));
    begun_ = Clock::now();
    connected_ = false;
    error_ = 0;
    if (to.ss_family != AF_INET && to.ss_family != AF_INET6) return;
    socket_ = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return;
    ask_for_signs_of_life(socket_);
    const auto bytes = static_cast<socklen_t>(address_.size());
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), bytes) != 0 &&
        errno != EINPROGRESS)
        error_ = errno;
}

void Probe::end() noexcept {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
}

/// Looks at the connection. If the peer has closed it, it is made anew after a while: the peer is
/// alive, and slow.
void Probe::look() noexcept {
    if (socket_ < 0 && connected_ && Clock::now() - begun_ > until_next) begin();
    if (socket_ < 0 || error_ != 0) return;
    pollfd state{socket_, POLLIN | POLLOUT | POLLRDHUP, 0};
    if (::poll(&state, 1, 0) <= 0) return;
    socklen_t bytes = sizeof error_;
    int error = 0;
    getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (!connected_ && error != 0) {
        error_ = error;
        return;
    }
    if (!std::exchange(connected_, true) && !greeting_.empty())
        (void)::send(socket_, greeting_.data(), greeting_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    look_at_acknowledgement();
    if ((state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) end();
}

void Probe::look_at_acknowledgement() noexcept {
    const std::chrono::milliseconds age = acknowledgement_age(socket_);
    if (age != age.max()) acknowledged_ = std::max(acknowledged_, Clock::now() - age);
}

bool Probe::is_acknowledged(std::chrono::milliseconds within) noexcept {
    return acknowledged_ != Clock::time_point{} && Clock::now() - acknowledged_ <= within;
}

std::string Probe::finding() noexcept {
    look();
    if (error_ != 0) return std::strerror(error_);
    if (socket_ >= 0 && !connected_ && Clock::now() - begun_ > until_unreachable)
        return "no answer for " + std::to_string(until_unreachable.count()) + " s";
    return {};
}

}  // namespace heddle::transport
