// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Sleeping on a word until another thread, or another process, changes it and says so.

#include <atomic>
#include <chrono>
#include <cstdint>

namespace heddle::platform {

/// Whether the threads that meet on the word belong to one process or share it between processes.
enum class Scope { process, node };

/// Sleeps while `word` holds `expected`, at most `limit` (zero: without limit). May return early.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Scope scope,
                std::chrono::nanoseconds limit = std::chrono::nanoseconds{0}) noexcept;

/// Wakes up to `count` sleepers of `word`.
void futex_wake(std::atomic<std::uint32_t>& word, int count, Scope scope) noexcept;

}  // namespace heddle::platform
