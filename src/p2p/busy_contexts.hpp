// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heddle::p2p {

/// Contexts in which a process still has something (Engine::busy_contexts).
struct BusyContexts {
    std::vector<std::uint32_t> queued;  ///< of receives and messages in queues, sorted
    std::uint64_t held_back = 0;        ///< bit i: perhaps messages of contexts i modulo 64 are coming

    bool holds(std::uint32_t context) const {
        return (held_back >> (context & 63) & 1) != 0 ||
               std::binary_search(queued.begin(), queued.end(), context);
    }
};

}  // namespace heddle::p2p
