// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/payload/payload.hpp"

#include <array>

namespace heddle::p2p {

void transfer(const core::Request& send, core::Request& receive, std::uint64_t bytes) noexcept {
    if (!send.laid_out) return scatter(receive, 0, send.buffer, bytes);
    if (!receive.laid_out)
        return objects::pack(*send.layout, send.buffer, 0, receive.buffer, bytes);
    std::array<std::byte, 16384> packed;
    for (std::uint64_t from = 0; from < bytes; from += packed.size()) {
        const std::uint64_t piece = std::min<std::uint64_t>(packed.size(), bytes - from);
        objects::pack(*send.layout, send.buffer, from, packed.data(), piece);
        objects::unpack(*receive.layout, receive.buffer, from, packed.data(), piece);
    }
}

}  // namespace heddle::p2p
