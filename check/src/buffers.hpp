// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Buffers of operations that are under way, and whether two of them get into each other's way.

#include "checks.hpp"

namespace heddle::check {

/// What `tracked` reads and writes is in use from now on; tells if another operation's is the same memory.
void occupy(const Call& call, Tracked& tracked);
void vacate(Tracked& tracked);
/// The same for a call that returns when it is done.
void look_for_overlap(const Call& call, const Buffer& buffer, bool writes);

}  // namespace heddle::check
