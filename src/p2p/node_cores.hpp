// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Cores of this process: whether each of the node's threads has one there.
///
/// Processes share cores with those that may run on the same ones. Those are all processes if none
/// is bound, or several if all of them got one set. Processes that have not started yet are
/// unknown; find_out() is called again until they are known.
///
/// Thread safety  any thread.

#include <atomic>
#include <cstdint>

#include "node/mailboxes.hpp"
#include "sync/orders.hpp"

namespace heddle::p2p {

class NodeCores {
public:
    /// Tells the others which cores this process may use.
    NodeCores(const node::Mailboxes& mailboxes, std::int32_t rank);

    /// Finds out about cores. `threads` of this process want one.
    void find_out(int threads) noexcept;
    bool all_known() const noexcept { return all_known_.load(relaxed); }
    bool are_short() const noexcept { return short_.load(relaxed); }
    bool one_is_spare() const noexcept { return spare_.load(relaxed); }

private:
    void count_sharing() noexcept;

    const node::Mailboxes& mailboxes_;
    const std::size_t rank_;
    const int allowed_;            ///< cores that this process may use
    std::atomic<int> sharing_{1};  ///< processes that may use the same ones
    std::atomic<bool> all_known_{false};
    std::atomic<bool> short_{false};
    std::atomic<bool> spare_{false};
};

}  // namespace heddle::p2p
