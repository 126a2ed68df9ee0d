// SPDX-License-Identifier: BSD-3-Clause
#include "wait_graph.hpp"

#include <algorithm>

namespace heddle::hangs {
namespace {

bool may_happen(const Event& event, const std::vector<bool>& acts) {
    return !event.known || std::any_of(event.ranks.begin(), event.ranks.end(), [&](int rank) {
        return acts[static_cast<std::size_t>(rank)];
    });
}

bool is_released(const Wait& wait, const std::vector<bool>& acts) {
    const auto happens = [&](const Event& event) { return may_happen(event, acts); };
    if (wait.needs_all) return std::all_of(wait.events.begin(), wait.events.end(), happens);
    return !wait.whole || std::any_of(wait.events.begin(), wait.events.end(), happens);
}

bool may_act(const Node& node, const std::vector<bool>& acts) {
    if (node.ended) return false;
    return node.free || std::any_of(node.waits.begin(), node.waits.end(), [&](const Wait& wait) {
               return is_released(wait, acts);
           });
}

}  // namespace

int Release::first_stuck() const {
    int first = -1;
    for (std::size_t rank = acts.size(); rank-- > 0;) {
        const bool is_stuck =
            std::find(stuck[rank].begin(), stuck[rank].end(), true) != stuck[rank].end();
        // A rank with threads that go on explains less.
        if (is_stuck && (first < 0 || !acts[rank] || acts[static_cast<std::size_t>(first)]))
            first = static_cast<int>(rank);
    }
    return first;
}

Release release(const Graph& graph) {
    Release result{std::vector<bool>(graph.size()), {}};
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t rank = 0; rank < graph.size(); ++rank) {
            if (result.acts[rank] || !may_act(graph[rank], result.acts)) continue;
            result.acts[rank] = moved = true;
        }
    }
    for (const Node& node : graph) {
        std::vector<bool>& stuck = result.stuck.emplace_back();
        for (const Wait& wait : node.waits)
            stuck.push_back(!node.ended && !is_released(wait, result.acts));
    }
    return result;
}

namespace {

/// Finds the step that explains most. It leads to a rank that has ended, or else to the first stuck
/// one other than `rank`.
bool find_step(const Graph& graph, const Release& release, int rank, Step& step) {
    const Node& node = graph[static_cast<std::size_t>(rank)];
    bool found = false;
    for (std::size_t wait = 0; wait < node.waits.size(); ++wait) {
        if (!release.stuck[static_cast<std::size_t>(rank)][wait]) continue;
        const std::vector<Event>& events = node.waits[wait].events;
        for (std::size_t event = 0; event < events.size(); ++event) {
            if (may_happen(events[event], release.acts)) continue;
            for (const int next : events[event].ranks) {
                const bool ended = graph[static_cast<std::size_t>(next)].ended;
                const bool says_more = step.next == rank && next != rank;
                if (found && !ended && !says_more) continue;
                step = {rank, wait, event, next};
                found = true;
                if (ended) return true;
            }
        }
    }
    return found;
}

}  // namespace

Chain explain(const Graph& graph, const Release& release, int rank) {
    Chain chain;
    for (;;) {
        const auto again = std::find_if(chain.steps.begin(), chain.steps.end(),
                                        [&](const Step& step) { return step.rank == rank; });
        chain.cycle = static_cast<std::size_t>(again - chain.steps.begin());
        Step step;
        if (again != chain.steps.end() || !find_step(graph, release, rank, step)) return chain;
        chain.steps.push_back(step);
        rank = step.next;
    }
}

}  // namespace heddle::hangs
