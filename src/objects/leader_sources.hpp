// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Leaders of two groups meet in the collective context of their common communicator, with the user's tag and sources that
/// are no ranks: their ranks there, and this added. Other calls use that context with the same tags.

#include <cstdint>

namespace heddle::objects {

inline constexpr std::int32_t leader_sources = 1 << 30;

}  // namespace heddle::objects
