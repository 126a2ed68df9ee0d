// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// One request for several operations that have been started: complete when they all are
/// (MPI_Isendrecv, MPI_Comm_idup).

#include <span>
#include <vector>

#include "p2p/engine.hpp"

namespace heddle::objects {
struct Session;
}
namespace heddle::p2p {

/// Takes over `parts`, whose first gives the status if it is a receive, and `kept`, which is kept
/// until then. It fails if a number that the parts bring, `needed`, is 0 in the end. Answers the one part if the others are complete sends; nullptr when memory has run out.
core::Request* join(core::Thread& thread, std::span<core::Request* const> parts,
                    std::vector<std::byte> kept = {}, const std::uint32_t* needed = nullptr);

/// Of a request that join() made, once it is complete: the receive that gives the status, or nullptr.
const core::Request* receive_of_join(const core::Request& whole) noexcept;
/// The error of the first part that failed.
int error_of_join(const core::Request& whole) noexcept;

/// Of which session its sends are; nullptr: of the world model.
const objects::Session* session_of_join(const core::Request& whole) noexcept;
/// Whether a send among its parts is not over.
bool join_still_sends(const core::Request& whole) noexcept;

/// Its handle is gone: everything is freed now, or when it is complete.
void let_go_of_join(core::Thread& thread, core::Request& whole) noexcept;

}  // namespace heddle::p2p
