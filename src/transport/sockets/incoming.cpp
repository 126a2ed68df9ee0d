// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sockets/incoming.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "transport/sockets/acceptor.hpp"

namespace heddle::transport::sockets {

/// Batches that were handed out of its chunks stay readable.
Incoming::~Incoming() {
    if (ring_ != nullptr) acceptor_.count_ring(false);
    for (Chunk* chunk : {chunk_, before_}) {
        if (chunk == nullptr) continue;
        chunk->owner = nullptr;
        if (chunk->unreleased == 0) acceptor_.chunks().put(*chunk);
    }
}

void Incoming::ready(std::uint32_t) noexcept {
    if (!known_) return meet();
    if (uses_ring_) return hear_bells();
    // Batches that are there are to be taken before more is read.
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
    const ssize_t got = receive(chunk_->bytes.get() + end_, chunk_bytes - end_);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return drop_chunk();
    if (got <= 0 || hello_.kind != Hello::Kind::batches)
        return acceptor_.end(*this, got < 0 ? errno : begin_ != end_ ? ECONNRESET : 0);
    end_ += static_cast<std::size_t>(got);
    heed_frames();
    if (is_broken()) return acceptor_.end(*this, EPROTO);
    if (has_batch()) acceptor_.list(*this);
}

/// Receives as recv() does; a descriptor may come with the bytes.
ssize_t Incoming::receive(std::byte* to, std::size_t most) noexcept {
    if (internet_) return recv(descriptor(), to, most, MSG_DONTWAIT);
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
    iovec bytes{to, most};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = recvmsg(descriptor(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got > 0 && message.msg_controllen != 0) keep_descriptor(message);
    return got;
}

void Incoming::keep_descriptor(msghdr& message) noexcept {
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
        header->cmsg_len != CMSG_LEN(sizeof(int)))
        return;
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header), sizeof number);
    offered_ = Descriptor(number);
}

/// Takes the frames in front that are no batches.
void Incoming::heed_frames() noexcept {
    for (Frame next{}; !internet_ && !uses_ring_ && frame(next) && next.is_about_ring();) {
        begin_ += sizeof next;
        if (next.kind == Frame::Kind::offer) {
            consider_offer();
            continue;
        }
        // It must be the last one by the socket.
        if (ring_ == nullptr || begin_ != end_) {
            broken_ = true;
            return;
        }
        uses_ring_ = true;
        drop_chunk();
        acceptor_.heat(*this);
    }
}

/// Accepts the ring, or refuses by no answer: then batches still come by the socket.
void Incoming::consider_offer() noexcept {
    const Descriptor offered = std::move(offered_);
    if (ring_ != nullptr || !acceptor_.wants_ring()) return;
    RingMemory memory = RingMemory::of(offered);
    if (!memory) return;
    ring_.reset(new (std::nothrow) ReceivingRing(std::move(memory)));
    if (ring_ == nullptr) return;
    acceptor_.count_ring(true);
    (void)::send(descriptor(), &accepted, sizeof accepted, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Incoming::hear_bells() noexcept {
    std::array<std::byte, 64> bells;
    const ssize_t got = recv(descriptor(), bells.data(), bells.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return acceptor_.end(*this, got < 0 ? errno : 0);
    ring_->consumer.go_hot();
    acceptor_.heat(*this);
}

bool Incoming::is_broken() const noexcept {
    if (uses_ring_) return ring_->consumer.is_broken();
    Frame next{};
    return broken_ ||
        (chunk_ != nullptr && frame(next) && !next.is_batch() &&
         (internet_ || !next.is_about_ring()));
}

/// Returns false if the frame's beginning has not come.
bool Incoming::frame(Frame& frame) const noexcept {
    if (end_ - begin_ < sizeof frame) return false;
    std::memcpy(&frame, chunk_->bytes.get() + begin_, sizeof frame);
    return true;
}

bool Incoming::has_batch() noexcept {
    if (uses_ring_) return ring_->consumer.look();
    Frame next{};
    return chunk_ != nullptr && frame(next) && next.is_batch() && end_ - begin_ >= next.whole();
}

bool Incoming::take(WireEvent& event) noexcept {
    if (uses_ring_) return take_from_ring(event);
    Frame next{};
    if (!has_batch() || !frame(next)) return false;
    Receipt* const receipt = acceptor_.chunks().hand_out(chunk_);
    if (receipt == nullptr) return false;
    event = {receipt, {chunk_->bytes.get() + begin_ + sizeof next, next.bytes}, 0};
    begin_ += next.whole();
    heed_frames();
    return true;
}

bool Incoming::take_from_ring(WireEvent& event) noexcept {
    Receipt* const receipt = acceptor_.chunks().hand_out(nullptr);
    if (receipt == nullptr) return false;
    const std::span<std::byte> batch = ring_->consumer.take();
    if (batch.empty()) {
        (void)acceptor_.chunks().take_back(*receipt);
        return false;
    }
    receipt->from = this;
    receipt->end = ring_->consumer.position();
    (first_out_ == nullptr ? first_out_ : last_out_->next) = receipt;
    last_out_ = receipt;
    event = {receipt, batch, 0};
    return true;
}

void Incoming::release(Receipt& receipt) noexcept {
    receipt.is_over = true;
    if (&receipt != first_out_) return;
    std::uint64_t end = 0;
    while (first_out_ != nullptr && first_out_->is_over) {
        Receipt& over = *std::exchange(first_out_, first_out_->next);
        end = over.end;
        (void)acceptor_.chunks().take_back(over);
    }
    if (ring_->consumer.free(end))
        (void)::send(descriptor(), &bell, sizeof bell, MSG_NOSIGNAL | MSG_DONTWAIT);
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

/// Drops the chunk if nothing of it is needed any more.
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
