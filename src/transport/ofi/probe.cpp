// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/probe.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace heddle::transport::ofi {
namespace {

constexpr std::chrono::seconds until_next{1};
constexpr std::chrono::seconds until_unreachable{15};

}  // namespace

Probe::Probe(const std::string& address) noexcept : address_(address) { begin(); }
Probe::~Probe() { end(); }

void Probe::begin() noexcept {
    sockaddr_storage to{};
    std::memcpy(&to, address_.data(), std::min(address_.size(), sizeof to));
    begun_ = Clock::now();
    listening_ = false;
    refused_ = 0;
    if (to.ss_family != AF_INET && to.ss_family != AF_INET6) return;
    socket_ = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return;
    const auto bytes = static_cast<socklen_t>(address_.size());
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), bytes) != 0 &&
        errno != EINPROGRESS)
        refused_ = errno;
}

void Probe::end() noexcept {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
}

int Probe::error() noexcept {
    if (refused_ != 0 || socket_ < 0) return refused_;
    pollfd ready{socket_, POLLOUT, 0};
    if (::poll(&ready, 1, 0) <= 0) return 0;
    int error = 0;
    socklen_t bytes = sizeof error;
    getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error == 0) {
        listening_ = true;
        end();
    }
    return error;
}

std::string Probe::finding() noexcept {
    const auto passed = Clock::now() - begun_;
    if (listening_) {
        if (passed > until_next) begin();
        return {};
    }
    if (const int error = this->error(); error != 0) return std::strerror(error);
    if (socket_ >= 0 && passed > until_unreachable)
        return "no answer for " + std::to_string(until_unreachable.count()) + " s";
    return {};
}

}  // namespace heddle::transport::ofi
