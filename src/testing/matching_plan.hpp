// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The messages that receives get by MPI's plain rule, for tests with one sender.

#include <cstddef>
#include <utility>
#include <vector>

#include "mpi.h"

namespace heddle::testing {

/// A plan of sends and receives: the first posted receive that accepts a message gets it. With one
/// sender and one order of posting this has one outcome, however arrivals and posts interleave.
struct MatchingPlan {
    /// Takes the tags of messages in the order of sending. Takes those of receives (or MPI_ANY_TAG)
    /// in the order of posting. Receives without a message are not posted. A message that no
    /// receive accepts gets one at the end.
    MatchingPlan(std::vector<int> sent, const std::vector<int>& wanted) : sends(std::move(sent)) {
        std::vector<int> got(wanted.size(), -1);
        std::vector<int> left;
        for (int message = 0; message < static_cast<int>(sends.size()); ++message) {
            const int tag = sends[static_cast<std::size_t>(message)];
            std::size_t at = 0;
            while (at < wanted.size() &&
                   (got[at] != -1 || (wanted[at] != tag && wanted[at] != MPI_ANY_TAG)))
                ++at;
            if (at == wanted.size())
                left.push_back(message);
            else
                got[at] = message;
        }
        for (std::size_t i = 0; i < wanted.size(); ++i)
            if (got[i] != -1) add(wanted[i], got[i]);
        for (const int message : left) add(sends[static_cast<std::size_t>(message)], message);
    }

    std::vector<int> sends;     ///< tags, in the order of sending
    std::vector<int> receives;  ///< tags or MPI_ANY_TAG, in the order of posting
    std::vector<int> gets;      ///< receive i gets message gets[i]

private:
    void add(int tag, int message) {
        receives.push_back(tag);
        gets.push_back(message);
    }
};

}  // namespace heddle::testing
