// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Short names of the memory orders, so that every access states its order without drowning in it.

#include <atomic>
#include <cstddef>

namespace heddle {

inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order release = std::memory_order_release;
inline constexpr std::memory_order acq_rel = std::memory_order_acq_rel;
inline constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

inline constexpr std::size_t cache_line = 64;

}  // namespace heddle
