// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/payload/peer_memory.hpp"

#include <new>

#include "node/token.hpp"

namespace heddle::p2p {

PeerMemory::PeerMemory(node::Board board, std::size_t processes, std::int32_t rank)
    : board_(board),
      token_(platform::reserve(sizeof(node::Token))),
      known_(std::make_unique<std::atomic<Known>[]>(processes)) {
    if (!token_) throw std::bad_alloc();
    platform::wipe_on_fork(token_);
    const node::Token token = node::Token::fresh();
    *static_cast<node::Token*>(token_.address()) = token;
    node::Page& mine = page(rank);
    mine.token = token;
    // R1: pairs with A1; a thread that sees the address sees the token.
    mine.token_address.store(reinterpret_cast<std::uint64_t>(token_.address()), release);
}

bool PeerMemory::find_out(std::int32_t process) noexcept {
    const bool reachable = has_its_token(process);
    note(process, reachable ? Known::reachable : Known::unreachable);
    return reachable;
}

bool PeerMemory::has_its_token(std::int32_t process) const noexcept {
    const std::uint64_t address = page(process).token_address.load(acquire);  // A1
    node::Token found;
    return address != 0 && read(process, &found, address, sizeof found) &&
        found == page(process).token;
}

bool PeerMemory::read(std::int32_t process, void* to, std::uint64_t from,
                      std::uint64_t bytes) const noexcept {
    return platform::copy_from_process(pid_of(process), to, from, bytes);
}

bool PeerMemory::write(std::int32_t process, std::uint64_t to, const void* from,
                       std::uint64_t bytes) const noexcept {
    return platform::copy_to_process(pid_of(process), to, from, bytes);
}

}  // namespace heddle::p2p
