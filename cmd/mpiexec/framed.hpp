// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A connection between two processes of mpiexec on different hosts that carries frames: a letter
/// and some bytes.
///
/// No function waits. Bytes that the socket does not take are kept until it does. If too many are
/// kept, the peer is given up. The loop calls the handlers. A handler must not destroy its object.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "event_loop.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

class Framed {
public:
    using OnFrame = std::function<void(char kind, std::string_view bytes)>;

    /// Takes a connected socket that does not block. `on_end` is called when the peer has gone or
    /// was given up.
    Framed(EventLoop& loop, UniqueFd socket, OnFrame on_frame, std::function<void()> on_end);
    ~Framed();
    Framed(const Framed&) = delete;
    Framed& operator=(const Framed&) = delete;

    void send(char kind, std::string_view bytes);
    [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }
    /// Closes the connection without a call of `on_end`.
    void close();

private:
    void watch(bool to_write);
    void hear();
    void read();
    void take_frames();
    void write();
    void give_up();
    void end();

    EventLoop& loop_;
    UniqueFd socket_;
    const OnFrame on_frame_;
    const std::function<void()> on_end_;
    std::string in_, out_;
    bool writes_ = false;  ///< the loop watches for room in the socket
};

}  // namespace heddle::mpiexec
