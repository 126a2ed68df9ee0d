// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Whether the threads of the node have a core each where this process may run.
///
/// Processes share cores with those that may run on the same ones: all, where none is bound; several, in a set that was
/// given to all of them. Of processes that have not started yet nothing is known: find_out() is called again until it is.
///
/// Thread safety  any thread.

#include <atomic>
#include <cstdint>

#include "node/mailboxes.hpp"
#include "sync/orders.hpp"

namespace heddle::p2p {

class NodeCores {
public:
    /// Tells the others where this process may run.
    NodeCores(const node::Mailboxes& mailboxes, std::int32_t rank);

    /// `threads`: of this process, that want a core.
    void find_out(int threads) noexcept;
    bool all_known() const noexcept { return all_known_.load(relaxed); }
    bool are_short() const noexcept { return short_.load(relaxed); }
    bool one_is_spare() const noexcept { return spare_.load(relaxed); }

private:
    void count_sharing() noexcept;

    const node::Mailboxes& mailboxes_;
    const std::size_t rank_;
    const int allowed_;            ///< that this process may run on
    std::atomic<int> sharing_{1};  ///< processes that may run on the same ones
    std::atomic<bool> all_known_{false};
    std::atomic<bool> short_{false};
    std::atomic<bool> spare_{false};
};

}  // namespace heddle::p2p
