// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Buffers of pending operations, and whether two of them conflict.

#include "checks.hpp"

namespace heddle::check {

/// Marks the buffers of `tracked` as in use. Reports a conflict if another operation uses the same
/// memory.
void occupy(const Call& call, Tracked& tracked);
void vacate(Tracked& tracked);
/// Does the same for a call that is complete when it returns.
void look_for_overlap(const Call& call, const Buffer& buffer, bool writes);

}  // namespace heddle::check
