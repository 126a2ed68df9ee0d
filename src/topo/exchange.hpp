// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Exchanges lists of numbers between processes that do not know beforehand what they will get.

#include <cstdint>
#include <vector>

#include "core/thread.hpp"
#include "objects/communicator.hpp"

namespace heddle::topo {

using List = std::vector<std::int32_t>;
using Lists = std::vector<List>;

/// Exchanges lists between the first ranks of the communicator, including this process. `out` has a
/// list for each of them, and so has `in` afterwards. Returns MPI_SUCCESS or an error that was
/// raised.
int exchange(core::Thread& thread, objects::Communicator& communicator, const Lists& out,
             Lists& in);

/// Sends one list of this process to all of the first `members` ranks.
int tell_all(core::Thread& thread, objects::Communicator& communicator, std::int32_t members,
             const List& mine, Lists& all);

}  // namespace heddle::topo
