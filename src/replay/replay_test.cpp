// SPDX-License-Identifier: BSD-3-Clause
#include "replay/replay.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "match/all.hpp"
#include "testing/rounds.hpp"

namespace {

using namespace heddle;
using match::any_source;
using match::any_tag;
using replay::nothing;
using replay::Operation;
using replay::Recorded;
using replay::Result;
using replay::Sequence;
using replay::Step;

Recorded recorded(std::vector<replay::Event> events) {
    return {"a recording", 0, 1, std::move(events)};
}

/// Replays with one timing, since the time does not matter here.
std::vector<Result> played(const Sequence& sequence) { return replay::replay(sequence, {60, 0}); }

const Result& of(const std::vector<Result>& results, std::string_view engine) {
    for (const Result& result : results)
        if (result.engine == engine) return result;
    throw std::logic_error("no such engine");
}

/// Returns the partner of each operation: the number of the earlier operation that posted or
/// brought it.
std::vector<int> partners(const Sequence& sequence) {
    std::vector<int> receives(sequence.receives()), messages(sequence.messages()), partners;
    for (const Operation& operation : sequence.operations()) {
        const int number = static_cast<int>(partners.size());
        const bool arrives = operation.step == Step::arrive;
        partners.push_back(
            operation.other == nothing ? -1 : (arrives ? receives : messages)[operation.other]);
        if (arrives)
            messages[operation.own] = number;
        else if (operation.own != nothing)
            receives[operation.own] = number;
    }
    return partners;
}

TEST(Sequence, knows_what_gets_what) {
    const Sequence sequence(recorded({
        {Step::post, {2, 1, 7}},                 // 0
        {Step::post, {2, any_source, 7}},        // 1
        {Step::arrive, {2, 3, 7}},               // 2: the second receive
        {Step::arrive, {2, 1, 7}},               // 3: the first
        {Step::arrive, {2, 1, 8}},               // 4: unexpected
        {Step::arrive, {4, 1, 7}},               // 5: unexpected, another context
        {Step::post, {2, any_source, any_tag}},  // 6: message 4
        {Step::take, {4, any_source, any_tag}},  // 7: message 5
    }));
    EXPECT_EQ(partners(sequence), (std::vector<int>{-1, -1, 1, 0, -1, -1, 4, 5}));
    const replay::Summary& summary = sequence.summary();
    EXPECT_EQ(summary.posts, 3u);
    EXPECT_EQ(summary.any_source, 2u);
    EXPECT_EQ(summary.any_tag, 1u);
    EXPECT_EQ(summary.arrivals, 4u);
    EXPECT_EQ(summary.unexpected, 2u);
    EXPECT_EQ(summary.taken, 1u);
    EXPECT_EQ(summary.most_posted, 2u);
    EXPECT_EQ(summary.most_unexpected, 2u);
}

TEST(Sequence, receives_with_any_tag_take_their_turn) {
    const Sequence sequence(recorded({
        {Step::post, {2, 1, 7}},                 // 0
        {Step::post, {2, 1, any_tag}},           // 1
        {Step::post, {2, 1, 7}},                 // 2
        {Step::post, {2, any_source, any_tag}},  // 3
        {Step::arrive, {2, 1, 7}},               // 4: 0
        {Step::arrive, {2, 1, 7}},               // 5: 1, before 2
        {Step::arrive, {2, 2, 9}},               // 6: 3
        {Step::arrive, {2, 1, 7}},               // 7: 2
        {Step::arrive, {2, 2, 9}},               // 8: unexpected
    }));
    EXPECT_EQ(partners(sequence), (std::vector<int>{-1, -1, -1, -1, 0, 1, 3, 2, -1}));
}

TEST(Sequence, cancels_the_receive_that_was_posted_first) {
    const Sequence sequence(recorded({
        {Step::post, {2, 1, 7}},        // 0
        {Step::post, {2, 1, any_tag}},  // 1
        {Step::post, {2, 1, 7}},        // 2
        {Step::cancel, {2, 1, 7}},
        {Step::cancel, {2, 1, any_tag}},
        {Step::arrive, {2, 1, 7}},  // 5: 2
        {Step::arrive, {2, 1, 7}},  // 6: unexpected
    }));
    EXPECT_EQ(partners(sequence), (std::vector<int>{-1, -1, -1, -1, -1, 2, -1}));
    EXPECT_EQ(sequence.summary().cancelled, 2u);
}

std::string contradiction(std::vector<replay::Event> events) {
    try {
        Sequence sequence(recorded(std::move(events)));
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "none";
}

TEST(Sequence, that_contradicts_itself_is_refused_with_the_place) {
    EXPECT_EQ(contradiction({{Step::post, {2, 1, 7}}, {Step::cancel, {2, 1, 8}}}),
              "a recording contradicts itself: its event 2 cancels a receive that is not posted");
    EXPECT_EQ(contradiction(
                  {{Step::post, {2, 1, 7}}, {Step::arrive, {2, 1, 7}}, {Step::cancel, {2, 1, 7}}}),
              "a recording contradicts itself: its event 3 cancels a receive that is not posted");
    EXPECT_EQ(contradiction({{Step::arrive, {2, 1, 7}}, {Step::take, {2, 2, 7}}}),
              "a recording contradicts itself: its event 2 takes a message that has not come");
}

TEST(Sequence, leaves_out_what_a_wildcard_may_have_taken) {
    // Sent in the order 8, 7, and matched in the order 7, 8: the receive got 8.
    const Sequence sequence(recorded({
        {Step::arrive, {2, 1, 7}},
        {Step::arrive, {2, 1, 8}},
        {Step::post, {2, 1, any_tag}},
        {Step::take, {2, 1, 7}},
        {Step::cancel, {2, 1, 9}},
    }));
    EXPECT_EQ(sequence.operations().size(), 3u);
    EXPECT_EQ(sequence.summary().left_out, 2u);
    EXPECT_EQ(sequence.summary().taken, 0u);
    EXPECT_EQ(sequence.summary().cancelled, 0u);
}

TEST(Sequence, uses_objects_again) {
    std::vector<replay::Event> events;
    for (int i = 0; i < 1000; ++i) {
        events.push_back({Step::post, {2, 1, i}});
        events.push_back({Step::arrive, {2, 1, i}});
        events.push_back({Step::arrive, {2, 2, i}});
        events.push_back({Step::post, {2, any_source, i}});
    }
    const Sequence sequence(recorded(std::move(events)));
    EXPECT_EQ(sequence.receives(), 1u);
    EXPECT_EQ(sequence.messages(), 1u);
}

TEST(Replay, has_every_engine_that_ships_and_nothing_for_nothing) {
    const std::vector<Result> results = played(Sequence(recorded({})));
    EXPECT_EQ(results.size(), std::tuple_size_v<match::Matchers>);
    for (const Result& result : results) {
        EXPECT_EQ(result.arrivals.operations(), 0u);
        EXPECT_EQ(result.arrivals.average(), 0);
        EXPECT_EQ(result.arrivals.deepest(), 0u);
    }
}

TEST(Replay, counts_what_a_list_looks_at) {
    // The last of 100 receives first, then the first. The last of 3 unexpected messages is then
    // taken.
    std::vector<replay::Event> events;
    for (int tag = 0; tag < 100; ++tag) events.push_back({Step::post, {2, 1, tag}});
    events.push_back({Step::arrive, {2, 1, 99}});
    events.push_back({Step::arrive, {2, 1, 0}});
    for (int tag = 200; tag < 203; ++tag) events.push_back({Step::arrive, {2, 1, tag}});
    events.push_back({Step::post, {2, 1, 202}});
    const std::vector<Result> results = played(Sequence(recorded(std::move(events))));
    const Result& list = of(results, "list");
    EXPECT_EQ(list.arrivals.operations(), 5u);
    EXPECT_EQ(list.arrivals.deepest(), 100u);
    EXPECT_DOUBLE_EQ(list.arrivals.average(), (100 + 1 + 3 * 98) / 5.0);
    EXPECT_EQ(list.arrivals.bucket(1), 1u);  // depth 1
    EXPECT_EQ(list.arrivals.bucket(7), 4u);  // depths 64 to 127
    EXPECT_EQ(list.arrivals.used_buckets(), 8u);
    EXPECT_EQ(list.posts.operations(), 101u);
    EXPECT_EQ(list.posts.deepest(), 3u);
    EXPECT_EQ(list.posts.bucket(0), 100u);
    EXPECT_LT(of(results, "hash").arrivals.deepest(), 20u);
    for (const Result& result : results) EXPECT_GT(result.seconds, 0);
}

TEST(Replay, an_engine_that_has_no_time_left_says_how_far_it_came) {
    std::vector<replay::Event> events;
    for (int tag = 0; tag < 1000; ++tag) events.push_back({Step::post, {2, 1, tag}});
    const Sequence sequence(recorded(std::move(events)));
    for (const Result& result : replay::replay(sequence, {60, 0}))
        EXPECT_EQ(result.operations, 1000u);
    for (const Result& result : replay::replay(sequence, {0, 0})) {
        EXPECT_EQ(result.operations, 0u);
        EXPECT_EQ(result.posts.operations(), 0u);
    }
}

TEST(Replay, receives_with_any_tag_are_looked_at_too) {
    std::vector<replay::Event> events;
    for (int source = 0; source < 50; ++source)
        events.push_back({Step::post, {2, source, any_tag}});
    events.push_back({Step::arrive, {2, 25, 5}});
    const Sequence sequence(recorded(std::move(events)));
    const std::vector<Result> results = played(sequence);
    EXPECT_EQ(of(results, "list").arrivals.deepest(), 26u);
    EXPECT_EQ(of(results, "source").arrivals.deepest(), 1u) << "the list of that source";
    // Each time the hash has another seed, with which parts of two keys may be alike.
    constexpr int times = 300;
    std::uint64_t deepest = 0;
    for (int i = 0; i < times; ++i) deepest += of(played(sequence), "hash").arrivals.deepest();
    EXPECT_GE(deepest, std::uint64_t{times});
    EXPECT_LE(static_cast<double>(deepest) / times, 1.1);
}

// replay() itself detects engines that differ: here for everything that can be recorded.
TEST(Replay, engines_match_alike_whatever_happens) {
    for (unsigned seed = 0; seed < heddle::testing::rounds_in_one_thread(30); ++seed) {
        std::mt19937 random(seed);
        std::vector<replay::Event> events;
        std::vector<match::Envelope> posted;
        const unsigned tags = 1 + random() % 30;
        for (int i = 0; i < 1500; ++i) {
            match::Envelope envelope{static_cast<std::uint32_t>(2 * (random() % 2)),
                                     static_cast<std::int32_t>(random() % 4),
                                     static_cast<std::int32_t>(random() % tags)};
            if (random() % 2 == 0) {
                events.push_back({Step::arrive, envelope});
                continue;
            }
            if (random() % 4 == 0) envelope.source = any_source;
            if (random() % 8 == 0) envelope.tag = any_tag;
            events.push_back({Step::post, envelope});
            if (random() % 8 != 0) continue;
            // The receive is cancelled if it is posted. Otherwise no other event names the message
            // that it got.
            events.push_back({Step::cancel, envelope});
            if (contradiction(events) != "none") events.pop_back();
        }
        EXPECT_NO_THROW(played(Sequence(recorded(std::move(events))))) << "seed " << seed;
    }
}

}  // namespace
