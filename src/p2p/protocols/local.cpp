// SPDX-License-Identifier: BSD-3-Clause
/// Messages that are in no ring: of a process to itself, and those that only count.

#include "p2p/payload/payload.hpp"
#include "p2p/protocols/all.hpp"

namespace heddle::p2p::protocols {

namespace {

/// Copies out of the buffer of the send, which is complete then.
void copy_from_send(const Parts&, ProgressCall& call, const Pull& pull, std::uint64_t bytes) {
    auto& send = *reinterpret_cast<core::Request*>(pull.sender);
    transfer(send, *pull.receive, bytes);
    call.complete(send);
    call.complete(*pull.receive);
}

}  // namespace

const Protocol local{.kind = MessageKind::local, .fetch = copy_from_send};
/// Receivers that count messages pass over it (p2p/laboratory/recipes.hpp).
const Protocol nothing{.kind = MessageKind::nothing};

}  // namespace heddle::p2p::protocols
