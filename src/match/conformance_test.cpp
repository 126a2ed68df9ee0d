// SPDX-License-Identifier: BSD-3-Clause
/// Compares every matching engine with the plain rule.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "match/all.hpp"
#include "testing/rounds.hpp"
#include "tool/recipe.hpp"

namespace {

using namespace heddle;
using match::Envelope;
using match::Message;
using match::Pattern;

/// Two vectors, searched from the front. It decides on indices: receives and messages are numbered.
class PlainMatcher {
public:
    int post(int receive, const Pattern& pattern) {
        for (std::size_t i = 0; i < messages_.size(); ++i)
            if (match::accepts(pattern, messages_[i].envelope)) return take_at(messages_, i);
        receives_.push_back({receive, pattern});
        return -1;
    }
    int arrive(int message, const Envelope& envelope) {
        for (std::size_t i = 0; i < receives_.size(); ++i)
            if (match::accepts(receives_[i].envelope, envelope)) return take_at(receives_, i);
        messages_.push_back({message, envelope});
        return -1;
    }
    int find(const Pattern& pattern) const {
        for (const Entry& m : messages_)
            if (match::accepts(pattern, m.envelope)) return m.number;
        return -1;
    }
    bool cancel(int receive) { return erase(receives_, receive); }
    bool take(int message) { return erase(messages_, message); }
    bool is_posted(int receive) const {
        return std::any_of(receives_.begin(), receives_.end(),
                           [&](auto& e) { return e.number == receive; });
    }
    const auto& messages() const { return messages_; }
    std::multiset<int> posted_numbers() const { return numbers(receives_); }
    std::multiset<int> kept_numbers() const { return numbers(messages_); }
    std::size_t posted() const { return receives_.size(); }

private:
    struct Entry {
        int number;
        Envelope envelope;
    };
    static std::multiset<int> numbers(const std::vector<Entry>& entries) {
        std::multiset<int> all;
        for (const Entry& entry : entries) all.insert(entry.number);
        return all;
    }
    static int take_at(std::vector<Entry>& entries, std::size_t i) {
        const int number = entries[i].number;
        entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
        return number;
    }
    static bool erase(std::vector<Entry>& entries, int number) {
        return std::erase_if(entries, [&](const Entry& e) { return e.number == number; }) != 0;
    }

    std::vector<Entry> receives_, messages_;
};

/// An engine and the plain rule side by side. Each call runs on both, and the results are compared.
template <class Matcher>
class Pair {
public:
    void post(const Pattern& pattern) {
        core::Request& receive = receives_.emplace_back();
        receive.context = pattern.context;
        receive.source = pattern.source;
        receive.tag = pattern.tag;
        const int number = static_cast<int>(receives_.size()) - 1;
        receive.remaining = static_cast<std::uint64_t>(number);
        const Message* message = matcher_.post(receive, pattern);
        ASSERT_EQ(number_of(message), rule_.post(number, pattern)) << "post " << number;
        if (message == nullptr) {
            ASSERT_GT(receive.order, latest_order_);
            latest_order_ = receive.order;
        }
    }
    void arrive(const Envelope& envelope) {
        Message& message = messages_.emplace_back();
        message.envelope = envelope;
        const int number = static_cast<int>(messages_.size()) - 1;
        message.length = static_cast<std::uint64_t>(number);
        core::Request* receive = matcher_.posted_for(envelope);
        ASSERT_EQ(matcher_.posted_for(envelope), receive) << "looking changes nothing";
        ASSERT_EQ(number_of(receive), rule_.arrive(number, envelope)) << "arrival " << number;
        // Alternate between the two methods of taking it out.
        if (receive == nullptr)
            matcher_.keep(message);
        else if (number % 2 == 0)
            matcher_.take_posted(*receive);
        else
            ASSERT_EQ(matcher_.arrive(envelope), receive);
    }
    void find(const Pattern& pattern, bool take) {
        Message* message = matcher_.find(pattern);
        const int number = number_of(message);
        ASSERT_EQ(number, rule_.find(pattern));
        if (!take || message == nullptr) return;
        matcher_.take(*message);
        rule_.take(number);
    }
    /// Takes any queued message, not only the first one of a key.
    void take_any(std::mt19937& random) {
        const auto& queued = rule_.messages();
        if (queued.empty()) return;
        const int number = queued[random() % queued.size()].number;
        matcher_.take(messages_[static_cast<std::size_t>(number)]);
        rule_.take(number);
    }
    /// Cancels a receive, also one that was matched or cancelled before.
    void cancel(int number) {
        ASSERT_EQ(matcher_.cancel(receives_[static_cast<std::size_t>(number)]),
                  rule_.cancel(number));
    }
    void raise(std::uint64_t least) {
        const std::uint64_t highest = matcher_.raise_order(least);
        ASSERT_GE(highest, least);
        ASSERT_GE(highest, latest_order_);
        latest_order_ = highest;
    }
    /// Compares the queued entries, in any order.
    void compare_queues() {
        std::multiset<int> posted, kept;
        matcher_.each_posted(
            [&](const core::Request& receive) { posted.insert(number_of(&receive)); });
        matcher_.each_kept([&](const Message& message) { kept.insert(number_of(&message)); });
        ASSERT_EQ(posted, rule_.posted_numbers());
        ASSERT_EQ(kept, rule_.kept_numbers());
    }
    /// Compares the lengths of queues that the matcher reports.
    void compare_counters() {
        const tool::counters::Matching& counters = matcher_.counters;
        ASSERT_EQ(counters.posted_receives.value(), rule_.posted());
        ASSERT_EQ(counters.unexpected_queue.value(), rule_.messages().size());
        most_kept_ = std::max(most_kept_, rule_.messages().size());
        ASSERT_EQ(counters.most_unexpected_queue.value(), most_kept_);
        const match::Searching& total = matcher_.searches.total;
        ASSERT_GE(total.search_steps.value(), total.deepest_search.value());
        ASSERT_GE(total.search_steps.value(), 2 * total.searches.value())
            << "others are counted apart";
    }
    int receives() const { return static_cast<int>(receives_.size()); }
    bool is_posted(int number) const { return rule_.is_posted(number); }

private:
    // Fields that matching does not touch hold the numbers.
    static int number_of(const core::Request* receive) {
        return receive == nullptr ? -1 : static_cast<int>(receive->remaining);
    }
    static int number_of(const Message* message) {
        return message == nullptr ? -1 : static_cast<int>(message->length);
    }

    Matcher matcher_;
    PlainMatcher rule_;
    std::deque<core::Request> receives_;
    std::deque<Message> messages_;
    std::uint64_t latest_order_ = 0;
    std::size_t most_kept_ = 0;
};

/// An engine with tables of one bucket, as if there were no memory.
struct Crowded : match::HashMatcher {
    static constexpr std::string_view name = "hash_without_memory";
    Crowded() : HashMatcher(1, 1) {}
};

template <class Tuple>
struct AsTypes;
template <class... Ms>
struct AsTypes<std::tuple<Ms...>> {
    using type = ::testing::Types<Ms..., Crowded>;
};

template <class Matcher>
class MatcherConformance : public ::testing::Test {};

struct Names {
    template <class M>
    static std::string GetName(int) {
        return std::string(M::name);
    }
};
TYPED_TEST_SUITE(MatcherConformance, AsTypes<match::Matchers>::type, Names);

template <class Matcher>
void random_steps(unsigned seed, int steps) {
    std::mt19937 random(seed);
    Pair<Matcher> pair;
    const auto below = [&](unsigned n) { return static_cast<std::int32_t>(random() % n); };
    // Some seeds use few keys, some use many; some mostly post, some mostly receive.
    const unsigned contexts = 1 + random() % 3, sources = 1 + random() % 5;
    const unsigned tags = 1u << (random() % 8), posts = 20 + random() % 40;
    const unsigned wild = random() % 3;
    for (int step = 0; step < steps && !::testing::Test::HasFatalFailure(); ++step) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
        const auto context = static_cast<std::uint32_t>(2 * below(contexts));
        const std::int32_t source = below(sources), tag = below(tags);
        const std::int32_t wanted = wild != 0 && below(3) == 0 ? match::any_source : source;
        const auto kind = static_cast<unsigned>(below(100));
        if (kind < posts)
            pair.post({context, wanted, tag});
        else if (kind < 80)
            pair.arrive({context, source, tag});
        else if (kind < 88)
            pair.find({context, wanted, below(2) == 0 ? match::any_tag : tag}, kind % 2 == 0);
        else if (kind < 91)
            pair.take_any(random);
        else if (kind < 98 && pair.receives() > 0) {
            const int number = below(static_cast<unsigned>(pair.receives()));
            if (pair.is_posted(number) || number % 4 == 0) pair.cancel(number);
        } else
            pair.raise(random() % 3000);
        if (step % 64 == 0) pair.compare_queues();
        pair.compare_counters();
    }
}

TYPED_TEST(MatcherConformance, agrees_with_the_plain_rule) {
    for (unsigned seed = 0; seed < heddle::testing::rounds_in_one_thread(200); ++seed)
        random_steps<TypeParam>(seed, 2000);
}

TYPED_TEST(MatcherConformance, grows_and_shrinks) {
    Pair<TypeParam> pair;
    constexpr int most = 3000;
    for (int round = 0; round < 3; ++round) {
        // Unexpected messages with a tag each, taken in another order than that of their arrival.
        for (int tag = 0; tag < most; ++tag) pair.arrive({2, tag % 7, tag});
        for (int i = 0; i < most; ++i) {
            const int tag = static_cast<int>(static_cast<unsigned>(i) * 769U % most);
            pair.post({2, tag % 2 == 0 ? match::any_source : tag % 7, tag});
        }
        // Receives in the same orders. Half of them are cancelled.
        const int first = pair.receives();
        for (int tag = 0; tag < most; ++tag)
            pair.post({2, tag % 3 == 0 ? match::any_source : 1, most * (round + 1) + tag});
        for (int tag = 0; tag < most; tag += 2) pair.cancel(first + tag);
        for (int tag = 1; tag < most; tag += 2) pair.arrive({2, 1, most * (round + 1) + tag});
        ASSERT_NO_FATAL_FAILURE(pair.find({2, match::any_source, match::any_tag}, false));
        // Few keys now, many times: a table that has grown stays in use.
        for (int i = 0; i < 2000; ++i) {
            pair.arrive({4, 0, i % 3});
            pair.post({4, 0, i % 3});
        }
    }
}

/// Cancels receives of one key in a long queue. Each is taken out without a search for it. Searches
/// would be five thousand million steps.
TYPED_TEST(MatcherConformance, cancels_in_a_long_queue) {
    constexpr std::size_t most = 100'000;
    std::deque<core::Request> receives(most);
    TypeParam matcher;
    for (core::Request& receive : receives) {
        receive.context = 2;
        receive.source = 1;
        receive.tag = 3;
        ASSERT_EQ(matcher.post(receive, {2, 1, 3}), nullptr);
    }
    ASSERT_EQ(matcher.arrive({2, 1, 3}), &receives[0]);
    for (std::size_t i = 0; i < most; ++i) {
        const std::size_t number = i * 7919 % most;  // all of them, far from each other
        ASSERT_EQ(matcher.cancel(receives[number]), number != 0);
        ASSERT_FALSE(matcher.cancel(receives[number]));
    }
    ASSERT_EQ(matcher.arrive({2, 1, 3}), nullptr);
    ASSERT_EQ(matcher.counters.posted_receives.value(), 0U);
}

/// The measure of list engines (P4): the entries of a queue that searches traverse.
template <class Matcher>
std::uint64_t steps_of_reverse_order(int sources) {
    constexpr int most = 100;
    std::deque<core::Request> receives(most);
    Matcher matcher;
    for (int i = 0; i < most; ++i) {
        core::Request& receive = receives[static_cast<std::size_t>(i)];
        receive.context = 2;
        receive.source = i % sources;
        receive.tag = i;
        matcher.post(receive, {2, i % sources, i});
    }
    for (int i = most; i-- > 0;) EXPECT_NE(matcher.arrive({2, i % sources, i}), nullptr);
    return matcher.searches.steps();
}

TEST(SearchDepth, is_what_lists_traverse) {
    EXPECT_EQ(steps_of_reverse_order<match::ListMatcher>(1), 5050U);
    EXPECT_EQ(steps_of_reverse_order<match::ListMatcher>(10), 5050U);
    EXPECT_EQ(steps_of_reverse_order<match::SourceMatcher>(1), 5050U);
    EXPECT_EQ(steps_of_reverse_order<match::SourceMatcher>(10), 550U) << "ten lists of ten";
}

TEST(Selected, has_the_engines_that_the_knob_may_say) {
    const auto shipped = []<class... M>(std::tuple<M...>*) {
        return std::vector<std::string_view>{M::name...};
    }(static_cast<match::Matchers*>(nullptr));
    ASSERT_EQ(shipped.size(), std::size(tool::matcher_names));
    for (std::size_t i = 0; i < shipped.size(); ++i) EXPECT_EQ(shipped[i], tool::matcher_names[i]);
}

}  // namespace
