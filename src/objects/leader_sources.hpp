// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The sources of messages between leaders of two groups. The leaders meet in the collective
/// context of their common communicator, with the user's tag. These sources are no ranks: they are
/// a leader's rank there plus this number. Other calls use that context with the same tags.

#include <cstdint>

namespace heddle::objects {

inline constexpr std::int32_t leader_sources = 1 << 30;

}  // namespace heddle::objects
