// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What receives get by MPI's plain rule, for tests with one sender.

#include <cstddef>
#include <utility>
#include <vector>

#include "mpi.h"

namespace heddle::testing {

/// The first posted receive that accepts a message gets it. With one sender and one order of posting
/// this has one outcome, however arrivals and posts interleave.
struct MatchingPlan {
    /// Messages of the tags `sent`, in the order of sending, and receives of the tags `wanted`, or MPI_ANY_TAG, in that
    /// of posting. Receives for which nothing is left are not posted; a message that none accepts gets one at the end.
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
