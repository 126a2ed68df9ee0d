// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The words of connections. Each has one sender and one receiver, which is the one that listened.
///
/// First          the sender says a Hello. Over TCP the receiver answers with `welcome` if it likes
///                the secret. The address may have led to another process, to which no batch is
///                sent. The receiver hangs up on a sender that it does not like.
/// Then           batches, each behind a Frame that says how long it is, and padded to a multiple
///                of 8 bytes.
/// Ring           on one machine the sender may offer a ring (batch_ring.hpp) by the socket. If the
///                receiver answers `accepted`, the sender says `go_on`, and the following batches
///                are in the ring. Bytes that either side sends from then on are bells.
/// Numbers        are in the order of bytes of the machine. A machine with another order has
///                another magic number.

#include <cstdint>

#include "transport/batch.hpp"
#include "transport/sockets/address.hpp"

namespace heddle::transport::sockets {

struct Hello {
    static constexpr std::uint64_t right_magic = 0x4865'6464'6c65'0001;
    enum class Kind : std::uint64_t {
        batches,
        signs_of_life,  ///< nothing follows: the sender wants to see that the host acknowledges
    };

    std::uint64_t magic = right_magic;
    Kind kind = Kind::batches;
    Secret secret{};
};
static_assert(sizeof(Hello) == 32);

inline constexpr std::byte accepted{'a'};
inline constexpr std::byte bell{'b'};

inline constexpr std::uint64_t welcome = 0x5765'6c63'6f6d'6501;

/// A message of 64 KiB, with what a lane puts around it.
inline constexpr std::size_t most_batch = (std::size_t{64} << 10) + 256;

struct Frame {
    enum class Kind : std::uint32_t {
        batch,
        offer,  ///< comes with the descriptor of a ring, which the receiver may accept
        go_on,  ///< the last one by the socket: the next batch is in the ring
        skip,   ///< in a ring: go on at its beginning
    };

    std::uint32_t bytes;  ///< length of the batch, without padding; 0: there is none
    Kind kind;

    static Frame of_batch(std::size_t bytes) noexcept {
        return {static_cast<std::uint32_t>(bytes), Kind::batch};
    }
    bool is_batch() const noexcept {
        return kind == Kind::batch && bytes != 0 && bytes <= most_batch;
    }
    bool is_about_ring() const noexcept {
        return (kind == Kind::offer || kind == Kind::go_on) && bytes == 0;
    }
    std::size_t whole() const noexcept { return sizeof(Frame) + padded(bytes); }
};
static_assert(sizeof(Frame) == 8);

}  // namespace heddle::transport::sockets
