// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/pressure.hpp"

#include <algorithm>

#include "node/ring.hpp"
#include "platform/limits.hpp"

namespace heddle::p2p {
namespace {

constexpr std::uint64_t most_step = 64 << 10;
constexpr std::uint64_t first_step = 16 << 10;  ///< while the limit is not known
constexpr std::uint64_t part_of_memory = 4;

}  // namespace

Pressure::Pressure(std::uint64_t limit, std::size_t processes, std::size_t instances,
                   std::atomic<std::uint64_t>& mark)
    : processes_(processes), instances_(instances), step_(first_step), mark_(mark) {
    if (limit != 0) set_limit(limit);
}

/// Sets the limit. Instances keep back at most a quarter of it, so that pressure ends when all
/// messages are gone.
void Pressure::set_limit(std::uint64_t limit) noexcept {
    limit_ = limit;
    step_.store(std::clamp<std::uint64_t>(limit / (4 * instances_), 1, most_step), relaxed);
}

void Pressure::tell(std::uint64_t& told, std::uint64_t now) {
    std::lock_guard guard(lock_);
    if (limit_ == 0)
        set_limit(
            std::max<std::uint64_t>(platform::memory_of_process(processes_) / part_of_memory, 1));
    held_ += now - told;
    told = now;
    // Relaxed: a sender that sees it late sends a few more messages.
    if (held_ > limit_)
        mark_.store(node::pressure, relaxed);
    else if (held_ <= limit_ / 2)
        mark_.store(0, relaxed);
}

}  // namespace heddle::p2p
