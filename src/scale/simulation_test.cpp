// SPDX-License-Identifier: BSD-3-Clause
/// Simulated jobs: results of every algorithm, counts, refusals, times that follow from parameters.

#include "scale/simulation.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "coll/algorithms.hpp"
#include "scale/calls.hpp"
#include "scale/table.hpp"

namespace heddle::scale {
namespace {

using coll::Collective;
using coll::Schedule;

// One thread runs all ranks. Sanitizers find their errors with few of them.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::int32_t side = 6;
constexpr std::uint64_t lengths[] = {600};
#else
constexpr std::int32_t side = 16;
constexpr std::uint64_t lengths[] = {8, 600, 4096};
#endif

launch::RegularMap in_blocks(std::int32_t nodes, std::int32_t each) {
    return {each, nodes, nodes * each};
}
launch::RegularMap in_turn(std::int32_t nodes, std::int32_t each) {
    return {1, nodes, nodes * each};
}

/// Copies no message, so that nothing ends before it is received.
SimulationOptions strict() { return {.moves_data = true, .buffers = false}; }

void expect_right(Ranks& ranks, const CallSettings& settings, const coll::Algorithm& algorithm) {
    CollectiveCall call(ranks, settings);
    if (!call.may_take(algorithm)) return;
    Simulation simulation(ranks, default_parameters(), strict());
    const Outcome outcome =
        simulation.run([&](Schedule& schedule) { call.write(schedule, &algorithm); }, call.tag());
    const std::string which = std::string(coll::name_of(algorithm.what)) + ", " +
        std::string(algorithm.name) + ", " + std::to_string(ranks.size()) + " ranks, " +
        std::to_string(settings.bytes) + " bytes, " + (settings.blocking ? "" : "non") + "blocking";
    EXPECT_TRUE(outcome.stuck.empty()) << which;
    EXPECT_EQ(outcome.left_over, 0) << which;
    EXPECT_EQ(outcome.wrong_lengths, 0) << which;
    EXPECT_EQ(call.wrong_rank(), -1) << which;
}

/// Returns true if the result depends on the order of operands in sums.
bool combines_in_levels(Collective what) {
    return what == Collective::reduce || what == Collective::allreduce;
}

void expect_all_right(Ranks& ranks, std::uint64_t bytes) {
    for (const coll::Algorithm& algorithm : coll::algorithms())
        if (CollectiveCall::named(coll::name_of(algorithm.what)))
            for (const bool blocking : {true, false})
                for (const bool doubles : {true, false})
                    if (doubles || combines_in_levels(algorithm.what))
                        expect_right(ranks,
                                     {.what = algorithm.what,
                                      .bytes = bytes,
                                      .doubles = doubles,
                                      .blocking = blocking,
                                      .with_data = true},
                                     algorithm);
}

TEST(ScaleSimulation, every_algorithm_gives_its_result_without_buffers) {
    const launch::RegularMap maps[] = {in_blocks(1, 1),  in_blocks(1, 5), in_blocks(5, 1),
                                       in_blocks(4, 3),  in_turn(3, 4),   {4, 3, 10},
                                       in_blocks(2, 40), in_turn(7, 7)};
    for (const launch::RegularMap& map : maps) {
        Ranks ranks(map);
        for (const std::uint64_t bytes : lengths) expect_all_right(ranks, bytes);
    }
}

TEST(ScaleSimulation, of_many_ranks_every_algorithm_gives_its_result) {
    for (const launch::RegularMap& map :
         {in_blocks(side / 2, 2 * side), in_turn(side, side), in_blocks(1, side * side)}) {
        Ranks ranks(map);
        expect_all_right(ranks, 16);
    }
}

/// Each rank waits for the rank before it, and then sends.
TEST(ScaleSimulation, a_circle_of_waits_is_found) {
    Ranks ranks(in_blocks(2, 3));
    Simulation simulation(ranks, default_parameters(), {});
    const Outcome outcome = simulation.run(
        [](Schedule& schedule) {
            schedule.receive(nullptr, 0, schedule.before(1));
            schedule.wait();
            schedule.send(nullptr, 0, schedule.after(1));
        },
        1);
    EXPECT_EQ(outcome.stuck.size(), 6);
    EXPECT_EQ(outcome.left_over, 6);
    EXPECT_FALSE(outcome.fine());
}

/// Each rank sends and waits before it receives: that needs buffers.
TEST(ScaleSimulation, sends_that_need_buffers_are_found) {
    const auto exchange = [](Schedule& schedule) {
        schedule.send(nullptr, 0, schedule.rank ^ 1);
        schedule.wait();
        schedule.receive(nullptr, 0, schedule.rank ^ 1);
    };
    Ranks ranks(in_blocks(2, 2));
    EXPECT_TRUE(Simulation(ranks, default_parameters(), {}).run(exchange, 1).fine());
    EXPECT_EQ(Simulation(ranks, default_parameters(), strict()).run(exchange, 1).stuck.size(), 4);
}

TEST(ScaleSimulation, messages_of_another_length_and_left_ones_are_found) {
    Ranks ranks(in_blocks(2, 1));
    std::byte data[16] = {};
    const Outcome outcome = Simulation(ranks, default_parameters(), {})
                                .run(
                                    [&](Schedule& schedule) {
                                        if (schedule.rank == 0) {
                                            schedule.send(data, 8, 1);
                                            schedule.send(data, 8, 1);
                                        } else {
                                            schedule.receive(data + 8, 4, 0);
                                        }
                                    },
                                    1);
    EXPECT_EQ(outcome.wrong_lengths, 1);
    EXPECT_EQ(outcome.left_over, 1);
}

/// A message keeps its place behind those that were sent before it.
TEST(ScaleSimulation, two_messages_arrive_in_order) {
    Ranks ranks(in_blocks(2, 1));
    std::byte out[2] = {std::byte{1}, std::byte{2}}, in[2] = {};
    Simulation simulation(ranks, default_parameters(), strict());
    const Outcome outcome = simulation.run(
        [&](Schedule& schedule) {
            for (int i = 0; i < 2; ++i)
                schedule.rank == 0 ? schedule.send(out + i, 1, 1) : schedule.receive(in + i, 1, 0);
        },
        1);
    EXPECT_TRUE(outcome.fine());
    EXPECT_EQ(in[0], std::byte{1});
    EXPECT_EQ(in[1], std::byte{2});
}

Parameters plain() {
    const Link within{Curve({{0, 1.0}}), Curve({{0, 0.25}}), Curve({{0, 0.25}}), 0, 1 << 20, 1.0};
    const Link between{
        Curve({{0, 10.0}, {1000, 20.0}}), Curve({{0, 2.0}}), Curve({{0, 2.0}}), 0.01, 1 << 20, 3.0};
    return {within, between, 0.1, 0.001, 0.002, 0, "a test"};
}

Outcome run_one(Ranks& ranks, Collective what, std::uint64_t bytes, const char* name,
                SimulationOptions options = {}) {
    for (const coll::Algorithm& algorithm : coll::algorithms())
        if (algorithm.what == what && algorithm.name == name) {
            CollectiveCall call(ranks, {.what = what, .bytes = bytes});
            return Simulation(ranks, plain(), options)
                .run([&](Schedule& schedule) { call.write(schedule, &algorithm); }, call.tag());
        }
    ADD_FAILURE() << name << " is not there";
    return {};
}

TEST(ScaleSimulation, times_follow_from_parameters) {
    Ranks two(in_blocks(2, 1)), eight(in_blocks(8, 1));
    EXPECT_DOUBLE_EQ(run_one(two, Collective::bcast, 1000, "binomial").time_us, 20.0);
    EXPECT_DOUBLE_EQ(run_one(two, Collective::barrier, 0, "dissemination").time_us, 10.0);
    // A message in each of three rounds.
    EXPECT_DOUBLE_EQ(run_one(eight, Collective::barrier, 0, "dissemination").time_us, 30.0);
    // Each sends seven, during which four have come. The last three come before they are due.
    EXPECT_DOUBLE_EQ(run_one(eight, Collective::barrier, 0, "direct").time_us, 7 * 2.0 + 7 * 2.0);
    // The root sends three. The first of these reaches the last leaf by two more hops.
    EXPECT_DOUBLE_EQ(run_one(eight, Collective::bcast, 0, "binomial").time_us, 30.0);
}

TEST(ScaleSimulation, bytes_of_a_node_share_its_network) {
    Ranks ranks(in_blocks(2, 8));
    const Outcome outcome = Simulation(ranks, plain(), {})
                                .run(
                                    [](Schedule& schedule) {
                                        if (schedule.rank < 8)
                                            schedule.send(nullptr, 1000, schedule.rank + 8);
                                        else
                                            schedule.receive(nullptr, 1000, schedule.rank - 8);
                                    },
                                    1);
    EXPECT_GE(outcome.time_us, 8 * 1000 * 0.01);
    EXPECT_LT(outcome.time_us, 8 * 1000 * 0.01 + 40);
}

TEST(ScaleSimulation, ranks_of_one_core_take_turns) {
    Ranks ranks(in_blocks(2, 1));
    const Outcome outcome = run_one(ranks, Collective::barrier, 0, "dissemination", {.cores = 1});
    // Each sends and receives after a change of the rank. There are at least three changes of 3
    // each.
    EXPECT_GE(outcome.time_us, 4 * 2.0 + 2 * 3.0);
    EXPECT_EQ(run_one(ranks, Collective::barrier, 0, "dissemination", {.cores = 2}).time_us, 10.0);
    Ranks of_one_node(in_blocks(1, 2));
    const double within =
        run_one(of_one_node, Collective::barrier, 0, "dissemination", {.cores = 1}).time_us;
    EXPECT_GE(within, 4 * 0.25 + 2 * 1.0);
    EXPECT_LT(within, 4 * 0.25 + 2 * 3.0) << "changes within a node are faster";
}

TEST(ScaleSimulation, what_crosses_the_network_is_counted) {
    Ranks ranks(in_blocks(16, 16));
    const Outcome flat = run_one(ranks, Collective::barrier, 0, "dissemination");
    EXPECT_EQ(flat.between.messages + flat.within.messages, 256 * 8);
    EXPECT_EQ(flat.most_rounds, 8);
    EXPECT_EQ(flat.most_messages, 16);
    const Outcome levels = run_one(ranks, Collective::barrier, 0, "levels");
    EXPECT_EQ(levels.between.messages, 16 * 4);
    EXPECT_EQ(levels.within.messages, 0);
    EXPECT_GT(levels.signals, 256);
    // A tree of nodes: no lead has a message for each node.
    const Outcome tree = run_one(ranks, Collective::gather, 8, "levels");
    EXPECT_EQ(tree.between.messages, 15);
    EXPECT_LE(tree.most_messages, 4);
    const Outcome gathered = run_one(ranks, Collective::gather, 8, "direct");
    EXPECT_EQ(gathered.between.bytes + gathered.within.bytes, 255 * 8);
}

TEST(ScaleTable, marks_what_the_library_chooses_and_what_is_best) {
    Ranks ranks(in_blocks(8, 4));
    const Table table = compare(ranks, plain(), {.what = Collective::allreduce, .bytes = 8}, {});
    EXPECT_EQ(table.chosen().algorithm->name, "levels");
    int best = 0;
    for (const Row& row : table.rows) {
        EXPECT_TRUE(row.simulated) << row.algorithm->name;
        EXPECT_TRUE(row.outcome.fine()) << row.algorithm->name;
        EXPECT_GE(row.us, 0);
        best += row.best;
    }
    EXPECT_EQ(best, 1);
    EXPECT_GE(table.loss(), 1);
}

TEST(ScaleTable, leaves_out_what_sends_too_many_messages) {
    Ranks ranks(in_blocks(8, 4));
    const Table table = compare(ranks, plain(), {.what = Collective::alltoall, .bytes = 65536},
                                {.simulation = {}, .most_steps = 100});
    for (const Row& row : table.rows) EXPECT_FALSE(row.simulated) << row.algorithm->name;
    EXPECT_EQ(table.loss(), 0);
    // Each of 32 ranks sends to the others and receives from them: 28 on other nodes.
    EXPECT_GE(table.chosen().us, 2 * 28 * 2.0);
}

/// Each of several calls in a row takes as long as a single one, for a barrier.
TEST(ScaleTable, calls_in_a_row_take_the_time_of_one_each) {
    Ranks ranks(in_blocks(4, 1));
    const Table table = compare(ranks, plain(), {.what = Collective::barrier},
                                {.simulation = {.calls = 5}, .most_steps = 1 << 20});
    EXPECT_NEAR(table.chosen().us, 16.0, 8.0);
}

}  // namespace
}  // namespace heddle::scale
