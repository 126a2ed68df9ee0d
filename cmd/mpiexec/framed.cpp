// SPDX-License-Identifier: BSD-3-Clause
#include "framed.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::mpiexec {

namespace {

constexpr std::uint32_t longest_frame = 1 << 24;
constexpr std::size_t most_kept = std::size_t{1} << 26;

/// The size of a frame's head: the number of its bytes, and the letter.
constexpr std::size_t head_bytes = sizeof(std::uint32_t) + 1;

bool is_for_later(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Framed::Framed(EventLoop& loop, UniqueFd socket, OnFrame on_frame, std::function<void()> on_end)
    : loop_(loop),
      socket_(std::move(socket)),
      on_frame_(std::move(on_frame)),
      on_end_(std::move(on_end)) {
    watch(false);
}

Framed::~Framed() { close(); }

void Framed::watch(bool to_write) {
    writes_ = to_write;
    loop_.watch(socket_.get(), static_cast<short>(POLLIN | (to_write ? POLLOUT : 0)),
                [this] { hear(); });
}

void Framed::close() {
    if (!socket_) return;
    loop_.unwatch(socket_.get());
    socket_.reset();
}

void Framed::end() {
    close();
    on_end_();
}

void Framed::hear() {
    write();
    if (socket_) read();
}

void Framed::read() {
    std::array<char, 1 << 16> bytes;
    const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && is_for_later(errno)) return;
    if (count <= 0) return end();
    in_.append(bytes.data(), static_cast<std::size_t>(count));
    take_frames();
}

void Framed::take_frames() {
    std::size_t taken = 0;
    while (socket_ && in_.size() - taken >= head_bytes) {
        std::uint32_t length = 0;
        std::memcpy(&length, in_.data() + taken, sizeof length);
        if (length > longest_frame) return end();
        if (in_.size() - taken < head_bytes + length) break;
        const char kind = in_[taken + sizeof length];
        const std::string bytes = in_.substr(taken + head_bytes, length);
        taken += head_bytes + length;
        on_frame_(kind, bytes);
    }
    in_.erase(0, taken);
}

void Framed::send(char kind, std::string_view bytes) {
    if (!socket_) return;
    const auto length = static_cast<std::uint32_t>(bytes.size());
    out_.append(reinterpret_cast<const char*>(&length), sizeof length);
    out_.push_back(kind);
    out_.append(bytes);
    write();
}

/// Gives the peer up. read() then finds the end of the connection.
void Framed::give_up() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    out_.clear();
}

void Framed::write() {
    while (!out_.empty()) {
        const ssize_t count =
            ::send(socket_.get(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0 && !is_for_later(errno)) give_up();
        if (count < 0) break;
        out_.erase(0, static_cast<std::size_t>(count));
    }
    if (out_.size() > most_kept) give_up();
    if (writes_ == !out_.empty()) return;
    loop_.unwatch(socket_.get());
    watch(!out_.empty());
}

}  // namespace heddle::mpiexec
