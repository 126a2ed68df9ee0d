// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which ranks of a job can still act, if each thread waits as is known: a pure function of an AND/OR graph.
///
/// Nodes          ranks. A rank acts by any of its threads.
/// Waits          a thread that waits needs all of its events, or one. An event happens if one of certain ranks acts.
/// Release        starts at ranks that are free: a thread of theirs runs, or is not known to wait. A thread is released
///                once what it needs may happen, and its rank may act from then on. Those that are left are stuck for
///                ever: each needs an event of which only stuck or ended ranks are capable.
/// Doubt          an event of which nothing is known may happen at any time, and so may one of events that are not
///                listed, if one suffices. So whatever is not known makes fewer threads stuck, and never more.

#include <cstddef>
#include <vector>

namespace heddle::hangs {

struct Event {
    bool known = true;
    std::vector<int> ranks;  ///< each can make it happen, and nobody else; none: it cannot happen
};

struct Wait {
    bool needs_all = true;
    bool whole = true;  ///< all its events are listed
    std::vector<Event> events;
};

struct Node {
    bool ended = false;       ///< it never acts again
    bool free = false;        ///< it may act without any release
    std::vector<Wait> waits;  ///< of its threads
};

using Graph = std::vector<Node>;

struct Release {
    std::vector<bool> acts;                ///< by rank
    std::vector<std::vector<bool>> stuck;  ///< by rank, each of its waits

    /// The first rank that has a stuck wait, and cannot act if there is such a one; -1: there is none.
    int first_stuck() const;
};

Release release(const Graph& graph);

/// One step of an explanation: this wait of `rank` needs that event, which only ranks like `next` can make happen.
struct Step {
    int rank = 0;
    std::size_t wait = 0;
    std::size_t event = 0;
    int next = 0;
};

/// Why `rank`, which is stuck, is: a chain of steps that ends at a rank that has ended, or has come to a rank that is
/// in it already, where the cycle begins.
struct Chain {
    std::vector<Step> steps;
    std::size_t cycle =
        0;  ///< index of the step at which the cycle begins; the number of steps: there is none
};

Chain explain(const Graph& graph, const Release& release, int rank);

}  // namespace heddle::hangs
