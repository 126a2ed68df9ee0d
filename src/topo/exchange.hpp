// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Lists of numbers from some processes to others, of which none knows beforehand what it will get.

#include <cstdint>
#include <vector>

#include "core/thread.hpp"
#include "objects/communicator.hpp"

namespace heddle::topo {

using List = std::vector<std::int32_t>;
using Lists = std::vector<List>;

/// The first so many ranks of the communicator take part, this process among them: `out` has a list
/// for each, and so has `in`, afterwards. Answers MPI_SUCCESS or an error that was raised.
int exchange(core::Thread& thread, objects::Communicator& communicator, const Lists& out,
             Lists& in);

/// One list of this process to all of the first `members` ranks.
int tell_all(core::Thread& thread, objects::Communicator& communicator, std::int32_t members,
             const List& mine, Lists& all);

}  // namespace heddle::topo
