// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// One request for several operations that have been started: complete when they all are
/// (MPI_Isendrecv, MPI_Comm_idup).

#include <span>
#include <vector>

#include "p2p/engine.hpp"

namespace heddle::p2p {

/// Takes over `parts`, whose first gives the status if it is a receive, and `kept`, which is kept
/// until then. It fails if a number that the parts bring, `needed`, is 0 in the end. Answers the one part if the others are complete sends; nullptr when memory has run out.
core::Request* join(core::Thread& thread, std::span<core::Request* const> parts,
                    std::vector<std::byte> kept = {}, const std::uint32_t* needed = nullptr);

}  // namespace heddle::p2p
