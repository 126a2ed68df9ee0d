// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Finds near misses: a thread waits for one message, and another message lies there that differs
/// in only one thing.

#include <vector>

#include "snapshot.hpp"
#include "words.hpp"

namespace heddle::hangs {

/// Returns a text such as "from rank 1 lies tag 14; tag 13 is awaited" for each such event of the
/// wait. The message differs in its tag, or else in its communicator, or else in its source.
std::vector<Words> near_by(const Rank& rank, const node::WaitsFor& what);

}  // namespace heddle::hangs
