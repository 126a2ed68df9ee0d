// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A connection between two processes of mpiexec on different hosts that carries frames: a letter and some bytes.
///
/// Nothing here waits: what the socket does not take now is kept until it does. A peer that does not read is given up
/// when too much has been kept. Handlers are called by the loop; from within one the object must not be destroyed.

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

    /// Of a connected socket that does not block. `on_end`: the peer has gone, or was given up.
    Framed(EventLoop& loop, UniqueFd socket, OnFrame on_frame, std::function<void()> on_end);
    ~Framed();
    Framed(const Framed&) = delete;
    Framed& operator=(const Framed&) = delete;

    void send(char kind, std::string_view bytes);
    [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }
    /// Without a call of `on_end`.
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
    bool writes_ = false;  ///< the loop says when the socket takes more
};

}  // namespace heddle::mpiexec
