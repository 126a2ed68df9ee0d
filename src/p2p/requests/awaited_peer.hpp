// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Requests that only a certain other process can complete. That may be a process of another job
/// that is gone.
///
/// Receives       from the time when the payload of a matched message is read or asked for, until
///                it has come. Before that a receive is posted, and found in its matcher.
/// Sends          that an answer of the receiver completes.

#include <atomic>

#include "core/request.hpp"

namespace heddle::p2p {

/// Notes whether the payload of the receive is coming from receive.peer.
inline void set_awaits_payload(core::Request& receive, bool on) noexcept {
    // R1: pairs with A1; a thread that sees it sees the peer.
    std::atomic_ref(receive.streamed).store(on, release);
}

inline bool awaits_peer(core::Request& request, std::int32_t process) noexcept {
    if (request.operation == core::Operation::receive)
        return std::atomic_ref(request.streamed).load(acquire) && request.peer == process;  // A1
    return request.operation == core::Operation::send && request.peer == process &&
        (request.synchronous || request.announced);
}

}  // namespace heddle::p2p
