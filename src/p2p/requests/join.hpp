// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// One request for several started operations. It is complete when they all are (MPI_Isendrecv,
/// MPI_Comm_idup).

#include <span>
#include <vector>

#include "p2p/engine.hpp"

namespace heddle::p2p {

/// Joins `parts`, which it takes over. The first one gives the status if it is a receive. `kept` is
/// kept until the end. The join fails if a number that the parts bring, `needed`, is 0 in the end.
/// Returns the first part if the others are complete sends, or nullptr if memory has run out.
core::Request* join(core::Thread& thread, std::span<core::Request* const> parts,
                    std::vector<std::byte> kept = {}, const std::uint32_t* needed = nullptr);

}  // namespace heddle::p2p
