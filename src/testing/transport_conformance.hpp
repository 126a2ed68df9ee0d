// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Tests of all rules for transports (transport/transport.hpp). They run over a Job: it makes
/// lanes which reach each other.
///
/// A Job has     Lane                                the transport
///               static bool available()             false: no such transport on this machine;
///               std::unique_ptr<Lane> lane(Identity, Patience)
///               std::string nowhere()               an address without a listener;
///               static constexpr int most_lanes     a number that one test can have.

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "testing/rounds.hpp"
#include "testing/watchdog.hpp"
#include "transport/transport.hpp"

namespace heddle::testing {

using transport::Bytes;
using transport::Header;
using transport::Peer;
using transport::Post;

/// Returns the first bytes of message `number`. Every byte depends on the number and its place.
inline std::vector<std::byte> payload_of(std::uint32_t number, std::size_t bytes) {
    std::vector<std::byte> payload(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        payload[i] = static_cast<std::byte>(number * 31 + i * 7 + (i >> 8));
    return payload;
}

/// Takes everything, and checks that the messages of each peer are numbered from 0 on.
struct Collector {
    std::map<Peer, std::uint32_t> next;
    std::map<Peer, std::string> gone;
    std::set<Peer> has_left;
    std::vector<std::uint64_t> read;
    std::size_t messages = 0, bytes = 0, wrong = 0, failed_reads = 0, strangers = 0;
    std::size_t patience = ~std::size_t{0};  ///< how many messages it takes; then it takes none

    bool arrived(Peer peer, Header& header) noexcept {
        const Bytes payload = header.whole_payload();
        if (patience == 0) return false;
        --patience;
        const std::uint32_t expected = next[peer]++;
        const auto right = payload_of(expected, payload.size());
        if (header.context != expected || header.tag != -7 ||
            !std::equal(payload.begin(), payload.end(), right.begin()))
            ++wrong;
        ++messages;
        bytes += payload.size();
        return true;
    }
    void read_over(std::uint64_t token, bool fine) noexcept {
        read.push_back(token);
        if (!fine) ++failed_reads;
    }
    void lost(Peer peer, std::string_view why) noexcept { gone[peer] = why; }
    void left(Peer peer) noexcept { has_left.insert(peer); }
    void stranger() noexcept { ++strangers; }
};

template <class Lane>
Post post_numbered(Lane& lane, Peer to, std::uint32_t number, std::size_t bytes) {
    Header header{};
    header.context = number;
    header.tag = -7;
    const auto payload = payload_of(number, bytes);
    const std::size_t prefix = bytes / 3;
    return lane.post(to, header, Bytes(payload).first(prefix), Bytes(payload).subspan(prefix));
}

/// Returns the identity of a lane of a test. Data between the lanes have a checksum.
inline transport::Identity member(Peer process, Peer processes, std::uint64_t job = 42) {
    return {process, processes, {job, ~job}, true};
}

/// Two lanes or more that know each other, each with a collector.
template <class Job>
struct Together {
    using Lane = typename Job::Lane;
    Job job;
    std::vector<std::unique_ptr<Lane>> lanes;
    std::vector<Collector> heard;

    explicit Together(Peer count, transport::Patience patience = {}) : heard(count) {
        for (Peer i = 0; i < count; ++i) lanes.push_back(job.lane(member(i, count), patience));
        for (Peer i = 0; i < count; ++i)
            for (Peer j = 0; j < count; ++j)
                if (i != j) lanes[i]->connect(j, lanes[j]->address());
    }
    /// Returns true if anything happened.
    bool poll_all() {
        bool happened = false;
        for (std::size_t i = 0; i < lanes.size(); ++i)
            if (lanes[i] != nullptr && lanes[i]->poll(heard[i]) > 0) happened = true;
        return happened;
    }
    void send(Peer from, Peer to, std::uint32_t number, std::size_t bytes) {
        while (post_numbered(*lanes[from], to, number, bytes) == Post::retry) poll_all();
    }
    template <class Condition>
    void poll_until(Watchdog& watchdog, Condition&& condition) {
        while (!condition())
            if (poll_all()) watchdog.progress();
    }
    void drain(Watchdog& watchdog) {
        poll_until(watchdog, [&] {
            bool drained = true;
            for (auto& lane : lanes)
                if (lane != nullptr && !lane->drain()) drained = false;
            return drained;
        });
    }
};

template <class Job>
class TransportConformance : public ::testing::Test {
protected:
    void SetUp() override {
        if (!Job::available()) GTEST_SKIP() << "not on this machine";
    }
};
TYPED_TEST_SUITE_P(TransportConformance);

TYPED_TEST_P(TransportConformance, keeps_the_order_of_messages_of_all_sizes) {
    Watchdog watchdog("messages of all sizes");
    Together<TypeParam> two(2);
    std::minstd_rand random(5);
    const std::size_t most = two.lanes[0]->most_payload();
    const std::size_t sizes[] = {0,  1,   7,    8,    16,       17,       32,
                                 64, 100, 1000, 4096, most / 2, most - 1, most};
    std::uint32_t number = 0;
    for (const std::size_t size : sizes) two.send(0, 1, number++, size);
    for (int i = 0; i < 2000; ++i) {
        two.send(0, 1, number++, random() % 3 == 0 ? random() % most : random() % 64);
        if (random() % 5 == 0) two.poll_all();
        watchdog.progress();
    }
    two.poll_until(watchdog, [&] { return two.heard[1].messages == number; });
    EXPECT_EQ(two.heard[1].wrong, 0U);
    EXPECT_EQ(two.heard[0].messages, 0U);
}

TYPED_TEST_P(TransportConformance, carries_four_mebibytes_in_pieces) {
    Watchdog watchdog("pieces");
    Together<TypeParam> two(2);
    const std::size_t most = two.lanes[0]->most_payload(), all = std::size_t{4} << 20;
    std::uint32_t number = 0;
    for (std::size_t left = all; left > 0; watchdog.progress()) {
        const std::size_t piece = std::min(left, most);
        two.send(0, 1, number++, piece);
        left -= piece;
    }
    two.poll_until(watchdog, [&] { return two.heard[1].bytes == all; });
    EXPECT_EQ(two.heard[1].wrong, 0U);
}

TYPED_TEST_P(TransportConformance, reads_memory_of_a_peer_where_it_says_so) {
    Watchdog watchdog("reading");
    Together<TypeParam> two(2);
    if (!two.lanes[0]->can_read()) GTEST_SKIP() << "this provider does not read";
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{4} << 20}) {
        const auto given = payload_of(static_cast<std::uint32_t>(bytes), bytes);
        std::vector<std::byte> taken(bytes);
        const auto exposed = two.lanes[0]->expose(given);
        while (two.lanes[1]->read(0, exposed.remote(), taken, bytes) == Post::retry) two.poll_all();
        two.poll_until(watchdog, [&] { return !two.heard[1].read.empty(); });
        EXPECT_EQ(two.heard[1].read.front(), bytes);
        EXPECT_EQ(two.heard[1].failed_reads, 0U);
        EXPECT_EQ(taken, given);
        two.heard[1].read.clear();
    }
}

TYPED_TEST_P(TransportConformance, a_peer_that_does_nothing_holds_up_nobody_else) {
    Watchdog watchdog("back-pressure");
    Together<TypeParam> three(3);
    // An idle peer that was never reached cannot be connected to.
    three.send(0, 1, 0, 8);
    three.poll_until(watchdog, [&] { return three.heard[1].messages == 1; });
    std::uint32_t number = 1;
    for (int refused = 0; refused < 1000; watchdog.progress()) {
        if (post_numbered(*three.lanes[0], 1, number, 8000) == Post::done) {
            ++number;
            refused = 0;
        } else {
            ++refused;
            three.lanes[0]->poll(three.heard[0]);
        }
        ASSERT_LT(number, 1'000'000U) << "there is no end to what it takes";
    }
    three.send(2, 0, 0, 100);
    for (std::uint32_t i = 0; i < 100; ++i)
        while (post_numbered(*three.lanes[0], 2, i, 100) != Post::done) {
            three.lanes[0]->poll(three.heard[0]);
            three.lanes[2]->poll(three.heard[2]);
        }
    while (three.heard[2].messages < 100 || three.heard[0].messages < 1) {
        three.lanes[0]->poll(three.heard[0]);
        three.lanes[2]->poll(three.heard[2]);
    }
    three.poll_until(watchdog, [&] { return three.heard[1].messages == number; });
    EXPECT_EQ(three.heard[1].wrong, 0U);
    EXPECT_TRUE(three.heard[0].gone.empty());
}

TYPED_TEST_P(TransportConformance, a_message_that_is_not_taken_comes_again) {
    Watchdog watchdog("refused messages");
    Together<TypeParam> two(2);
    std::minstd_rand random(3);
    two.heard[1].patience = 0;
    for (std::uint32_t number = 0; number < 600; ++number) {
        if (post_numbered(*two.lanes[0], 1, number, number % 200) == Post::retry) --number;
        two.heard[1].patience = random() % 4 == 0 ? random() % 3 : 0;
        two.poll_all();
        watchdog.progress();
    }
    two.heard[1].patience = ~std::size_t{0};
    two.poll_until(watchdog, [&] { return two.heard[1].messages == 600; });
    EXPECT_EQ(two.heard[1].wrong, 0U);
}

/// Sends messages back, and takes none without room for its answer.
template <class Lane>
struct Echo {
    Lane& lane;
    bool arrived(Peer peer, Header& header) noexcept {
        return lane.post(peer, header, {}, header.whole_payload()) != Post::retry;
    }
    void read_over(std::uint64_t, bool) noexcept {}
    void lost(Peer, std::string_view why) noexcept { ADD_FAILURE() << why; }
    void left(Peer) noexcept {}
    void stranger() noexcept { ADD_FAILURE() << "a stranger"; }
};

TYPED_TEST_P(TransportConformance, consumers_may_answer_more_than_there_is_room_for) {
    Watchdog watchdog("answers");
    Together<TypeParam> two(2);
    Echo<typename TypeParam::Lane> echo{*two.lanes[1]};
    constexpr std::uint32_t count = 3000;
    std::uint32_t sent = 0;
    // Fill all room before the first answer is looked at.
    for (int refused = 0; refused < 20 && sent < count; two.lanes[1]->poll(echo)) {
        if (post_numbered(*two.lanes[0], 1, sent, sent % 1000) == Post::done)
            ++sent;
        else
            ++refused;
        two.lanes[0]->flush();
    }
    while (two.heard[0].messages < count) {
        if (sent < count && post_numbered(*two.lanes[0], 1, sent, sent % 1000) == Post::done)
            ++sent;
        two.lanes[1]->poll(echo);
        if (two.lanes[0]->poll(two.heard[0]) > 0) watchdog.progress();
    }
    EXPECT_EQ(two.heard[0].wrong, 0U);
}

TYPED_TEST_P(TransportConformance, everybody_talks_to_everybody) {
    Watchdog watchdog("many peers");
    constexpr Peer count = 8;
    constexpr std::uint32_t each = 50;
    Together<TypeParam> all(count);
    for (std::uint32_t number = 0; number < each; ++number)
        for (Peer from = 0; from < count; ++from)
            for (Peer to = 0; to < count; ++to)
                if (from != to) all.send(from, to, number, (number * 37 + to) % 300);
    all.poll_until(watchdog, [&] {
        return std::all_of(all.heard.begin(), all.heard.end(),
                           [](const Collector& c) { return c.messages == each * (count - 1); });
    });
    for (const Collector& collector : all.heard) EXPECT_EQ(collector.wrong, 0U);
}

/// Sleeps until something comes, never longer than the lane says. Returns the result of poll().
template <class Lane>
std::size_t sleep_and_poll(Lane& lane, Collector& collector) {
    if (lane.arm()) {
        pollfd ready{lane.descriptor(), POLLIN, 0};
        const auto nap = std::min(lane.nap(), std::chrono::milliseconds{1'000'000});
        ::poll(&ready, 1, static_cast<int>(nap.count()));
        lane.disarm();
    }
    return lane.poll(collector);
}

TYPED_TEST_P(TransportConformance, sleepers_are_woken) {
    Watchdog watchdog("sleepers");
    Together<TypeParam> two(2);
    constexpr std::uint32_t rounds = 300;
    const auto play = [&](Peer me) {
        Collector& heard = two.heard[me];
        for (std::uint32_t round = 0; round < rounds; ++round) {
            const auto say = [&] {
                while (post_numbered(*two.lanes[me], 1 - me, round, 24) == Post::retry)
                    two.lanes[me]->poll(heard);
            };
            if (me == 0) say();
            while (heard.messages <= round) sleep_and_poll(*two.lanes[me], heard);
            if (me == 1) say();
            watchdog.progress();
        }
        // Data left to be sent need a thread that comes back.
        while (two.lanes[me]->owes()) two.lanes[me]->poll(heard);
    };
    std::thread other([&] { play(1); });
    play(0);
    other.join();
    EXPECT_EQ(two.heard[0].wrong + two.heard[1].wrong, 0U);
}

TYPED_TEST_P(TransportConformance, an_address_where_nobody_listens_is_a_fault_of_that_peer) {
    Watchdog watchdog("nobody listens");
    Together<TypeParam> two(2);
    auto lane = two.job.lane(member(0, 8), {});
    Collector heard;
    lane->connect(1, two.lanes[1]->address());
    lane->connect(5, two.job.nowhere());
    while (post_numbered(*lane, 5, 0, 8) == Post::retry) lane->poll(heard);
    std::uint32_t number = 0;
    while (heard.gone.empty()) {
        if (post_numbered(*lane, 1, number, 40) == Post::done) ++number;
        lane->poll(heard);
        two.lanes[1]->poll(two.heard[1]);
    }
    EXPECT_NE(heard.gone[5].find("refused"), std::string::npos) << heard.gone[5];
    EXPECT_EQ(heard.gone.size(), 1U);
    EXPECT_EQ(post_numbered(*lane, 5, 1, 8), Post::faulty);
    while (two.heard[1].messages < number) {
        lane->poll(heard);
        two.lanes[1]->poll(two.heard[1]);
    }
    EXPECT_EQ(two.heard[1].wrong, 0U);
}

TYPED_TEST_P(TransportConformance, a_watched_peer_that_does_nothing_is_no_fault_of_its_host) {
    using namespace std::chrono_literals;
    Watchdog watchdog("a peer that does nothing");
    Together<TypeParam> two(2, {.before_call = 20ms, .silence = 2400ms});
    two.lanes[0]->watch(1, true);
    two.send(0, 1, 0, 8);
    two.poll_until(watchdog, [&] { return two.heard[1].messages == 1; });
    const auto begin = std::chrono::steady_clock::now();
    // This is like a stopped process, for many times the silence that counts as a fault of a host.
    // Messages to it leave for a while, which says nothing about it.
    std::uint32_t sent = 1;
    while (std::chrono::steady_clock::now() - begin < 6s) {
        if (post_numbered(*two.lanes[0], 1, sent, 2000) == Post::done) ++sent;
        sleep_and_poll(*two.lanes[0], two.heard[0]);
    }
    EXPECT_TRUE(two.heard[0].gone.empty()) << two.heard[0].gone[1];
    two.send(0, 1, sent++, 8);
    two.poll_until(watchdog, [&] { return two.heard[1].messages == sent; });
    EXPECT_EQ(two.heard[1].wrong, 0U);
}

/// Senders that all write at once to one receiver, in batches of every length.
TYPED_TEST_P(TransportConformance, many_senders_to_one_are_not_mixed_up) {
    Watchdog watchdog("many senders");
    // Buffers of 33 lanes take ThreadSanitizer half a minute.
    constexpr Peer most_senders = under_thread_sanitizer ? 10 : 32;
    for (const Peer senders : {Peer{2}, Peer{7}, most_senders}) {
        Together<TypeParam> all(senders + 1);
        std::minstd_rand random(senders);
        const std::size_t most = all.lanes[0]->most_payload();
        std::vector<std::uint32_t> sent(senders + 1);
        const std::uint32_t each = 2400 / senders;
        for (std::size_t left = std::size_t{each} * senders; left > 0;) {
            const Peer from = 1 + random() % senders;
            if (sent[from] == each) continue;
            const std::size_t bytes = random() % 2 == 0 ? random() % most : random() % 200;
            if (post_numbered(*all.lanes[from], 0, sent[from], bytes) == Post::done) {
                ++sent[from];
                --left;
            }
            if (random() % 3 == 0 && all.poll_all()) watchdog.progress();
        }
        all.poll_until(watchdog,
                       [&] { return all.heard[0].messages == std::size_t{each} * senders; });
        EXPECT_EQ(all.heard[0].wrong, 0U);
        EXPECT_TRUE(all.heard[0].gone.empty());
    }
}

TYPED_TEST_P(TransportConformance, what_was_drained_is_there) {
    Watchdog watchdog("draining");
    Together<TypeParam> two(2);
    for (std::uint32_t number = 0; number < 500; ++number) two.send(0, 1, number, number % 4000);
    two.drain(watchdog);
    EXPECT_EQ(two.heard[1].messages, 500U);
    two.lanes[0].reset();
    EXPECT_EQ(two.heard[1].wrong, 0U);
    // A farewell is no fault, and a peer that has left delays no other.
    two.drain(watchdog);
    EXPECT_TRUE(two.heard[1].gone.empty());
}

TYPED_TEST_P(TransportConformance, a_mark_is_passed_when_peers_have_what_was_sent_before) {
    Watchdog watchdog("marks");
    Together<TypeParam> three(3);
    std::uint32_t sent = 0;
    for (std::uint32_t round = 0; round < 50; ++round) {
        for (std::uint32_t i = 0; i < round % 4; ++i) three.send(0, 1, sent++, 1000);
        const std::uint32_t before = sent;
        three.lanes[0]->mark();
        // Sends never end.
        three.poll_until(watchdog, [&] {
            if (sent < before + 100 && post_numbered(*three.lanes[0], 1, sent, 10) == Post::done)
                ++sent;
            return three.lanes[0]->is_past_mark();
        });
        ASSERT_GE(three.heard[1].messages, before);
    }
    EXPECT_EQ(three.heard[1].wrong, 0U);
    // The mark is not passed while the peer takes nothing.
    three.send(0, 2, 0, 8);
    three.lanes[0]->mark();
    for (int i = 0; i < 1000; ++i) {
        three.lanes[0]->poll(three.heard[0]);
        ASSERT_FALSE(three.lanes[0]->is_past_mark());
    }
    three.poll_until(watchdog, [&] { return three.lanes[0]->is_past_mark(); });
    EXPECT_EQ(three.heard[2].messages, 1U);
}

/// Makes the first lane watch the second. A message goes each way, and nothing is pending
/// afterwards.
template <class Job>
void watch_and_meet(Together<Job>& two, Watchdog& watchdog) {
    two.lanes[0]->watch(1, true);
    two.send(0, 1, 0, 8);
    two.send(1, 0, 0, 8);
    two.drain(watchdog);
}

TYPED_TEST_P(TransportConformance, a_lane_that_rests_is_told_later_what_came_meanwhile) {
    using namespace std::chrono_literals;
    Watchdog watchdog("a lane that rests");
    Together<TypeParam> two(2, {.before_call = 20ms, .silence = 400ms});
    two.lanes[0]->watch(1, true);
    for (std::uint32_t opening = 0; opening < 3; ++opening) {
        two.send(0, 1, 5 * opening, 8);
        two.send(1, 0, opening, 8);
        two.drain(watchdog);
        two.lanes[1]->rest();
        const auto begin = std::chrono::steady_clock::now();
        std::uint32_t sent = 1;
        while (sent <= 4 || std::chrono::steady_clock::now() - begin < 600ms) {
            if (sent <= 4 && post_numbered(*two.lanes[0], 1, 5 * opening + sent, 100) == Post::done)
                ++sent;
            sleep_and_poll(*two.lanes[0], two.heard[0]);
        }
        // The lane does not wait for its answers.
        while (!two.lanes[0]->drain()) two.lanes[0]->poll(two.heard[0]);
        ASSERT_TRUE(two.heard[0].gone.empty()) << two.heard[0].gone[1];
        two.lanes[1]->resume();
        two.poll_until(watchdog, [&] { return two.heard[1].messages == 5 * (opening + 1); });
        EXPECT_EQ(two.heard[0].wrong + two.heard[1].wrong, 0U);
    }
}

TYPED_TEST_P(TransportConformance, a_lane_that_answers_while_it_takes_its_leave_rests_then) {
    using namespace std::chrono_literals;
    Watchdog watchdog("an answer after the farewell");
    Together<TypeParam> two(2, {.before_call = 20ms, .silence = 400ms});
    watch_and_meet(two, watchdog);
    two.send(0, 1, 1, 8);
    two.poll_until(watchdog, [&] { return two.heard[1].messages == 2; });
    // Sends a message that the other finds only while it leaves.
    (void)two.lanes[0]->drain();
    while (two.lanes[0]->owes()) two.lanes[0]->poll(two.heard[0]);
    two.lanes[1]->rest();
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < 800ms)
        sleep_and_poll(*two.lanes[0], two.heard[0]);
    EXPECT_TRUE(two.heard[0].gone.empty()) << two.heard[0].gone[1];
}

TYPED_TEST_P(TransportConformance, a_lane_that_rests_may_go) {
    using namespace std::chrono_literals;
    Watchdog watchdog("a lane that is gone");
    Together<TypeParam> two(2, {.before_call = 20ms, .silence = 400ms});
    watch_and_meet(two, watchdog);
    two.lanes[1]->rest();
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < 100ms)
        sleep_and_poll(*two.lanes[0], two.heard[0]);
    two.lanes[1].reset();
    while (post_numbered(*two.lanes[0], 1, 1, 8) == Post::retry) two.lanes[0]->poll(two.heard[0]);
    while (!two.lanes[0]->drain() || std::chrono::steady_clock::now() - begin < 800ms)
        sleep_and_poll(*two.lanes[0], two.heard[0]);
    EXPECT_TRUE(two.heard[0].gone.empty()) << two.heard[0].gone[1];
}

TYPED_TEST_P(TransportConformance, who_has_not_listened_has_heard_no_silence) {
    using namespace std::chrono_literals;
    Watchdog watchdog("all stopped");
    Together<TypeParam> two(2, {.before_call = 20ms, .silence = 400ms});
    two.lanes[0]->watch(1, true);
    two.send(0, 1, 0, 8);
    two.poll_until(watchdog, [&] { return two.heard[1].messages == 1; });
    std::this_thread::sleep_for(600ms);
    const auto begin = std::chrono::steady_clock::now();
    two.poll_until(watchdog, [&] { return std::chrono::steady_clock::now() - begin > 600ms; });
    EXPECT_TRUE(two.heard[0].gone.empty()) << two.heard[0].gone[1];
}

TYPED_TEST_P(TransportConformance, closes_while_messages_are_under_way) {
    Watchdog watchdog("closing");
    for (unsigned seed = 0; seed < 5; ++seed) {
        Together<TypeParam> three(3);
        std::minstd_rand random(seed);
        std::uint32_t numbers[2] = {0, 0};
        for (int i = 0; i < 200; ++i) {
            for (Peer from : {Peer{0}, Peer{1}})
                if (post_numbered(*three.lanes[from], 2, numbers[from], random() % 9000) ==
                    Post::done)
                    ++numbers[from];
            if (random() % 3 == 0) three.poll_all();
        }
        three.lanes[0].reset();
        three.poll_until(watchdog, [&] { return three.heard[2].next[1] == numbers[1]; });
        EXPECT_EQ(three.heard[2].wrong, 0U);
    }
}

TYPED_TEST_P(TransportConformance, stands_a_storm_of_connections) {
    Watchdog watchdog("connections");
    TypeParam job;
    constexpr Peer count = under_thread_sanitizer ? 40 : TypeParam::most_lanes;
    auto lane = job.lane({0, count + 1, 42}, {});
    Collector heard;
    for (Peer begin = 1; begin <= count;) {
        std::vector<std::unique_ptr<typename TypeParam::Lane>> callers;
        std::vector<Collector> theirs(20);
        for (; callers.size() < 20 && begin <= count; ++begin) {
            callers.push_back(job.lane({begin, count + 1, 42}, {}));
            callers.back()->connect(0, lane->address());
            while (post_numbered(*callers.back(), 0, 0, 20) == Post::retry)
                callers.back()->poll(theirs[0]);
            watchdog.progress();
        }
        while (heard.messages < begin - 1) {
            lane->poll(heard);
            for (std::size_t i = 0; i < callers.size(); ++i) callers[i]->poll(theirs[i]);
        }
    }
    EXPECT_EQ(heard.messages, count);
    EXPECT_EQ(heard.wrong, 0U);
    EXPECT_TRUE(heard.gone.empty());
}

TYPED_TEST_P(TransportConformance, does_not_listen_to_other_jobs) {
    Watchdog watchdog("other jobs");
    Together<TypeParam> two(2);
    auto stranger = two.job.lane(member(0, 2, 43), {});
    auto beyond = two.job.lane(member(7, 8), {});
    Collector heard;
    stranger->connect(1, two.lanes[1]->address());
    beyond->connect(1, two.lanes[1]->address());
    while (post_numbered(*stranger, 1, 0, 8) == Post::retry) stranger->poll(heard);
    while (post_numbered(*beyond, 1, 0, 8) == Post::retry) beyond->poll(heard);
    two.send(0, 1, 0, 8);
    two.poll_until(watchdog, [&] {
        stranger->poll(heard);
        beyond->poll(heard);
        return two.heard[1].messages == 1 && !stranger->owes() && !beyond->owes();
    });
    EXPECT_EQ(two.heard[1].wrong, 0U);
    EXPECT_EQ(two.heard[1].messages, 1U);
    two.poll_until(watchdog, [&] { return two.heard[1].strangers == 2; });
}

REGISTER_TYPED_TEST_SUITE_P(
    TransportConformance, consumers_may_answer_more_than_there_is_room_for,
    keeps_the_order_of_messages_of_all_sizes, carries_four_mebibytes_in_pieces,
    reads_memory_of_a_peer_where_it_says_so, a_peer_that_does_nothing_holds_up_nobody_else,
    a_message_that_is_not_taken_comes_again, everybody_talks_to_everybody, sleepers_are_woken,
    an_address_where_nobody_listens_is_a_fault_of_that_peer,
    a_watched_peer_that_does_nothing_is_no_fault_of_its_host, many_senders_to_one_are_not_mixed_up,
    what_was_drained_is_there, a_mark_is_passed_when_peers_have_what_was_sent_before,
    a_lane_that_rests_is_told_later_what_came_meanwhile,
    a_lane_that_answers_while_it_takes_its_leave_rests_then, a_lane_that_rests_may_go,
    who_has_not_listened_has_heard_no_silence, closes_while_messages_are_under_way,
    stands_a_storm_of_connections, does_not_listen_to_other_jobs);

}  // namespace heddle::testing
