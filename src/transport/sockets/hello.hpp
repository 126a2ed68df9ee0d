// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What connections say. Each has one sender and one receiver, which is the one that listened.
///
/// First          the sender says a Hello. Over TCP the receiver answers with `welcome` if it likes the secret: the address
///                may have led to somebody else, and no batch is sent to them. Whoever it does not like it hangs up on.
/// Then           batches, each behind a Frame that says how long it is, and padded to a multiple of 8 bytes.
/// Numbers        are in the order of bytes of the machine. Another one has another magic number.

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

inline constexpr std::uint64_t welcome = 0x5765'6c63'6f6d'6501;

/// A message of 64 KiB, with what a lane puts around it.
inline constexpr std::size_t most_batch = (std::size_t{64} << 10) + 256;

struct Frame {
    std::uint32_t bytes;  ///< of the batch, without padding
    std::uint32_t zero;

    bool is_right() const noexcept { return bytes != 0 && bytes <= most_batch && zero == 0; }
    std::size_t whole() const noexcept { return sizeof(Frame) + padded(bytes); }
};
static_assert(sizeof(Frame) == 8);

}  // namespace heddle::transport::sockets
