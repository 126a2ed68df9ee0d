// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sockets/incoming.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "transport/sockets/acceptor.hpp"

namespace heddle::transport::sockets {

/// What was handed out of its chunks stays readable.
Incoming::~Incoming() {
    for (Chunk* chunk : {chunk_, before_}) {
        if (chunk == nullptr) continue;
        chunk->owner = nullptr;
        if (chunk->unreleased == 0) acceptor_.chunks().put(*chunk);
    }
}

void Incoming::ready(std::uint32_t) noexcept {
    if (!known_) return meet();
    // Before more is read, what is there is to be taken.
    if (!listed) read();
}

void Incoming::meet() noexcept {
    const ssize_t got = recv(descriptor(), reinterpret_cast<std::byte*>(&hello_) + hello_bytes_,
                             sizeof hello_ - hello_bytes_, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return acceptor_.refuse(*this);
    hello_bytes_ += static_cast<std::size_t>(got);
    if (hello_bytes_ < sizeof hello_) return;
    if (hello_.magic != Hello::right_magic || !acceptor_.is_secret(hello_.secret) || !answer())
        return acceptor_.refuse(*this);
    known_ = true;
    acceptor_.let_in(*this);
}

bool Incoming::answer() noexcept {
    return !internet_ ||
        ::send(descriptor(), &welcome, sizeof welcome, MSG_NOSIGNAL | MSG_DONTWAIT) ==
        sizeof welcome;
}

void Incoming::read() noexcept {
    if (!make_room()) return acceptor_.pause(*this);
    const ssize_t got =
        recv(descriptor(), chunk_->bytes.get() + end_, chunk_bytes - end_, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return drop_chunk();
    if (got <= 0 || hello_.kind != Hello::Kind::batches)
        return acceptor_.end(*this, got < 0 ? errno : begin_ != end_ ? ECONNRESET : 0);
    end_ += static_cast<std::size_t>(got);
    if (is_broken()) return acceptor_.end(*this, EPROTO);
    if (has_batch()) acceptor_.list(*this);
}

bool Incoming::is_broken() const noexcept {
    Frame next{};
    return chunk_ != nullptr && frame(next) && !next.is_right();
}

/// Returns false if its beginning has not come.
bool Incoming::frame(Frame& frame) const noexcept {
    if (end_ - begin_ < sizeof frame) return false;
    std::memcpy(&frame, chunk_->bytes.get() + begin_, sizeof frame);
    return true;
}

bool Incoming::has_batch() const noexcept {
    Frame next{};
    return chunk_ != nullptr && frame(next) && next.is_right() && end_ - begin_ >= next.whole();
}

bool Incoming::take(WireEvent& event) noexcept {
    Frame next{};
    if (!has_batch() || !frame(next)) return false;
    Receipt* const receipt = acceptor_.chunks().hand_out(*chunk_);
    if (receipt == nullptr) return false;
    event = {receipt, {chunk_->bytes.get() + begin_ + sizeof next, next.bytes}, 0};
    begin_ += next.whole();
    return true;
}

bool Incoming::has_room_for_frame() const noexcept {
    Frame next{};
    return begin_ + (frame(next) ? next.whole() : most_frame) <= chunk_bytes;
}

bool Incoming::make_room() noexcept {
    if (chunk_ != nullptr && has_room_for_frame()) return true;
    const std::size_t rest = end_ - begin_;
    if (chunk_ != nullptr && chunk_->unreleased == 0) {
        std::memmove(chunk_->bytes.get(), chunk_->bytes.get() + begin_, rest);
    } else {
        if (before_ != nullptr) return false;
        Chunk* const fresh = acceptor_.chunks().take(*this);
        if (fresh == nullptr) return false;
        if (rest != 0) std::memcpy(fresh->bytes.get(), chunk_->bytes.get() + begin_, rest);
        before_ = std::exchange(chunk_, fresh);
    }
    begin_ = 0;
    end_ = rest;
    return true;
}

/// If nothing of it is needed any more.
void Incoming::drop_chunk() noexcept {
    if (chunk_ == nullptr || chunk_->unreleased != 0 || begin_ != end_) return;
    acceptor_.chunks().put(*std::exchange(chunk_, nullptr));
    begin_ = end_ = 0;
}

void Incoming::released(Chunk& chunk) noexcept {
    if (&chunk == before_)
        acceptor_.chunks().put(*std::exchange(before_, nullptr));
    else
        drop_chunk();
}

}  // namespace heddle::transport::sockets
