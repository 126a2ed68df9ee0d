// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heddle::p2p {

/// Contexts that a process still uses (Engine::busy_contexts).
struct BusyContexts {
    std::vector<std::uint32_t>
        found;  ///< contexts of receives and messages in queues, or blocked at senders; sorted
    /// Contexts of some blocked messages are not known.
    bool unknown = false;

    bool holds(std::uint32_t context) const {
        return unknown || std::binary_search(found.begin(), found.end(), context);
    }
};

}  // namespace heddle::p2p
