// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "json.hpp"
#include "timeline.hpp"

namespace heddle::timeline {
namespace {

constexpr double least_share = 0.01;  ///< of the time of a rank; less is not told

/// The cost of one call of a rank, in waiting for one other rank. Without such a rank its tests
/// were in vain.
struct Cost {
    std::uint64_t times = 0;
    Nanoseconds lost = 0;
};
using Key = std::tuple<std::string, std::string, int>;  ///< call, location, rank waited for

/// Calls `what` for each call of a thread that lies in no other one.
template <class What>
void for_outer_calls(const Rank& rank, What what) {
    std::vector<Nanoseconds> end(rank.threads.size(), INT64_MIN);
    for (const Event& event : rank.events) {
        if (event.kind != Event::Kind::call || event.thread >= end.size()) continue;
        if (event.begin < end[event.thread]) continue;
        end[event.thread] = event.end;
        what(event);
    }
}

bool is_set_up(const Event& event) {
    return event.name.starts_with("MPI_Init") || event.name == "MPI_Finalize" ||
        event.name == "MPI_Session_init" || event.name == "MPI_Session_finalize";
}

std::string what_to_do(const std::string& call, const std::string& whom) {
    if (call.starts_with("MPI_Test") || call.starts_with("MPI_Iprobe") ||
        call.starts_with("MPI_Improbe"))
        return "compute between the tests, or wait by MPI_Wait, which sleeps";
    if (call.find("recv") != std::string::npos || call.find("Recv") != std::string::npos ||
        call.starts_with("MPI_Wait") || call.find("robe") != std::string::npos)
        return "let " + whom + " send earlier, or do other work before this call";
    if (call.find("end") != std::string::npos)
        return "let " + whom + " post its receive earlier, or use MPI_Isend and complete it later";
    return "give " + whom + " less to do before it, or do other work meanwhile (MPI_I" +
        (call.size() > 4 ? std::string(1, static_cast<char>(call[4] | 0x20)) + call.substr(5)
                         : std::string()) +
        ")";
}

bool has_nonblocking(const std::string& call) {
    static const std::set<std::string> known{
        "MPI_Allgather", "MPI_Allgatherv", "MPI_Allreduce", "MPI_Alltoall", "MPI_Alltoallv",
        "MPI_Alltoallw", "MPI_Barrier",    "MPI_Bcast",     "MPI_Exscan",   "MPI_Gather",
        "MPI_Gatherv",   "MPI_Reduce",     "MPI_Scan",      "MPI_Scatter",  "MPI_Scatterv"};
    return known.contains(call);
}

std::string advice_text(const Advice& one) {
    const std::string who =
        fmt::format("rank{} {}", one.ranks.size() == 1 ? "" : "s", list_of_ranks(one.ranks));
    const std::string call = call_text(one.call, one.location);
    if (one.waits_for == nobody)
        return fmt::format(
            "{} spent {:.0f} % of {} time in {} in vain, {} times: {}; that would "
            "free {}",
            who, 100 * one.share, one.ranks.size() == 1 ? "its" : "their", call, one.times,
            what_to_do(one.call, ""), duration_text(one.lost));
    const std::string whom = fmt::format("rank {}", one.waits_for);
    std::string todo = what_to_do(one.call, whom);
    if (todo.starts_with("give") && !has_nonblocking(one.call))
        todo = "give " + whom + " less to do before it";
    return fmt::format(
        "{} waited {:.0f} % of {} time in {} for {}, which came {} late on average: {}; that would "
        "save {}",
        who, 100 * one.share, one.ranks.size() == 1 ? "its" : "their", call, whom,
        duration_text(one.late), todo,
        duration_text(one.lost / static_cast<Nanoseconds>(one.ranks.size())));
}

}  // namespace

std::vector<Advice> advise(const Timeline& timeline) {
    std::map<Key, std::map<int, Cost>> costs;
    std::map<int, Nanoseconds> whole;
    for (const Rank& rank : timeline.ranks) {
        whole[rank.rank] = rank.end() - rank.begin();
        for_outer_calls(rank, [&](const Event& event) {
            if (is_set_up(event)) return;
            const bool in_vain = event.repeats > 0 && event.waits_for == nobody;
            if (!in_vain && event.waited() <= 0) return;
            const Key key{event.name, timeline.location(event), in_vain ? nobody : event.waits_for};
            Cost& cost = costs[key][rank.rank];
            cost.times += 1 + event.repeats;
            cost.lost += in_vain ? event.duration() : event.waited();
        });
    }
    std::vector<Advice> all;
    for (const auto& [key, of_ranks] : costs) {
        Advice one;
        std::tie(one.call, one.location, one.waits_for) = key;
        Nanoseconds time = 0;
        for (const auto& [rank, cost] : of_ranks) {
            if (static_cast<double>(cost.lost) < least_share * static_cast<double>(whole[rank]))
                continue;
            one.ranks.push_back(rank);
            one.times += cost.times;
            one.lost += cost.lost;
            time += whole[rank];
        }
        if (one.ranks.empty() || time == 0) continue;
        one.share = static_cast<double>(one.lost) / static_cast<double>(time);
        one.late = one.lost / static_cast<Nanoseconds>(one.times);
        one.sentence = advice_text(one);
        all.push_back(std::move(one));
    }
    std::sort(all.begin(), all.end(),
              [](const Advice& a, const Advice& b) { return a.lost > b.lost; });
    return all;
}

std::string advice_in_json(const std::vector<Advice>& advice) {
    std::vector<std::string> objects;
    for (const Advice& one : advice)
        objects.push_back(fmt::format(
            R"({{"ranks":[{}],"call":{},"location":{},"waits_for":{},"times":{},)"
            R"("lost_ns":{},"share":{:.4f},"late_ns":{},"sentence":{}}})",
            fmt::join(one.ranks, ","), json_string(one.call), json_string(one.location),
            one.waits_for == nobody ? std::string("null") : std::to_string(one.waits_for),
            one.times, one.lost, one.share, one.late, json_string(one.sentence)));
    return fmt::format("[{}]", fmt::join(objects, ","));
}

}  // namespace heddle::timeline
