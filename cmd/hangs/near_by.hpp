// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages that lie near by: a thread waits for one, and another one has come that differs in one thing alone.

#include <vector>

#include "snapshot.hpp"
#include "words.hpp"

namespace heddle::hangs {

/// "from rank 1 lies tag 14; tag 13 is awaited" for each event of the wait that has such a message. It differs in its tag, or
/// else in its communicator, or else in its source.
std::vector<Words> near_by(const Rank& rank, const node::WaitsFor& what);

}  // namespace heddle::hangs
