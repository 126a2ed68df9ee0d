// SPDX-License-Identifier: BSD-3-Clause
#include "verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "json.hpp"
#include "wait_graph.hpp"
#include "words.hpp"

namespace heddle::hangs {
namespace {

using node::AwaitedEvent;
using node::AwaitedKind;

constexpr std::int32_t serialized = 2048;  ///< MPI_THREAD_SERIALIZED

const Thread* find(const Rank& rank, std::uint32_t thread) {
    for (const Thread& one : rank.threads)
        if (one.thread == thread) return &one;
    return nullptr;
}

/// Returns true if it has slept from the first look to the second.
bool slept(const Rank& before, const Rank& now, std::uint32_t thread) {
    const Thread *first = find(before, thread), *second = find(now, thread);
    return first != nullptr && second != nullptr && first->state == 'S' && second->state == 'S' &&
        first->switches == second->switches && first->ticks == second->ticks;
}

/// Returns true if it was in the same wait at both looks.
bool waited(const Rank& before, const Rank& now, const Waiting& waiting) {
    return slept(before, now, waiting.thread) &&
        std::any_of(before.waiting.begin(), before.waiting.end(), [&](const Waiting& one) {
               return one.thread == waiting.thread && one.version == waiting.version;
           });
}

/// The graph that two snapshots prove.
class Cut {
public:
    Cut(const Snapshot& first, const Snapshot& second) : first_(first), second_(second) {
        for (std::size_t i = 0; i < second.ranks.size(); ++i) add(i);
    }

    Graph graph;
    /// The waits of each rank, in the order of the graph's waits.
    std::vector<std::vector<const Waiting*>> waits;
    bool library_slept = true;

    /// Returns why nothing can be said. Returns an empty text if the reason is a busy rank.
    std::string doubt() const {
        std::vector<int> unheard;
        for (const Rank& rank : second_.ranks)
            if (!rank.is_heard_of) unheard.push_back(rank.rank);
        if (!unheard.empty()) return "nothing is heard of " + rank_list(unheard);
        if (!second_.whole) return "these are not all ranks of the job";
        if (!library_slept) return "messages are on their way";
        return second_.several_hosts ? doubt_between_hosts() : "";
    }

private:
    /// Compares counters. They stand still while threads sleep. If they do not, a thread ran, which
    /// the wait of its rank shows. Messages to ranks that have ended release no thread.
    std::string doubt_between_hosts() const {
        std::array<std::uint64_t, node::traffic_groups> on_their_way{};
        std::array<bool, node::traffic_groups> has_ended{};  // all ranks of the group
        has_ended.fill(true);
        std::vector<int> uncounted;
        bool counts = false;  // true if a rank counts; some do wherever there is a network
        for (std::size_t i = 0; i < second_.ranks.size(); ++i) {
            const Rank& now = second_.ranks[i];
            if (now.traffic != first_.ranks[i].traffic) return "messages are on their way";
            counts = counts || now.traffic.is_counted;
            if (!now.traffic.is_counted && !now.end) uncounted.push_back(now.rank);
            for (std::size_t group = 0; group < node::traffic_groups; ++group)
                on_their_way[group] += now.traffic.sent[group];
            const std::size_t own_group = node::traffic_group(now.rank);
            on_their_way[own_group] -= now.traffic.taken;
            has_ended[own_group] = has_ended[own_group] && now.end;
        }
        if (counts && !uncounted.empty())
            return rank_list(uncounted) + " did not count what went to other hosts";
        for (std::size_t group = 0; group < node::traffic_groups; ++group)
            if (on_their_way[group] != 0 && !has_ended[group])
                return "messages are on their way between hosts";
        return "";
    }
    void add(std::size_t index) {
        const Rank &before = first_.ranks[index], &now = second_.ranks[index];
        Node& node = graph.emplace_back();
        std::vector<const Waiting*>& own = waits.emplace_back();
        node.ended = now.end.has_value();
        if (node.ended) return;
        std::size_t counted = 0;
        for (const Waiting& waiting : now.waiting) {
            if (!waited(before, now, waiting)) continue;
            node.waits.push_back(wait(waiting.what, now.rank));
            own.push_back(&waiting);
            ++counted;
        }
        const bool waits_as_published = counted == now.waiting.size() && counted != 0;
        node.free = !waits_as_published || now.more_waiting != 0 || has_other_threads(before, now);
        look_at_library(before, now);
    }
    /// Returns true if a thread that does not wait may call MPI, or complete requests. Below
    /// MPI_THREAD_SERIALIZED no other thread may do so; but one that has called MPI all the same
    /// may do so again. A thread that waits for another thread of the rank is never the first to go
    /// on.
    static bool has_other_threads(const Rank& before, const Rank& now) {
        return std::any_of(now.threads.begin(), now.threads.end(), [&](const Thread& thread) {
            return !thread.of_library && !is_waiting(now, thread) &&
                (thread.attached || now.thread_level >= serialized) &&
                !(thread.wait.kind != ProgramWait::Kind::unknown &&
                  slept(before, now, thread.thread));
        });
    }
    void look_at_library(const Rank& before, const Rank& now) {
        for (const Thread& thread : now.threads)
            if (thread.of_library && !slept(before, now, thread.thread) &&
                !(second_.several_hosts && slept_twice(before, thread)))
                library_slept = false;
    }
    /// Returns true if the thread slept in both looks, whatever it did between them. Its counted
    /// actions before the first look were complete when it slept, and the counters show later ones.
    static bool slept_twice(const Rank& before, const Thread& now) {
        const Thread* first = find(before, now.thread);
        return now.is_counted && now.state == 'S' && first != nullptr && first->state == 'S';
    }

    Wait wait(const node::WaitsFor& what, int rank) const {
        Wait result;
        result.needs_all = what.need == node::Need::all;
        result.whole = what.events <= what.number_listed();
        for (std::uint32_t i = 0; i < what.number_listed(); ++i)
            result.events.push_back(event(what.listed[i], rank));
        if (what.events == 0) result.events.push_back({false, {}});
        return result;
    }
    Event event(const AwaitedEvent& what, int rank) const {
        if (what.kind == AwaitedKind::unknown || what.kind == AwaitedKind::file) return {false, {}};
        Event result;
        if (what.any_peer) {
            for (int i = 0; i < AwaitedEvent::most_members; ++i)
                if (what.has_member(i)) result.ranks.push_back(i);
            if (result.ranks.empty()) return {false, {}};
        } else {
            result.ranks.push_back(what.world_peer);
        }
        // The rank's own threads make partitions ready.
        if (what.kind == AwaitedKind::partitioned) result.ranks.push_back(rank);
        const auto size = static_cast<int>(second_.ranks.size());
        result.known = std::all_of(result.ranks.begin(), result.ranks.end(),
                                   [&](int one) { return one >= 0 && one < size; });
        return result;
    }

    const Snapshot& first_;
    const Snapshot& second_;
};

std::string at(const Waiting& waiting) {
    return waiting.location.empty() ? "" : " at " + waiting.location;
}

/// Ranks in calls of the same number on the same communicator, by call.
using Calls = std::map<std::string, std::vector<int>>;

/// Returns the call without the letter of its large-count form, which matches the other form.
std::string plain(std::string call) {
    if (call.ends_with("_c")) call.resize(call.size() - 2);
    return call;
}

class Judge {
public:
    Judge(const Cut& cut, const Release& released, const Snapshot& snapshot)
        : cut_(cut), released_(released), snapshot_(snapshot) {}

    Verdict stuck(int first) const {
        Verdict verdict;
        for (std::size_t rank = 0; rank < cut_.graph.size(); ++rank)
            if (has_stuck(rank)) verdict.ranks.push_back(static_cast<int>(rank));
        const Chain chain = explain(cut_.graph, released_, first);
        const std::string mismatch = find_mismatch();
        if (!mismatch.empty()) {
            verdict.kind = Verdict::Kind::mismatch;
            verdict.sentences.push_back("collective mismatch: " + mismatch);
        } else if (chain.cycle == chain.steps.size()) {
            verdict.kind = Verdict::Kind::ended;
            const int last = chain.steps.back().next;
            verdict.sentences.push_back(fmt::format("{} for rank {}, which {}",
                                                    waiters(verdict.ranks), last, end_of(last)));
        } else {
            verdict.kind = Verdict::Kind::deadlock;
            verdict.sentences.push_back(deadlock(chain, verdict.ranks));
        }
        tell(chain, verdict);
        tell_of_buffering(chain, verdict);
        return verdict;
    }

private:
    static std::string waiters(const std::vector<int>& ranks) {
        return rank_list(ranks) + (ranks.size() == 1 ? " waits" : " wait");
    }
    std::string end_of(int rank) const {
        const auto& end = snapshot_.ranks[static_cast<std::size_t>(rank)].end;
        return end ? *end : "ended";
    }
    bool has_stuck(std::size_t rank) const {
        const std::vector<bool>& stuck = released_.stuck[rank];
        return std::find(stuck.begin(), stuck.end(), true) != stuck.end();
    }

    /// Returns the sentence on the ranks of the circle, and those that wait for them.
    static std::string deadlock(const Chain& chain, const std::vector<int>& stuck) {
        std::vector<int> circle, others;
        for (std::size_t i = chain.cycle; i < chain.steps.size(); ++i)
            circle.push_back(chain.steps[i].rank);
        std::sort(circle.begin(), circle.end());
        std::set_difference(stuck.begin(), stuck.end(), circle.begin(), circle.end(),
                            std::back_inserter(others));
        return fmt::format("deadlock: {}{}",
                           circle.size() == 1
                               ? fmt::format("rank {} waits for itself for ever", circle.front())
                               : rank_list(circle) + " wait for each other for ever",
                           others.empty() ? ""
                                          : ", and so " + rank_list(others) +
                                   (others.size() == 1 ? " does, too" : " do, too"));
    }

    /// Tells the steps of the cycle, or those to the rank that has ended. If there are many, it
    /// tells the first ones and the last.
    void tell(const Chain& chain, Verdict& verdict) const {
        const std::size_t begin = chain.cycle == chain.steps.size() ? 0 : chain.cycle;
        constexpr std::size_t most = 8;
        const std::size_t all = chain.steps.size() - begin;
        for (std::size_t i = 0; i < all; ++i) {
            if (all > most && i == most - 2)
                verdict.sentences.push_back(fmt::format("... {} more ...", all - most + 1));
            if (all <= most || i < most - 2 || i + 1 == all)
                verdict.sentences.push_back(sentence(chain.steps[begin + i]));
        }
    }
    /// Adds that MPI_Send may wait for the receive, whatever its size. It seldom does if messages
    /// are short.
    void tell_of_buffering(const Chain& chain, Verdict& verdict) const {
        std::vector<int> ranks;
        for (std::size_t i = chain.cycle; i < chain.steps.size(); ++i) {
            const Step& step = chain.steps[i];
            const node::WaitsFor& what =
                cut_.waits[static_cast<std::size_t>(step.rank)][step.wait]->what;
            if (plain(what.call) == "MPI_Send" && what.listed[0].kind == AwaitedKind::send)
                ranks.push_back(step.rank);
        }
        std::sort(ranks.begin(), ranks.end());
        if (!ranks.empty())
            verdict.sentences.push_back(fmt::format(
                "MPI_Send of {} only completes with buffering, which MPI does not promise",
                rank_list(ranks)));
    }
    std::string sentence(const Step& step) const {
        const auto rank = static_cast<std::size_t>(step.rank);
        const Waiting& waiting = *cut_.waits[rank][step.wait];
        return fmt::format("rank {} waits for {} in {}{}", step.rank,
                           awaited(step, cut_.graph[rank].waits[step.wait].events[step.event]),
                           sentence_of(waiting.what), at(waiting));
    }
    std::string awaited(const Step& step, const Event& event) const {
        if (cut_.graph[static_cast<std::size_t>(step.next)].ended)
            return fmt::format("rank {}, which {},", step.next, end_of(step.next));
        std::vector<int> ranks = event.ranks;
        std::sort(ranks.begin(), ranks.end());
        ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
        // It cannot make its own event happen while it waits.
        if (ranks.size() > 1) std::erase(ranks, step.rank);
        if (ranks.size() > 1) return "any of " + rank_list(ranks);
        return ranks.front() == step.rank ? "itself" : fmt::format("rank {}", ranks.front());
    }

    /// Returns the sentence on different calls with the same number on a communicator. Returns an
    /// empty text if there are none.
    std::string find_mismatch() const {
        std::map<std::pair<std::uint32_t, std::uint32_t>, Calls> calls;
        std::map<std::uint32_t, std::string> names;
        for (std::size_t rank = 0; rank < cut_.graph.size(); ++rank)
            for (std::size_t i = 0; i < cut_.waits[rank].size(); ++i)
                if (released_.stuck[rank][i])
                    collect(cut_.waits[rank][i]->what, static_cast<int>(rank), calls, names);
        for (const auto& [which, by_call] : calls) {
            if (by_call.size() < 2) continue;
            return mismatch(by_call, which.second, names[which.first]);
        }
        return "";
    }
    static void collect(const node::WaitsFor& what, int rank,
                        std::map<std::pair<std::uint32_t, std::uint32_t>, Calls>& calls,
                        std::map<std::uint32_t, std::string>& names) {
        for (std::uint32_t i = 0; i < what.number_listed(); ++i) {
            const AwaitedEvent& event = what.listed[i];
            // These contexts belong to several communicators without a common process.
            if (event.kind != AwaitedKind::collective || event.number == 0 || event.size < 2 ||
                event.context == self_context || (event.context & local_group) != 0)
                continue;
            const char* call = event.detail[0] != '\0' ? event.detail : what.call;
            std::vector<int>& ranks = calls[{event.context, event.number}][plain(call)];
            if (ranks.empty() || ranks.back() != rank) ranks.push_back(rank);
            names[event.context] = communicator_name(event);
        }
    }
    static std::string mismatch(const Calls& by_call, std::uint32_t number,
                                const std::string& name) {
        std::vector<std::pair<std::vector<int>, std::string>> order;
        for (const auto& [call, ranks] : by_call) order.emplace_back(ranks, call);
        std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
            return a.first.size() < b.first.size();
        });
        std::string text = fmt::format("call #{} on {} is ", number, name);
        for (std::size_t i = 0; i < order.size(); ++i)
            text += fmt::format("{}{} on {}", i == 0 ? "" : ", but ", order[i].second,
                                rank_list(order[i].first));
        return text;
    }

    const Cut& cut_;
    const Release& released_;
    const Snapshot& snapshot_;
};

/// Returns true if the rank visibly does something.
bool is_busy(const Rank& before, const Rank& now) {
    return std::any_of(now.threads.begin(), now.threads.end(), [&](const Thread& thread) {
        if (thread.of_library) return false;
        const Thread* first = find(before, thread.thread);
        return thread.state == 'R' ||
            (first != nullptr && (first->ticks != thread.ticks || first->tests != thread.tests));
    });
}

/// Returns true if each wait ends once one of its peers acts, and each peer has one thread that
/// could. For calls of many ranks only the first peers awaited are known.
bool knows_all(const Snapshot& snapshot) {
    const auto is_message = [](const AwaitedEvent& event) {
        return event.kind == AwaitedKind::receive || event.kind == AwaitedKind::probe ||
            event.kind == AwaitedKind::send;
    };
    return std::all_of(snapshot.ranks.begin(), snapshot.ranks.end(), [&](const Rank& rank) {
        const auto program_threads =
            std::count_if(rank.threads.begin(), rank.threads.end(),
                          [](const Thread& thread) { return !thread.of_library; });
        if (program_threads > 1 && rank.thread_level >= serialized) return false;
        return std::all_of(rank.waiting.begin(), rank.waiting.end(), [&](const Waiting& waiting) {
            const node::WaitsFor& what = waiting.what;
            return what.events == what.number_listed() &&
                std::all_of(what.listed, what.listed + what.events, is_message);
        });
    });
}

/// Returns true if no wait needs any of these ranks, which are free and visibly do nothing.
bool needs_none_of(const std::vector<int>& idle, Graph graph) {
    for (const int rank : idle) graph[static_cast<std::size_t>(rank)].free = false;
    return release(graph).first_stuck() < 0;
}

Verdict while_busy(const std::vector<int>& busy, bool knows) {
    const bool one = busy.size() == 1;
    if (knows)
        return {Verdict::Kind::no_deadlock,
                {},
                {fmt::format("no deadlock: {} {}", rank_list(busy), one ? "runs" : "run")}};
    return {Verdict::Kind::none,
            {},
            {fmt::format("no verdict: {} {}, and others may wait for {}", rank_list(busy),
                         one ? "runs" : "run", one ? "it" : "them")}};
}

Verdict without_proof(const Snapshot& first, const Snapshot& second, const Graph& graph) {
    std::vector<int> busy, idle;
    for (std::size_t i = 0; i < graph.size(); ++i)
        if (graph[i].free)
            (is_busy(first.ranks[i], second.ranks[i]) ? busy : idle).push_back(static_cast<int>(i));
    if (!busy.empty()) return while_busy(busy, knows_all(second) && needs_none_of(idle, graph));
    if (idle.empty())
        return {Verdict::Kind::none, {}, {"no verdict: what is waited for is not known"}};
    return {Verdict::Kind::none,
            {},
            {fmt::format("no verdict: {} {} threads that sleep outside of MPI, or "
                         "have just come to it",
                         rank_list(idle), idle.size() == 1 ? "has" : "have")}};
}

}  // namespace

Verdict judge(const Snapshot& first, const Snapshot& second) {
    if (first.ranks.size() != second.ranks.size())
        return {Verdict::Kind::none, {}, {"no verdict: ranks have come or gone"}};
    const Cut cut(first, second);
    const std::string doubt = cut.doubt();
    if (!doubt.empty()) return {Verdict::Kind::none, {}, {"no verdict: " + doubt}};
    const Release released = release(cut.graph);
    const int stuck = released.first_stuck();
    return stuck < 0 ? without_proof(first, second, cut.graph)
                     : Judge(cut, released, second).stuck(stuck);
}

const char* name_of(Verdict::Kind kind) {
    switch (kind) {
        case Verdict::Kind::no_deadlock: return "no deadlock";
        case Verdict::Kind::deadlock: return "deadlock";
        case Verdict::Kind::mismatch: return "collective mismatch";
        case Verdict::Kind::ended: return "peer has ended";
        default: return "none";
    }
}

std::string verdict_in_json(const Verdict& verdict) {
    std::vector<std::string> sentences;
    for (const std::string& sentence : verdict.sentences)
        sentences.push_back(json_string(sentence));
    return fmt::format("{{\"kind\":{},\"ranks\":[{}],\"sentences\":[{}]}}",
                       json_string(name_of(verdict.kind)), fmt::join(verdict.ranks, ","),
                       fmt::join(sentences, ","));
}

}  // namespace heddle::hangs
