// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Sleeps on a word until another thread, or another process, changes it and wakes sleepers.

#include <atomic>
#include <chrono>
#include <cstdint>

namespace heddle::platform {

/// Says whether the threads that meet on the word belong to one process or to several.
enum class Scope { process, node };

/// Sleeps while `word` holds `expected`, at most `limit` (zero: no limit). It may return early.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Scope scope,
                std::chrono::nanoseconds limit = std::chrono::nanoseconds{0}) noexcept;

/// Wakes up to `count` sleepers of `word`.
void futex_wake(std::atomic<std::uint32_t>& word, int count, Scope scope) noexcept;

}  // namespace heddle::platform
