// SPDX-License-Identifier: BSD-3-Clause
/// The promises of matching by hash besides right answers: searches of one entry, and memory that
/// goes back. No user can break either from outside. Work is counted, not timed.

#include "match/hash.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "match/source.hpp"
#include "testing/rounds.hpp"

namespace {

using namespace heddle;
using match::any_source;
using match::any_tag;
using match::Envelope;
using match::HashMatcher;

/// Returns the average of entries looked at in a search.
double depth(const HashMatcher& matcher) {
    const auto shallow = static_cast<double>(matcher.searches.total.searches_to_1.value());
    const auto deep = static_cast<double>(matcher.searches.total.searches.value());
    const auto steps = static_cast<double>(matcher.searches.total.search_steps.value());
    return (shallow + steps) / (shallow + deep);
}

/// Receives and messages that keep their addresses.
class Traffic {
public:
    template <class Matcher>
    bool post(Matcher& matcher, const Envelope& pattern) {
        core::Request& receive = receives_.emplace_back();
        receive.context = pattern.context;
        receive.source = pattern.source;
        receive.tag = pattern.tag;
        return matcher.post(receive, pattern) != nullptr;
    }
    template <class Matcher>
    bool arrive(Matcher& matcher, const Envelope& envelope) {
        if (matcher.arrive(envelope) != nullptr) return true;
        match::Message& message = messages_.emplace_back();
        message.envelope = envelope;
        matcher.keep(message);
        return false;
    }

private:
    std::deque<core::Request> receives_;
    std::deque<match::Message> messages_;
};

using Envelopes = std::vector<Envelope>;

Envelopes row(int count, const std::function<Envelope(int)>& make) {
    Envelopes all;
    for (int i = 0; i < count; ++i) all.push_back(make(i));
    return all;
}

/// Posts receives for all of them and has them arrive in the reverse order, then exchanges the two.
double depth_with(HashMatcher& matcher, const Envelopes& envelopes, bool from_any_source = false) {
    Traffic traffic;
    const auto pattern = [&](Envelope envelope) {
        if (from_any_source) envelope.source = any_source;
        return envelope;
    };
    for (const Envelope& envelope : envelopes)
        EXPECT_FALSE(traffic.post(matcher, pattern(envelope)));
    for (std::size_t i = envelopes.size(); i-- > 0;)
        EXPECT_TRUE(traffic.arrive(matcher, envelopes[i]));
    for (const Envelope& envelope : envelopes) EXPECT_FALSE(traffic.arrive(matcher, envelope));
    for (std::size_t i = envelopes.size(); i-- > 0;)
        EXPECT_TRUE(traffic.post(matcher, pattern(envelopes[i])));
    return depth(matcher);
}

constexpr double deepest_average = 1.1;

/// Averages over so many seeds that luck with one does not matter: few entries meet by chance, or
/// do not.
double depth_over_seeds(const Envelopes& envelopes, bool from_any_source) {
    const std::size_t seeds = 1 + 10'000 / envelopes.size();
    double sum = 0;
    for (std::size_t seed = 1; seed <= seeds; ++seed) {
        HashMatcher matcher(seed);
        sum += depth_with(matcher, envelopes, from_any_source);
    }
    return sum / static_cast<double>(seeds);
}

TEST(HashMatcher, looks_at_one_entry_whatever_is_queued) {
    for (const int count : {8, 100, 1'000, 10'000,
                            static_cast<int>(heddle::testing::rounds_in_one_thread(100'000))}) {
        SCOPED_TRACE(count);
        const Envelopes shapes[] = {
            row(count, [](int i) { return Envelope{2, 1, i}; }),
            row(count, [](int i) { return Envelope{2, i, 1}; }),
            row(count, [](int i) { return Envelope{static_cast<std::uint32_t>(2 * i), 1, 1}; }),
            row(count, [](int i) { return Envelope{2, i % 300, i / 300}; }),
        };
        for (const Envelopes& envelopes : shapes)
            for (const bool from_any_source : {false, true})
                EXPECT_LE(depth_over_seeds(envelopes, from_any_source), deepest_average);
    }
}

TEST(HashMatcher, looks_at_one_entry_for_wildcards_among_many_messages) {
    constexpr int messages = 20'000;
    HashMatcher matcher;
    Traffic traffic;
    for (int i = 0; i < messages; ++i) traffic.arrive(matcher, {2, i % 100, i});
    traffic.arrive(matcher, {4, 7, 7});
    for (int i = 0; i < 1'000; ++i) {
        ASSERT_NE(matcher.find({4, any_source, any_tag}), nullptr)
            << "behind all those of another communicator";
        ASSERT_NE(matcher.find({2, i % 100, any_tag}), nullptr);
        ASSERT_NE(matcher.find({2, any_source, messages - 1 - i}), nullptr);
        ASSERT_EQ(matcher.find({2, any_source, messages + i}), nullptr);
        ASSERT_EQ(matcher.find({6, any_source, any_tag}), nullptr);
    }
    EXPECT_LE(depth(matcher), deepest_average);
}

TEST(HashMatcher, keys_with_equal_digits_and_strides_do_not_make_it_a_list) {
    constexpr int count = heddle::testing::rounds_in_one_thread(50'000);
    for (int shift = 1; shift < 20; shift += 3) {
        SCOPED_TRACE(shift);
        const auto up = [shift](int i) {
            return static_cast<int>(static_cast<unsigned>(i) << shift & 0x7fffffffU);
        };
        const Envelopes rows[] = {
            row(count >> (shift > 15 ? shift - 15 : 0),
                [&](int i) { return Envelope{2, 1, up(i)}; }),
            row(count >> (shift > 15 ? shift - 15 : 0),
                [&](int i) { return Envelope{2, up(i), 1}; }),
            // A source and a tag that cancel each other out in a sum, or in an exclusive or.
            row(count, [&](int i) { return Envelope{2, i, 1'000'000 - i}; }),
            row(count, [&](int i) { return Envelope{static_cast<std::uint32_t>(i), i, i}; }),
        };
        for (const Envelopes& envelopes : rows) {
            HashMatcher matcher;
            EXPECT_LE(depth_with(matcher, envelopes), deepest_average);
        }
    }
}

/// Returns tags that share the low digits of a hash, as a user who knows the seed could choose
/// them.
Envelopes against(std::uint64_t seed, int count) {
    const match::KeyHash hash(seed);
    Envelopes chosen;
    for (int tag = 0; static_cast<int>(chosen.size()) < count; ++tag)
        if ((hash(match::Key(2, 1, tag)) & 0xfff) == 0) chosen.push_back({2, 1, tag});
    return chosen;
}

TEST(HashMatcher, keys_chosen_against_one_seed_harm_no_other) {
    const Envelopes chosen = against(0, 2'000);
    HashMatcher known(0), secret;
    EXPECT_GT(depth_with(known, chosen), 100) << "else they have not been chosen well";
    EXPECT_LE(depth_with(secret, chosen), deepest_average);
}

TEST(HashMatcher, gives_memory_back) {
    constexpr int most = heddle::testing::rounds_in_one_thread(1'000'000);
    for (const bool unexpected : {false, true}) {
        SCOPED_TRACE(unexpected ? "messages" : "receives");
        HashMatcher matcher;
        Traffic traffic;
        const auto either = [&](const Envelope& e, bool comes) {
            return comes ? traffic.arrive(matcher, e) : traffic.post(matcher, e);
        };
        const auto first = [&](const Envelope& e) { return either(e, unexpected); };
        const auto second = [&](const Envelope& e) { return either(e, !unexpected); };
        for (int tag = 0; tag < most; ++tag) ASSERT_FALSE(first({2, 1, tag}));
        EXPECT_GT(matcher.memory(), std::size_t{most} * 16) << "else it is not measured well";
        for (int tag = 0; tag < most; ++tag) ASSERT_TRUE(second({2, 1, tag}));
        // A few takes from the table now and then are enough for it to notice.
        for (int round = 0; round < most / 4; ++round) {
            ASSERT_FALSE(first({2, 1, 0}));
            ASSERT_FALSE(first({2, 1, 1}));
            ASSERT_TRUE(second({2, 1, 0}));
            ASSERT_TRUE(second({2, 1, 1}));
        }
        EXPECT_LE(matcher.memory(), 16'384U);
    }
}

TEST(HashMatcher, keeps_its_memory_while_it_is_filled_again_and_again) {
    constexpr int most = 10'000;
    HashMatcher matcher;
    std::size_t once = 0;
    for (int round = 0; round < 5; ++round) {
        Traffic traffic;
        for (int tag = 0; tag < most; ++tag) ASSERT_FALSE(traffic.post(matcher, {2, 1, tag}));
        if (round == 0) once = matcher.memory();
        for (int tag = most; tag-- > 0;) ASSERT_TRUE(traffic.arrive(matcher, {2, 1, tag}));
        EXPECT_EQ(matcher.memory(), once);
    }
}

TEST(HashMatcher, takes_no_memory_for_few_keys) {
    HashMatcher matcher;
    Traffic traffic;
    for (int round = 0; round < 1'000; ++round) {
        for (int key = 0; key < 7; ++key)
            ASSERT_FALSE(traffic.post(matcher, {2, 1, 1'000 * round + key}));
        for (int key = 7; key-- > 0;)
            ASSERT_TRUE(traffic.arrive(matcher, {2, 1, 1'000 * round + key}));
    }
    EXPECT_EQ(matcher.memory(), 0U);
}

TEST(SourceMatcher, needs_memory_for_sources_that_have_something_queued) {
    match::SourceMatcher matcher;
    Traffic traffic;
    for (int tag = 0; tag < 100'000; ++tag) ASSERT_FALSE(traffic.post(matcher, {2, tag % 5, tag}));
    EXPECT_EQ(matcher.memory(), 0U) << "few sources, however high";
    for (int source = 0; source < 10'000; ++source)
        ASSERT_FALSE(traffic.post(matcher, {4, source << 16, 1}));
    EXPECT_GT(matcher.memory(), 0U);
    EXPECT_LE(matcher.memory(), 10'000U * 64);
}

TEST(HashMatcher, answers_the_same_for_every_seed_of_its_hash) {
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
        HashMatcher matcher(seed * 0x2545f4914f6cdd1dU);
        std::deque<match::Message> messages;
        for (int i = 0; i < 500; ++i) {
            messages.emplace_back().envelope = {2, i % 5, i % 50};
            matcher.keep(messages.back());
        }
        for (int tag = 0; tag < 50; ++tag)
            for (int round = 0; round < 10; ++round) {
                core::Request receive;
                receive.context = 2;
                receive.source = any_source;
                receive.tag = tag;
                ASSERT_EQ(matcher.post(receive, {2, any_source, tag}),
                          &messages[static_cast<std::size_t>(tag + 50 * round)]);
            }
    }
}

}  // namespace
