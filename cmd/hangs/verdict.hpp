// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The verdict on a job that may hang: whether some of its ranks wait for each other for ever, and
/// why.
///
/// Proof          two snapshots of all ranks. A thread counts as waiting if it has slept in the
///                same wait, and has not run in between. The library's own threads must not have
///                run either. Everything that they sent before has then arrived, and arrivals wake
///                sleepers (docs/adr/0054-verdicts.md). The rest is release propagation
///                (wait_graph.hpp).
/// No verdict     is a value: no sentence is given that may be wrong.

#include <algorithm>
#include <string>
#include <vector>

#include "snapshot.hpp"

namespace heddle::hangs {

struct Verdict {
    enum class Kind {
        none,         ///< nothing is proven; the sentence gives the reason
        no_deadlock,  ///< every waiting rank waits for a busy one
        deadlock,     ///< ranks wait for each other in a circle
        mismatch,     ///< ranks are in different collective calls of a communicator
        ended,        ///< ranks wait for one that has ended
    };
    Kind kind = Kind::none;
    std::vector<int> ranks;              ///< the ranks that are stuck
    std::vector<std::string> sentences;  ///< the first is the verdict, the others explain it

    bool is_proven_stuck() const { return kind >= Kind::deadlock; }
    /// Returns whether all ranks of the snapshot that live are stuck. Others may have woken between
    /// the looks.
    bool is_of_all(const Snapshot& snapshot) const {
        return std::all_of(snapshot.ranks.begin(), snapshot.ranks.end(), [&](const Rank& rank) {
            return rank.end || std::find(ranks.begin(), ranks.end(), rank.rank) != ranks.end();
        });
    }
};

/// Judges two snapshots. `second` was taken a moment after `first`.
Verdict judge(const Snapshot& first, const Snapshot& second);

/// Returns the kind as one word, for programs.
const char* name_of(Verdict::Kind kind);
std::string verdict_in_json(const Verdict& verdict);

}  // namespace heddle::hangs
