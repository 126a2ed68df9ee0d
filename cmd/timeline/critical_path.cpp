// SPDX-License-Identifier: BSD-3-Clause
/// Follows the job from its end back to its begin. The path stays on a rank as long as the rank did
/// not wait. From the end of a wait it goes on at the rank that was waited for.

#include <algorithm>
#include <map>

#include "timeline.hpp"

namespace heddle::timeline {
namespace {

struct Wait {
    Nanoseconds until;
    int whom;
};

std::vector<Wait> waits_of(const Rank& rank) {
    std::vector<Wait> waits;
    for (const Event& event : rank.events)
        if (event.waited() > 0) waits.push_back({event.begin + event.waited(), event.waits_for});
    std::sort(waits.begin(), waits.end(),
              [](const Wait& a, const Wait& b) { return a.until < b.until; });
    return waits;
}

}  // namespace

std::vector<Stretch> critical_path(const Timeline& timeline) {
    std::map<int, std::vector<Wait>> waits;
    const Rank* last = nullptr;
    for (const Rank& rank : timeline.ranks) {
        waits[rank.rank] = waits_of(rank);
        if (last == nullptr || rank.end() > last->end()) last = &rank;
    }
    std::vector<Stretch> path;
    if (last == nullptr) return path;
    int here = last->rank;
    Nanoseconds time = last->end();
    while (time > 0) {
        const std::vector<Wait>& own = waits[here];
        // Strictly earlier, so that the path ends.
        const auto after =
            std::lower_bound(own.begin(), own.end(), time,
                             [](const Wait& wait, Nanoseconds at) { return wait.until < at; });
        if (after == own.begin()) {
            path.push_back({here, 0, time});
            break;
        }
        const Wait& wait = *std::prev(after);
        path.push_back({here, wait.until, time});
        time = wait.until;
        here = wait.whom;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

}  // namespace heddle::timeline
