// SPDX-License-Identifier: BSD-3-Clause
/// Lanes over the simulated network; batches from unknown senders.

#include "transport/lane.hpp"

#include <gtest/gtest.h>

#include "testing/network.hpp"
#include "testing/transport_conformance.hpp"

namespace heddle::testing {
namespace {

template <unsigned seed>
struct SimulatedJob {
    using Lane = NetworkLane;
    static constexpr int most_lanes = 1000;
    static bool available() { return true; }

    Network network{seed};
    std::unique_ptr<Lane> lane(transport::Identity identity, transport::Patience patience) {
        return std::make_unique<Lane>(identity, patience, network);
    }
    static std::string nowhere() { return Network::address_of(123'456); }
};

using Seeds = ::testing::Types<SimulatedJob<1>, SimulatedJob<2>, SimulatedJob<3>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Simulated, TransportConformance, Seeds);

using One = SimulatedJob<9>;

TEST(LaneFaults, a_connection_that_breaks_is_a_fault_of_that_peer_and_told_once) {
    Watchdog watchdog("a connection that breaks");
    Together<One> three(3);
    three.send(0, 1, 0, 8);
    three.send(0, 2, 0, 8);
    three.poll_until(watchdog, [&] { return three.heard[1].messages == 1; });
    three.job.network.cut(three.lanes[1]->address());
    std::uint32_t number = 1;
    three.poll_until(watchdog, [&] {
        if (post_numbered(*three.lanes[0], 1, number, 100) == Post::done) ++number;
        return !three.heard[0].gone.empty();
    });
    EXPECT_EQ(
        three.heard[0].gone[1],
        three.lanes[0]->wire().place(three.lanes[1]->address()) + ": " + std::strerror(ECONNRESET));
    three.heard[0].gone.clear();
    for (std::uint32_t i = 1; i < 100; ++i) three.send(0, 2, i, 100);
    three.poll_until(watchdog, [&] { return three.heard[2].messages == 100; });
    EXPECT_TRUE(three.heard[0].gone.empty());
    EXPECT_EQ(three.heard[2].wrong, 0U);
}

TEST(LaneFaults, a_lost_batch_is_a_fault_of_its_sender) {
    Watchdog watchdog("a gap");
    One job;
    auto first = job.lane(member(0, 3), {}), second = job.lane(member(1, 3), {});
    Collector heard, ignored;
    first->connect(1, second->address());
    while (post_numbered(*first, 1, 0, 8) == Post::retry || first->owes()) first->poll(ignored);
    while (heard.messages == 0) second->poll(heard);
    // Another lane that claims to be the same process begins with its own first batch.
    auto again = job.lane(member(0, 3), {});
    again->connect(1, second->address());
    while (post_numbered(*again, 1, 1, 8) == Post::retry || again->owes()) again->poll(ignored);
    while (heard.gone.empty()) second->poll(heard);
    EXPECT_NE(heard.gone[0].find("interrupted"), std::string::npos) << heard.gone[0];
    EXPECT_EQ(heard.messages, 1U);
}

TEST(LaneFaults, a_host_that_is_cut_off_is_found_silent) {
    using namespace std::chrono_literals;
    Watchdog watchdog("a host that is cut off");
    Together<One> two(2, {.before_call = 20ms, .silence = 2400ms});
    two.lanes[0]->watch(1, true);
    two.send(0, 1, 0, 8);
    two.poll_until(watchdog, [&] { return two.heard[1].messages == 1; });
    two.job.network.vanish(two.lanes[1]->address());
    two.poll_until(watchdog, [&] { return !two.heard[0].gone.empty(); });
    EXPECT_NE(two.heard[0].gone[1].find("nor has its host"), std::string::npos)
        << two.heard[0].gone[1];
}

TEST(LaneFaults, what_leaves_for_a_silent_peer_does_not_undo_what_is_known_of_its_host) {
    using namespace std::chrono_literals;
    Watchdog watchdog("calls to a peer that does nothing");
    // Few calls, so that they leave until after the time in which the host must have acknowledged
    // something.
    Together<One> two(2, {.before_call = 100ms, .silence = 400ms});
    two.lanes[0]->watch(1, true);
    two.send(0, 1, 0, 8);
    two.poll_until(watchdog, [&] { return two.heard[1].messages == 1; });
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < 700ms) two.lanes[0]->poll(two.heard[0]);
    EXPECT_TRUE(two.heard[0].gone.empty()) << two.heard[0].gone[1];
}

TEST(LaneFaults, bytes_that_the_network_has_changed_are_a_fault) {
    Watchdog watchdog("other bytes");
    Together<One> two(2);
    two.send(0, 1, 0, 8);
    two.poll_until(watchdog, [&] { return two.heard[1].messages == 1; });
    two.job.network.spoil(two.lanes[1]->address());
    two.send(0, 1, 1, 100);
    two.poll_until(watchdog, [&] { return !two.heard[1].gone.empty(); });
    EXPECT_NE(two.heard[1].gone[0].find("other bytes"), std::string::npos) << two.heard[1].gone[0];
    EXPECT_EQ(two.heard[1].messages, 1U);
}

TEST(LaneBatches, several_messages_leave_in_one) {
    Watchdog watchdog("batches");
    Together<One> two(2);
    // The first leaves at once, or waits for the network; the others gather.
    for (std::uint32_t number = 0; number < 50; ++number)
        ASSERT_EQ(post_numbered(*two.lanes[0], 1, number, 8), Post::done);
    EXPECT_TRUE(two.lanes[0]->owes());
    while (two.lanes[0]->owes()) two.lanes[0]->poll(two.heard[0]);
    std::size_t before = 0;
    int steps = 0;
    two.poll_until(watchdog, [&] {
        if (two.heard[1].messages != before) ++steps;
        before = two.heard[1].messages;
        return before == 50;
    });
    EXPECT_LE(steps + 1, 3);
    EXPECT_EQ(two.heard[1].wrong, 0U);
}

TEST(BatchReader, never_looks_beyond_what_has_come) {
    std::minstd_rand random(17);
    for (int round = 0; round < 20'000; ++round) {
        // On the heap, of the exact size: AddressSanitizer sees the byte behind it.
        std::vector<std::byte> bytes(random() % 300);
        for (std::byte& byte : bytes)
            byte = static_cast<std::byte>(random() % 3 == 0 ? random() : 0);
        transport::BatchReader reader{std::span(bytes)};
        transport::BatchHeader batch{};
        if (!reader.read_header(batch)) continue;
        if (random() % 4 == 0) {
            ASSERT_FALSE(reader.check());
        }
        for (std::size_t messages = 0; !reader.at_end(); ++messages) {
            const Header* const header = reader.front();
            if (header == nullptr) break;
            ASSERT_LE(header->payload() + header->length, bytes.data() + bytes.size());
            ASSERT_LT(messages, 10U);
            reader.pop(*header);
        }
    }
}

}  // namespace
}  // namespace heddle::testing
