// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/pressure.hpp"

#include <algorithm>

#include "platform/memory.hpp"
#include "transport/shm/ring.hpp"

namespace heddle::p2p {
namespace {

constexpr std::uint64_t most_step = 64 << 10;
constexpr std::uint64_t part_of_memory = 4;

}  // namespace

/// What instances have not told yet is at most a quarter of the limit, so that pressure ends when all is gone.
Pressure::Pressure(std::uint64_t limit, std::size_t processes, std::size_t instances,
                   std::atomic<std::uint64_t>& mark)
    : limit_(limit != 0 ? limit : platform::memory_in_all() / part_of_memory / processes),
      step_(std::clamp<std::uint64_t>(limit_ / (4 * instances), 1, most_step)), mark_(mark) {}

void Pressure::tell(std::uint64_t& told, std::uint64_t now) {
    std::lock_guard guard(lock_);
    held_ += now - told;
    told = now;
    // Relaxed: a sender that sees it late sends a few more messages.
    if (held_ > limit_) mark_.store(transport::shm::pressure, relaxed);
    else if (held_ <= limit_ / 2) mark_.store(0, relaxed);
}

}  // namespace heddle::p2p
