// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The exchange of P4, section 4.1, as a game of chance: the search depths that follow from the
/// order alone.
///
/// Thread t of T has the tags t, t + T, t + 2T, ... and issues them in this order. Threads take
/// turns at random. Receives are posted so, then messages arrive so, and each is searched for from
/// the front of one list. Schedulers and locks lie between two ends: turns of one operation, and
/// turns that last until the thread has no more to do.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace heddle::stencil {

/// The operations of a turn, at least 1. The last turn of a thread may have fewer.
enum class Turns : std::int32_t {
    single = 1,
    whole = std::numeric_limits<std::int32_t>::max(),  ///< everything a thread has to do
};

using Random = std::mt19937_64;

/// Returns the tags 0 ... messages - 1 in the order in which `threads` threads issue them.
std::vector<std::int32_t> interleave(std::int32_t messages, std::int32_t threads, Turns turns,
                                     Random& random);

struct Depth {
    double average;  ///< entries looked at for a message, including the one found
    std::int64_t deepest;
};

/// Returns the depth of a list that holds all of `posted` before the first of `arrived` comes. Both
/// hold the tags 0 ... size - 1, each once.
Depth search_depth(const std::vector<std::int32_t>& posted,
                   const std::vector<std::int32_t>& arrived);

namespace detail {

/// The number of entries up to a place that are still in the list. It is a Fenwick tree, since a
/// search that walked the list would take minutes for the longest ones.
class Remaining {
public:
    explicit Remaining(std::size_t size) : tree_(size + 1) {
        for (std::size_t i = 1; i <= size; ++i) tree_[i] = static_cast<std::int64_t>(i & (~i + 1));
    }
    std::int64_t up_to(std::size_t place) const {
        std::int64_t count = 0;
        for (std::size_t i = place + 1; i != 0; i &= i - 1) count += tree_[i];
        return count;
    }
    void take(std::size_t place) {
        for (std::size_t i = place + 1; i < tree_.size(); i += i & (~i + 1)) --tree_[i];
    }

private:
    std::vector<std::int64_t> tree_;
};

}  // namespace detail

inline std::vector<std::int32_t> interleave(std::int32_t messages, std::int32_t threads,
                                            Turns turns, Random& random) {
    std::vector<std::int32_t> next(
        static_cast<std::size_t>(std::min(messages, threads)));  // of threads that are not done
    std::iota(next.begin(), next.end(), 0);
    std::vector<std::int32_t> order;
    while (!next.empty()) {
        std::int32_t& tag =
            next[std::uniform_int_distribution<std::size_t>(0, next.size() - 1)(random)];
        for (auto left = static_cast<std::int32_t>(turns); left != 0 && tag < messages; --left) {
            order.push_back(tag);
            tag += threads;
        }
        if (tag < messages) continue;
        tag = next.back();
        next.pop_back();
    }
    return order;
}

inline Depth search_depth(const std::vector<std::int32_t>& posted,
                          const std::vector<std::int32_t>& arrived) {
    std::vector<std::size_t> place(posted.size());
    for (std::size_t i = 0; i < posted.size(); ++i) place[static_cast<std::size_t>(posted[i])] = i;
    detail::Remaining list(posted.size());
    std::int64_t steps = 0, deepest = 0;
    for (const std::int32_t tag : arrived) {
        const std::size_t at = place[static_cast<std::size_t>(tag)];
        const std::int64_t depth = list.up_to(at);
        list.take(at);
        steps += depth;
        deepest = std::max(deepest, depth);
    }
    return {
        static_cast<double>(steps) / static_cast<double>(std::max<std::size_t>(arrived.size(), 1)),
        deepest};
}

}  // namespace heddle::stencil
