// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// One request for several started operations. It is complete when they all are (MPI_Isendrecv,
/// MPI_Comm_idup).

#include <span>
#include <vector>

#include "p2p/engine.hpp"

namespace heddle::p2p {

/// Joins `parts`, which it takes over. The first one gives the status if it is a receive. `kept` is
/// kept until the end. If `made` is given, the parts bring the context that its members
/// have agreed on; the join fails if that is 0. Returns the first part if the others are complete
/// sends, or nullptr if memory has run out.
core::Request* join(core::Thread& thread, std::span<core::Request* const> parts,
                    std::vector<std::byte> kept = {}, objects::Communicator* made = nullptr);

}  // namespace heddle::p2p
