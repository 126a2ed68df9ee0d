// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// One message that comes through a ring of payload, and has been matched (node/payload_ring.hpp).
///
/// Patience       a receiver takes pieces as they come. If none comes for some microseconds, the
///                sender computes, or has lost its core. Or the ring is full of messages that no
///                receive takes. The receiver then closes the message, and gets the rest by another
///                method.
///
/// Thread safety  one thread, which holds no lock.

#include <algorithm>
#include <cstdint>

#include "core/request.hpp"
#include "node/payload_ring.hpp"
#include "p2p/payload/payload.hpp"
#include "platform/cpu.hpp"

namespace heddle::p2p {

/// Unpacks a piece of the ring into the receive: it lies `from` bytes into the message of `length`
/// bytes. `bytes` of the piece are wanted.
inline void load(const node::PayloadConsumer& ring, const node::Piece& piece,
                 core::Request& receive, std::uint64_t length, std::uint64_t from,
                 std::uint64_t bytes) noexcept {
    if (receive.laid_out || bytes != piece.bytes)
        scatter(receive, from, ring.at(piece.at), bytes);
    else
        ring.load(piece, receive.buffer + from, length);
}

class IncomingStream {
public:
    /// `receive` wants the first `wanted` bytes of a message of `length` bytes. If `wanted` is 0,
    /// no receive wants it.
    IncomingStream(const node::PayloadConsumer& ring, unsigned manifest, core::Request* receive,
                   std::uint64_t length, std::uint64_t wanted) noexcept
        : ring_(ring),
          manifest_(manifest),
          receive_(receive),
          length_(length),
          wanted_(std::min(wanted, length)) {}

    /// Takes pieces that have been stored. Returns true if there were any.
    bool take() noexcept {
        const std::uint64_t stored = ring_.stored(manifest_);
        if (stored <= taken_) return false;  // less: a piece was passed over
        while (taken_ < stored) {
            step();
            if (taken_ < wanted_)
                load(ring_, piece_, *receive_, length_, taken_,
                     std::min(piece_.bytes, wanted_ - taken_));
            finish_piece();
        }
        return true;
    }
    /// Ends the sender's claims. Returns how many bytes it has claimed.
    std::uint64_t close() noexcept { return ring_.close(manifest_); }
    /// Returns the next piece, which the sender has claimed and not stored yet: its wanted bytes,
    /// by their place in the message.
    node::Piece unstored() noexcept {
        step();
        return {taken_, std::min(piece_.bytes, wanted_ - std::min(wanted_, taken_))};
    }
    /// Returns whether that piece is still not stored, after it was read by other means.
    bool stored_nothing_more() const noexcept { return ring_.stored(manifest_) <= taken_; }
    /// Passes over that piece, which has been read by other means.
    void skip() noexcept { finish_piece(); }
    /// Ends all looks at the message.
    void leave() noexcept { ring_.leave(manifest_); }

    std::uint64_t taken() const noexcept { return taken_; }
    bool has_all() const noexcept { return taken_ == length_; }
    bool has_enough() const noexcept { return taken_ >= wanted_; }

private:
    /// Goes to the next piece, unless it is there already.
    void step() noexcept {
        if (stepped_) return;
        piece_ = taken_ == 0 ? ring_.first_piece(manifest_, length_)
                             : ring_.next_piece(manifest_, piece_, length_ - taken_);
        stepped_ = true;
    }
    void finish_piece() noexcept {
        ring_.free(piece_);
        taken_ += piece_.bytes;
        stepped_ = false;
    }

    const node::PayloadConsumer& ring_;
    const unsigned manifest_;
    core::Request* const receive_;
    const std::uint64_t length_, wanted_;
    std::uint64_t taken_ = 0;
    node::Piece piece_{0, 0};
    bool stepped_ = false;  ///< piece_ is the one at taken_
};

}  // namespace heddle::p2p
