// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Computes which ranks of a job can still act, given the known waits of threads. It is a pure
/// function of an AND/OR graph.
///
/// Nodes          ranks. A rank acts by any of its threads.
/// Waits          a thread that waits needs all of its events, or one. An event happens if one of
///                certain ranks acts.
/// Release        starts at ranks that are free: one of their threads runs, or is not known to
///                wait. A thread is released once the events that it needs may happen, and its rank
///                may act from then on. The ranks that are left are stuck for ever. Each needs an
///                event that only stuck or ended ranks can cause.
/// Doubt          an unknown event may happen at any time. So may one of the events that are not
///                listed, if one suffices. Missing knowledge thus makes fewer threads stuck, and
///                never more.

#include <cstddef>
#include <vector>

namespace heddle::hangs {

struct Event {
    bool known = true;
    std::vector<int> ranks;  ///< any of these, and no other, can make it happen; empty if it cannot
                             ///< happen
};

struct Wait {
    bool needs_all = true;
    bool whole = true;  ///< all its events are listed
    std::vector<Event> events;
};

struct Node {
    bool ended = false;       ///< it never acts again
    bool free = false;        ///< it may act without a release
    std::vector<Wait> waits;  ///< the waits of its threads
};

using Graph = std::vector<Node>;

struct Release {
    std::vector<bool> acts;                ///< by rank
    std::vector<std::vector<bool>> stuck;  ///< by rank, each of its waits

    /// Returns the first rank that has a stuck wait, and cannot act if there is such a one. Returns
    /// -1 if no wait is stuck.
    int first_stuck() const;
};

Release release(const Graph& graph);

/// A step of an explanation: this wait of `rank` needs that event, which only ranks like `next` can
/// make happen.
struct Step {
    int rank = 0;
    std::size_t wait = 0;
    std::size_t event = 0;
    int next = 0;
};

/// The reason why `rank` is stuck: a chain of steps. It ends at a rank that has ended, or at one
/// that is in the chain already. The cycle begins there.
struct Chain {
    std::vector<Step> steps;
    std::size_t cycle =
        0;  ///< index of the step at which the cycle begins; the number of steps if there is none
};

Chain explain(const Graph& graph, const Release& release, int rank);

}  // namespace heddle::hangs
