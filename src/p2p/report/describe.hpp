// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Contexts in words, for advice: "MPI_COMM_WORLD".

#include <cstdint>
#include <string>

namespace heddle::p2p {

/// Returns the communicator of a context. It is not the name that the user gave, which another
/// thread may be changing.
std::string describe_context(std::uint32_t context);

}  // namespace heddle::p2p
