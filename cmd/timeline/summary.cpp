// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "json.hpp"
#include "timeline.hpp"

namespace heddle::timeline {
namespace {

struct InMpi {
    int rank;
    double share, waited;  ///< of the time of its threads
};

/// Returns the time in MPI. Calls within others count once.
InMpi time_in_mpi(const Rank& rank) {
    Nanoseconds inside = 0, waited = 0, whole = 0;
    for (std::uint32_t thread = 0; thread < rank.threads.size(); ++thread) {
        Nanoseconds end = INT64_MIN, first = INT64_MAX;
        for (const Event& event : rank.events) {
            if (event.thread != thread || event.kind != Event::Kind::call) continue;
            first = std::min(first, event.begin);
            if (event.begin < end) continue;
            end = event.end;
            inside += event.duration();
            waited += event.waited();
        }
        if (first != INT64_MAX) whole += std::max<Nanoseconds>(rank.end() - first, 1);
    }
    if (whole == 0) return {rank.rank, 0, 0};
    return {rank.rank, static_cast<double>(inside) / static_cast<double>(whole),
            static_cast<double>(waited) / static_cast<double>(whole)};
}

struct Late {
    int rank = nobody;
    Nanoseconds waited = 0;
    std::uint64_t times = 0;
    std::map<std::string, Nanoseconds> calls;
};

std::vector<Late> late_ranks(const Timeline& timeline) {
    std::map<int, Late> found;
    for (const Rank& rank : timeline.ranks)
        for (const Event& event : rank.events) {
            if (event.waited() <= 0) continue;
            Late& late = found[event.waits_for];
            late.rank = event.waits_for;
            late.waited += event.waited();
            ++late.times;
            late.calls[call_text(event.name, timeline.location(event))] += event.waited();
        }
    std::vector<Late> sorted;
    for (auto& [rank, late] : found) sorted.push_back(std::move(late));
    std::sort(sorted.begin(), sorted.end(),
              [](const Late& a, const Late& b) { return a.waited > b.waited; });
    return sorted;
}

struct LongWait {
    const Rank* rank;
    const Event* event;
};

std::vector<LongWait> longest_waits(const Timeline& timeline, std::size_t most) {
    std::vector<LongWait> waits;
    for (const Rank& rank : timeline.ranks)
        for (const Event& event : rank.events)
            if (event.waited() > 0) waits.push_back({&rank, &event});
    const auto middle = waits.begin() + static_cast<std::ptrdiff_t>(std::min(most, waits.size()));
    std::partial_sort(waits.begin(), middle, waits.end(),
                      [](LongWait a, LongWait b) { return a.event->waited() > b.event->waited(); });
    waits.erase(middle, waits.end());
    return waits;
}

std::string wait_text(const Timeline& timeline, LongWait wait) {
    return fmt::format("rank {} waits {} in {} for rank {}, from {:.6f} s on{}", wait.rank->rank,
                       duration_text(wait.event->waited()),
                       call_text(wait.event->name, timeline.location(*wait.event)),
                       wait.event->waits_for, static_cast<double>(wait.event->begin) / 1e9,
                       wait.event->over ? "" : ", and has not come back");
}

std::string shares_text(const std::vector<InMpi>& shares) {
    std::map<int, std::vector<int>, std::greater<>> ranks_of;  // by percent
    for (const InMpi& one : shares)
        ranks_of[static_cast<int>(100 * one.share + 0.5)].push_back(one.rank);
    std::vector<std::string> parts;
    for (const auto& [percent, ranks] : ranks_of)
        parts.push_back(fmt::format("rank{} {} {} %", ranks.size() == 1 ? "" : "s",
                                    list_of_ranks(ranks), percent));
    constexpr std::size_t most = 8;
    if (parts.size() > most) {
        // The extremes say the most.
        parts.erase(parts.begin() + most / 2, parts.end() - most / 2);
        parts.insert(parts.begin() + most / 2, "...");
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

struct PathShare {
    int rank;
    double share;
};
std::vector<PathShare> path_shares(const std::vector<Stretch>& path) {
    std::map<int, Nanoseconds> times;
    Nanoseconds whole = 0;
    for (const Stretch& stretch : path) {
        times[stretch.rank] += stretch.end - stretch.begin;
        whole += stretch.end - stretch.begin;
    }
    std::vector<PathShare> shares;
    for (const auto& [rank, time] : times)
        shares.push_back(
            {rank,
             static_cast<double>(time) / static_cast<double>(std::max<Nanoseconds>(whole, 1))});
    std::sort(shares.begin(), shares.end(),
              [](PathShare a, PathShare b) { return a.share > b.share; });
    return shares;
}

std::string path_text(const std::vector<Stretch>& path) {
    std::vector<std::string> parts;
    for (const PathShare& one : path_shares(path)) {
        if (parts.size() == 4 || (one.share < 0.005 && !parts.empty())) break;
        parts.push_back(fmt::format("{:.0f} % on rank {}", 100 * one.share, one.rank));
    }
    const Stretch* longest = nullptr;
    for (const Stretch& stretch : path)
        if (longest == nullptr || stretch.end - stretch.begin > longest->end - longest->begin)
            longest = &stretch;
    if (longest == nullptr) return "there is none";
    return fmt::format("{}, in {} stretch{}; the longest is {} on rank {}, from {:.6f} s on",
                       fmt::join(parts, ", "), path.size(), path.size() == 1 ? "" : "es",
                       duration_text(longest->end - longest->begin), longest->rank,
                       static_cast<double>(longest->begin) / 1e9);
}

struct Traffic {
    std::uint64_t calls = 0, messages = 0, lost = 0, threads = 0;
    std::int64_t bytes = 0;
};
Traffic traffic_of(const Timeline& timeline) {
    Traffic sum;
    for (const Rank& rank : timeline.ranks) {
        sum.threads += rank.threads.size();
        for (const Thread& thread : rank.threads) sum.lost += thread.lost;
        for (const Event& event : rank.events) {
            if (event.kind == Event::Kind::call) sum.calls += 1 + event.repeats;
            if (event.flows_out.empty()) continue;
            sum.messages += event.flows_out.size();
            sum.bytes += event.bytes;
        }
    }
    return sum;
}

std::string bytes_text(std::int64_t bytes) {
    const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
    return unit == 0 ? fmt::format("{} bytes", bytes)
                     : fmt::format("{:.1f} {}", value, units[unit]);
}

/// Returns the calls that take most time.
std::vector<std::pair<std::string, Nanoseconds>> dearest_calls(const Timeline& timeline) {
    std::map<std::string, Nanoseconds> times;
    for (const Rank& rank : timeline.ranks)
        for (const Event& event : rank.events)
            if (event.kind == Event::Kind::call)
                times[call_text(event.name, timeline.location(event))] += event.duration();
    std::vector<std::pair<std::string, Nanoseconds>> sorted(times.begin(), times.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.second > b.second; });
    return sorted;
}

Nanoseconds whole_time(const Timeline& timeline) {
    Nanoseconds sum = 0;
    for (const Rank& rank : timeline.ranks) sum += rank.end() - rank.begin();
    return std::max<Nanoseconds>(sum, 1);
}

double percent_of(Nanoseconds part, Nanoseconds whole) {
    return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string list_of_ranks(const std::vector<int>& ranks) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t end = i + 1;
        while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
        text += text.empty() ? "" : ", ";
        text += std::to_string(ranks[i]);
        if (end - i == 2) text += fmt::format(", {}", ranks[i + 1]);
        if (end - i > 2) text += fmt::format("-{}", ranks[end - 1]);
        i = end;
    }
    return text;
}

std::string duration_text(Nanoseconds duration) {
    const auto value = static_cast<double>(duration);
    if (duration < 1'000) return fmt::format("{} ns", duration);
    if (duration < 1'000'000) return fmt::format("{:.1f} us", value / 1e3);
    if (duration < 1'000'000'000) return fmt::format("{:.1f} ms", value / 1e6);
    return fmt::format("{:.2f} s", value / 1e9);
}

std::string call_text(const std::string& call, const std::string& location) {
    return location.empty() ? call : fmt::format("{} ({})", call, location);
}

std::vector<std::string> summarize(const Timeline& timeline) {
    const Traffic traffic = traffic_of(timeline);
    std::vector<InMpi> shares;
    Nanoseconds waited = 0;
    std::set<std::string> hosts;
    for (const Rank& rank : timeline.ranks) {
        shares.push_back(time_in_mpi(rank));
        hosts.insert(rank.host);
        for (const Event& event : rank.events) waited += event.waited();
    }
    std::vector<std::string> lines;
    lines.push_back(fmt::format(
        "{} rank{} with {} thread{} on {} host{}: {} in {} calls, {} messages, {}{}",
        timeline.ranks.size(), timeline.ranks.size() == 1 ? "" : "s", traffic.threads,
        traffic.threads == 1 ? "" : "s", hosts.size(), hosts.size() == 1 ? "" : "s",
        duration_text(timeline.end()), traffic.calls, traffic.messages, bytes_text(traffic.bytes),
        traffic.lost == 0 ? ""
                          : fmt::format(" ({} earlier events were overwritten)", traffic.lost)));
    lines.push_back("time in MPI: " + shares_text(shares));
    lines.push_back(fmt::format("waits for other ranks: {}, {:.0f} % of all time",
                                duration_text(waited), percent_of(waited, whole_time(timeline))));
    lines.push_back("critical path: " + path_text(critical_path(timeline)));
    const std::vector<Late> late = late_ranks(timeline);
    for (std::size_t i = 0; i < std::min<std::size_t>(late.size(), 2); ++i) {
        const auto most =
            std::max_element(late[i].calls.begin(), late[i].calls.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        lines.push_back(fmt::format(
            "late: rank {} was waited for {} times, {} on average, {} in all, most in {}",
            late[i].rank, late[i].times,
            duration_text(late[i].waited / static_cast<Nanoseconds>(late[i].times)),
            duration_text(late[i].waited), most->first));
    }
    for (const LongWait wait : longest_waits(timeline, 2))
        lines.push_back("longest waits: " + wait_text(timeline, wait));
    const auto calls = dearest_calls(timeline);
    for (std::size_t i = 0; i < calls.size() && lines.size() < 10; ++i)
        lines.push_back(fmt::format(
            "time in calls: {}, {:.0f} % of all time, in {}", duration_text(calls[i].second),
            percent_of(calls[i].second, whole_time(timeline)), calls[i].first));
    return lines;
}

std::string summary_in_json(const Timeline& timeline) {
    const Traffic traffic = traffic_of(timeline);
    std::vector<std::string> ranks, late, waits, path, calls;
    for (const Rank& rank : timeline.ranks) {
        const InMpi share = time_in_mpi(rank);
        ranks.push_back(fmt::format(
            R"({{"rank":{},"host":{},"threads":{},"in_mpi":{:.4f},"waited":{:.4f}}})", rank.rank,
            json_string(rank.host), rank.threads.size(), share.share, share.waited));
    }
    for (const Late& one : late_ranks(timeline))
        late.push_back(fmt::format(R"({{"rank":{},"times":{},"waited_ns":{}}})", one.rank,
                                   one.times, one.waited));
    for (const LongWait wait : longest_waits(timeline, 10))
        waits.push_back(
            fmt::format(R"({{"rank":{},"waits_for":{},"call":{},"location":{},"begin_ns":{},)"
                        R"("waited_ns":{},"over":{}}})",
                        wait.rank->rank, wait.event->waits_for, json_string(wait.event->name),
                        json_string(timeline.location(*wait.event)), wait.event->begin,
                        wait.event->waited(), wait.event->over));
    for (const PathShare& one : path_shares(critical_path(timeline)))
        path.push_back(fmt::format(R"({{"rank":{},"share":{:.4f}}})", one.rank, one.share));
    for (const auto& [call, time] : dearest_calls(timeline)) {
        if (calls.size() == 10) break;
        calls.push_back(fmt::format(R"({{"call":{},"ns":{}}})", json_string(call), time));
    }
    return fmt::format(R"({{"duration_ns":{},"calls":{},"messages":{},"bytes":{},"overwritten":{},)"
                       R"("ranks":[{}],"critical_path":[{}],"late":[{}],)"
                       R"("longest_waits":[{}],"dearest_calls":[{}],"advice":{}}})",
                       timeline.end(), traffic.calls, traffic.messages, traffic.bytes, traffic.lost,
                       fmt::join(ranks, ","), fmt::join(path, ","), fmt::join(late, ","),
                       fmt::join(waits, ","), fmt::join(calls, ","),
                       advice_in_json(advise(timeline)));
}

}  // namespace heddle::timeline
