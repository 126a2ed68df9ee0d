// SPDX-License-Identifier: BSD-3-Clause
#include "connecting.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace heddle::mpiexec {

Connecting::Connecting(EventLoop& loop, const ReportAddress& address,
                       std::function<void(UniqueFd)> on_connected)
    : loop_(loop), on_connected_(std::move(on_connected)) {
    for (const transport::sockets::Endpoint& endpoint : address.internet) {
        UniqueFd socket = begin_to_connect(endpoint);
        if (!socket) continue;
        const std::size_t index = trying_.size();
        loop_.watch(socket.get(), POLLOUT, [this, index] { answered(index); });
        trying_.push_back(std::move(socket));
    }
}

Connecting::~Connecting() { stop(); }

bool Connecting::is_over() const {
    return std::none_of(trying_.begin(), trying_.end(),
                        [](const UniqueFd& socket) { return static_cast<bool>(socket); });
}

void Connecting::stop() {
    for (UniqueFd& socket : trying_) {
        if (socket) loop_.unwatch(socket.get());
        socket.reset();
    }
}

/// Handles the answer of one address: a connection or an error.
void Connecting::answered(std::size_t index) {
    UniqueFd socket = std::move(trying_[index]);
    loop_.unwatch(socket.get());
    int error = 0;
    socklen_t bytes = sizeof error;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) != 0 || error != 0) return;
    stop();
    on_connected_(std::move(socket));
}

}  // namespace heddle::mpiexec
