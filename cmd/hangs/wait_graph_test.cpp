// SPDX-License-Identifier: BSD-3-Clause
#include "hangs/wait_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>

namespace heddle::hangs {
namespace {

std::vector<std::string> parts(const std::string& text, char separator) {
    std::vector<std::string> result;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) result.push_back(part);
    return result;
}

/// Returns the event of a text. "1,2" is one of these ranks, "?" an unknown event, "-" no rank at
/// all.
Event event_of(const std::string& text) {
    if (text == "?") return {false, {}};
    Event event;
    if (text == "-") return event;
    for (const std::string& rank : parts(text, ',')) event.ranks.push_back(std::stoi(rank));
    return event;
}

/// Returns the wait of a text. "1&2" needs both events, "1|2" one; "1|2+" has others that are not
/// listed.
Wait wait_of(std::string text) {
    Wait wait;
    if (text.back() == '+') {
        wait.whole = false;
        text.pop_back();
    }
    wait.needs_all = text.find('|') == std::string::npos;
    for (const std::string& event : parts(text, wait.needs_all ? '&' : '|'))
        wait.events.push_back(event_of(event));
    return wait;
}

/// Returns the graph of a text. Blanks separate ranks: "free", "ended", or the waits of its threads
/// between semicolons, perhaps with "free".
Graph graph_of(const std::string& text) {
    Graph graph;
    for (const std::string& rank : parts(text, ' ')) {
        Node& node = graph.emplace_back();
        for (const std::string& thread : parts(rank, ';')) {
            if (thread == "free")
                node.free = true;
            else if (thread == "ended")
                node.ended = true;
            else
                node.waits.push_back(wait_of(thread));
        }
    }
    return graph;
}

std::string acting(const Release& release) {
    std::string text;
    for (const bool acts : release.acts) text += acts ? 'a' : '.';
    return text;
}

struct Case {
    const char* graph;
    const char* acts;  ///< 'a' for each rank that may act
    int stuck_waits;
};

// NOLINTNEXTLINE(*-avoid-c-arrays)
constexpr Case cases[] = {
    // Nothing is stuck.
    {"free", "a", 0},
    {"ended", ".", 0},
    {"free free", "aa", 0},
    {"1 free", "aa", 0},
    {"1 2 3 free", "aaaa", 0},
    {"? 0", "aa", 0},
    {"1,2 0 free", "aaa", 0},
    {"1|2 0 free", "aaa", 0},
    {"1&2 free free", "aaa", 0},
    {"1;free 0", "aa", 0},
    {"1|?", "a", 0},
    {"0,1 free", "aa", 0},
    {"1|2+ 0 0", "aaa", 0},
    {"1 0;2 free", "aaa", 0},
    // Circles.
    {"0", ".", 1},
    {"1 0", "..", 2},
    {"1 2 0", "...", 3},
    {"1 0 free", "..a", 2},
    {"1 0 0 2", "....", 4},
    {"1 2 3 4 5 6 7 0", "........", 8},
    {"1 0 3 2", "....", 4},
    {"1 0 3 free", "..aa", 2},
    // One event of several.
    {"1,2 0,2 0,1", "...", 3},
    {"1,2 0 0 free", "...a", 3},
    {"1|2 0 0", "...", 3},
    {"1|2 0 0;free", "aaa", 0},
    {"1|2 0 3 2", "....", 4},
    {"0,1,2 0,1,2 0,1,2", "...", 3},
    {"0,1,2,3 0,1,2,3 0,1,2,3 free", "aaaa", 0},
    // All events.
    {"1&2 0 free", "..a", 2},
    {"1&2 0 0", "...", 3},
    {"1&2&3 free free 0", ".aa.", 2},
    {"1&? 0", "..", 2},
    {"1&2+ 0 free", "..a", 2},
    {"1,2&3 free 0 0", ".a..", 3},
    // Threads.
    {"1;1 0", "..", 3},
    {"1;2 0 free", "aaa", 0},
    {"1;2 0 0", "...", 4},
    {"0;0", ".", 2},
    {"0;free", "a", 0},
    {"1;1 0;0", "..", 4},
    {"2;free 0 ended", "aa.", 1},
    // Ranks that have ended.
    {"1 ended", "..", 1},
    {"1,2 ended ended", "...", 1},
    {"1,2 ended free", "a.a", 0},
    {"1|2 ended 0", "...", 2},
    {"1&2 ended free", "..a", 1},
    {"1 2 ended", "...", 2},
    {"- free", ".a", 1},
    {"-|1 free", "aa", 0},
};

TEST(WaitGraph, of_each_case_releases_those_that_may_act) {
    for (const Case& one : cases) {
        const Release result = release(graph_of(one.graph));
        EXPECT_EQ(acting(result), one.acts) << one.graph;
        int stuck = 0;
        for (const std::vector<bool>& rank : result.stuck)
            stuck += static_cast<int>(std::count(rank.begin(), rank.end(), true));
        EXPECT_EQ(stuck, one.stuck_waits) << one.graph;
        EXPECT_EQ(result.first_stuck() >= 0, one.stuck_waits != 0) << one.graph;
    }
    EXPECT_GE(std::size(cases), 30U);
}

TEST(WaitGraph, explains_a_circle_by_its_steps_alone) {
    const Graph graph = graph_of("1 2 3 1");
    const Chain chain = explain(graph, release(graph), 0);
    ASSERT_EQ(chain.steps.size(), 4U);
    EXPECT_EQ(chain.cycle, 1U);
    EXPECT_EQ(chain.steps[0].next, 1);
    EXPECT_EQ(chain.steps[3].next, 1);
}

TEST(WaitGraph, explains_a_wait_for_a_rank_that_has_ended) {
    const Graph graph = graph_of("1 0&2 ended");
    const Chain chain = explain(graph, release(graph), 0);
    ASSERT_EQ(chain.steps.size(), 2U);
    EXPECT_EQ(chain.cycle, 2U);
    EXPECT_EQ(chain.steps[1].next, 2);
    EXPECT_EQ(chain.steps[1].event, 1U);
}

TEST(WaitGraph, explains_by_waits_that_are_stuck_and_not_by_others) {
    const Graph graph = graph_of("2;1 0 free");
    const Release result = release(graph);
    EXPECT_EQ(result.first_stuck(), -1);
    const Graph stuck = graph_of("2&1 0 free");
    const Chain chain = explain(stuck, release(stuck), 0);
    ASSERT_EQ(chain.steps.size(), 2U);
    EXPECT_EQ(chain.steps[0].event, 1U);
    EXPECT_EQ(chain.steps[0].next, 1);
}

// --- the same said plainly: sets of ranks that keep each other ---

bool kept(const Event& event, unsigned set, const Graph& graph) {
    if (!event.known) return false;
    return std::all_of(event.ranks.begin(), event.ranks.end(), [&](int rank) {
        return (set >> rank & 1U) != 0 || graph[static_cast<std::size_t>(rank)].ended;
    });
}

bool kept(const Wait& wait, unsigned set, const Graph& graph) {
    const auto keeps = [&](const Event& event) { return kept(event, set, graph); };
    return wait.needs_all
        ? std::any_of(wait.events.begin(), wait.events.end(), keeps)
        : wait.whole && std::all_of(wait.events.begin(), wait.events.end(), keeps);
}

/// Returns true if no rank of the set can act before another one of the set does.
bool keeps_itself(unsigned set, const Graph& graph) {
    for (std::size_t rank = 0; rank < graph.size(); ++rank) {
        const Node& node = graph[rank];
        if ((set >> rank & 1U) == 0 || node.ended) continue;
        if (node.free || !std::all_of(node.waits.begin(), node.waits.end(), [&](const Wait& wait) {
                return kept(wait, set, graph);
            }))
            return false;
    }
    return true;
}

std::string acting_by_all_sets(const Graph& graph) {
    unsigned cannot = 0;
    for (unsigned set = 0; set < 1U << graph.size(); ++set)
        if (keeps_itself(set, graph)) cannot |= set;
    std::string text;
    for (std::size_t rank = 0; rank < graph.size(); ++rank)
        text += (cannot >> rank & 1U) != 0 || graph[rank].ended ? '.' : 'a';
    return text;
}

class RandomGraphs {
public:
    explicit RandomGraphs(unsigned seed) : random_(seed) {}

    Graph graph() {
        Graph graph(static_cast<std::size_t>(below(6) + 1));
        for (Node& node : graph) {
            const int kind = below(12);
            node.ended = kind == 0;
            node.free = kind == 1;
            const int threads = kind <= 1 ? below(2) : 1 + below(2);
            for (int i = 0; i < threads && !node.ended; ++i)
                node.waits.push_back(wait(static_cast<int>(graph.size())));
        }
        return graph;
    }

private:
    int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }
    Wait wait(int ranks) {
        Wait result;
        result.needs_all = below(2) == 0;
        result.whole = below(8) != 0;
        for (int i = 1 + below(3); i > 0; --i) {
            Event event;
            event.known = below(12) != 0;
            for (int k = 1 + below(3); k > 0; --k) event.ranks.push_back(below(ranks));
            result.events.push_back(event);
        }
        return result;
    }
    std::mt19937 random_;
};

TEST(WaitGraph, of_random_graphs_agrees_with_all_sets) {
    int stuck = 0, all_act = 0;
    for (unsigned seed = 0; seed < 6000; ++seed) {
        const Graph graph = RandomGraphs(seed).graph();
        const Release result = release(graph);
        ASSERT_EQ(acting(result), acting_by_all_sets(graph)) << "seed " << seed;
        const int first = result.first_stuck();
        (first >= 0 ? stuck : all_act) += 1;
        if (first < 0) continue;
        const Chain chain = explain(graph, result, first);
        ASSERT_FALSE(chain.steps.empty()) << "seed " << seed;
        for (const Step& step : chain.steps)
            ASSERT_FALSE(result.acts[static_cast<std::size_t>(step.next)]) << "seed " << seed;
    }
    EXPECT_GT(stuck, 300);
    EXPECT_GT(all_act, 300);
}

}  // namespace
}  // namespace heddle::hangs
