// SPDX-License-Identifier: BSD-3-Clause
#include "node/payload_ring.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "testing/simulation.hpp"

namespace {

using heddle::acquire;
using heddle::relaxed;
using heddle::release;
using heddle::node::BasicPayloadConsumer;
using heddle::node::BasicPayloadProducer;
using heddle::node::BasicPayloadRing;
using heddle::node::Copy;
using heddle::node::PayloadConsumer;
using heddle::node::PayloadProducer;
using heddle::node::PayloadRing;
using heddle::node::PayloadSizes;
using heddle::node::Piece;
using heddle::node::Room;
using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::try_seeds;

using heddle::node::DistanceEstimate;
using heddle::platform::CopyRow;
using heddle::platform::Distance;

struct FewBlocks {
    static constexpr std::uint64_t block = 128;
    static constexpr std::uint64_t blocks = 8;
    static constexpr std::uint64_t first_blocks = 2;
    static constexpr std::uint64_t claimed_blocks = 2;
    static constexpr unsigned manifests = 3;
};
using Ring = BasicPayloadRing<SimulatedWorld, FewBlocks>;
using Producer = BasicPayloadProducer<SimulatedWorld, FewBlocks>;
using Consumer = BasicPayloadConsumer<SimulatedWorld, FewBlocks>;

std::byte byte_of(std::size_t message, std::uint64_t at) {
    return static_cast<std::byte>(message * 131 + at * 7 + at / 256);
}

/// Fills the room with what follows the first `stored` bytes.
template <class Producer>
void store_pieces(Producer& producer, unsigned manifest, const Room& room,
                  const std::vector<std::byte>& data, std::uint64_t& stored) {
    const std::uint64_t end = stored + room.bytes;
    for (Piece piece = room.first;; piece = producer.next_piece(piece, end - stored)) {
        producer.store(piece, data.data() + stored);
        stored += piece.bytes;
        producer.publish(manifest, stored);
        if (stored == end) return;
    }
}

/// A producer that streams messages, and a consumer that takes them, and closes some.
struct Stream {
    struct Message {
        std::uint64_t length;
        unsigned manifest = 0;
        bool closes;  ///< whether its consumer closes it when nothing comes
    };
    std::unique_ptr<Ring> ring = std::make_unique<Ring>();
    std::vector<Message> messages;
    SimulatedWorld::Atom<std::size_t> headers{0};
    /// Whether lines are taken ahead, after each message and while there is no room for it.
    std::vector<bool> takes_ahead;
    /// How much of each message the producer had stored when it stopped.
    std::vector<std::uint64_t> stored;
    const std::uint64_t most;  ///< bytes of the ring that are walked

    Stream(Simulation& simulation, std::size_t count)
        : stored(count, 0),
          most((simulation.random(2) == 0 ? 1 : FewBlocks::blocks) * FewBlocks::block) {
        for (std::size_t i = 0; i < count; ++i)
            messages.push_back({1 + simulation.random(700), 0, simulation.random(2) == 0});
        for (std::size_t i = 0; i < count; ++i) takes_ahead.push_back(simulation.random(2) == 0);
    }

    void produce() {
        Producer producer(*ring, most);
        while (!producer.is_ready()) SimulatedWorld::yield();
        for (std::size_t i = 0; i < messages.size(); ++i) {
            std::optional<unsigned> manifest;
            while (!(manifest = producer.take_manifest())) SimulatedWorld::yield();
            messages[i].manifest = *manifest;
            headers.store(i + 1, release);
            store_message(producer, i);
            producer.end_stream(*manifest);
            while (takes_ahead[i] && producer.take_lines_ahead()) SimulatedWorld::yield();
        }
    }
    void store_message(Producer& producer, std::size_t number) {
        std::vector<std::byte> data(messages[number].length);
        for (std::uint64_t at = 0; at < data.size(); ++at) data[at] = byte_of(number, at);
        while (stored[number] < data.size()) {
            const Room room = producer.claim(messages[number].manifest, stored[number],
                                             data.size() - stored[number]);
            if (room.is_closed) return;
            if (room.bytes == 0) {
                SimulatedWorld::yield();
                if (takes_ahead[number]) producer.take_lines_ahead();
                // A closed message that finds no room would wait for ever: only the answer ends it.
                if (messages[number].closes && closed_.load(acquire) > number) return;
                continue;
            }
            store_pieces(producer, messages[number].manifest, room, data, stored[number]);
        }
    }

    void consume() {
        const Consumer consumer(*ring);
        consumer.be_ready();
        for (std::size_t i = 0; i < messages.size(); ++i) {
            while (headers.load(acquire) <= i) SimulatedWorld::yield();
            take(consumer, i);
        }
    }
    void take(const Consumer& consumer, std::size_t number) {
        const Message message = messages[number];
        std::uint64_t taken = 0, end = message.length;
        Piece piece{0, 0};
        bool closed = false;
        while (taken < end) {
            const std::uint64_t now = consumer.stored(message.manifest);
            if (now == taken) {
                if (message.closes && !closed) {
                    end = consumer.close(message.manifest);
                    closed = true;
                }
                SimulatedWorld::yield();
                continue;
            }
            piece = taken == 0
                ? consumer.first_piece(message.manifest, message.length)
                : consumer.next_piece(message.manifest, piece, message.length - taken);
            std::vector<std::byte> got(piece.bytes);
            consumer.load(piece, got.data(), piece.bytes);
            for (std::uint64_t at = 0; at < piece.bytes; ++at)
                if (got[at] != byte_of(number, taken + at)) Simulation::fail("wrong data");
            consumer.free(piece);
            taken += piece.bytes;
        }
        if (closed) closed_.store(number + 1, release);
        consumer.leave(message.manifest);
        ends.push_back(taken);
    }

    SimulatedWorld::Atom<std::size_t> closed_{0};
    std::vector<std::uint64_t> ends;  ///< how much came of each message
};

std::unique_ptr<Stream> stream(Simulation& simulation) {
    auto world = std::make_unique<Stream>(simulation, 12);
    simulation.thread([w = world.get()] { w->produce(); });
    simulation.thread([w = world.get()] { w->consume(); });
    return world;
}

TEST(PayloadRing, carries_messages_of_which_some_are_closed) {
    EXPECT_EQ(try_seeds(4000, {}, stream), "");
}

TEST(PayloadRing, says_on_both_sides_how_much_of_a_closed_message_came) {
    std::uint64_t whole = 0, part = 0;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        Simulation simulation(seed);
        const auto world = stream(simulation);
        ASSERT_EQ(simulation.run(), "");
        ASSERT_EQ(world->ends, world->stored);
        for (std::size_t i = 0; i < world->messages.size(); ++i)
            ++(world->ends[i] == world->messages[i].length ? whole : part);
    }
    EXPECT_GT(whole, 0U);
    EXPECT_GT(part, 0U);
}

/// A ring that one thread uses alone. The process copies by the row from now on.
struct Alone {
    explicit Alone(const CopyRow& row = heddle::platform::copy_rows().front()) {
        heddle::platform::use_copy_row(row);
    }
    std::unique_ptr<PayloadRing> ring = std::make_unique<PayloadRing>();
    PayloadProducer producer{*ring, PayloadSizes::blocks* PayloadSizes::block};
    PayloadConsumer consumer{*ring};
};

TEST(PayloadRing, is_used_when_its_consumer_is_ready) {
    Alone alone;
    EXPECT_FALSE(alone.producer.is_ready());
    alone.consumer.be_ready();
    EXPECT_TRUE(alone.producer.is_ready());
}

TEST(PayloadRing, places_messages_in_one_block_each) {
    Alone alone;
    for (int i = 0; i < 10000; ++i) {
        const std::uint64_t bytes = 1 + static_cast<std::uint64_t>(i) * 37 % 8192;
        const auto place = alone.producer.reserve(bytes);
        ASSERT_TRUE(place);
        EXPECT_EQ(*place / PayloadSizes::block, (*place + bytes - 1) / PayloadSizes::block);
        alone.consumer.free({*place, bytes});
    }
}

TEST(PayloadRing, is_full_until_the_next_block_has_been_read) {
    Alone alone;
    std::vector<Piece> placed;
    for (;;) {
        const auto place = alone.producer.reserve(PayloadSizes::block);
        if (!place) break;
        placed.push_back({*place, PayloadSizes::block});
    }
    EXPECT_EQ(placed.size() * PayloadSizes::block, alone.producer.extent());
    alone.consumer.free(placed[1]);
    EXPECT_FALSE(alone.producer.reserve(64));  // blocks are walked in order
    alone.consumer.free(placed[0]);
    EXPECT_TRUE(alone.producer.reserve(64));
}

/// Passes so many messages through the ring one after the other. Returns how far it is walked.
std::uint64_t extent_after(Alone& alone, int messages, std::uint64_t bytes) {
    for (int i = 0; i < messages; ++i) {
        const auto place = alone.producer.reserve(bytes);
        if (!place) return 0;
        alone.consumer.free({*place, bytes});
    }
    return alone.producer.extent();
}

TEST(PayloadRing, is_walked_as_far_as_its_messages_need) {
    Alone alone;
    EXPECT_EQ(extent_after(alone, 400, 4096), 8 * PayloadSizes::block);
    EXPECT_EQ(extent_after(alone, 300, 16384), 32 * PayloadSizes::block);
    EXPECT_EQ(extent_after(alone, 400, 4096), 32 * PayloadSizes::block);
}

TEST(PayloadRing, is_walked_to_its_end_when_it_is_used_for_long) {
    Alone alone;
    const std::uint64_t little = extent_after(alone, 100'000, 4096);
    EXPECT_LT(little, PayloadSizes::blocks * PayloadSizes::block / 8);  // short messages stay near
    EXPECT_EQ(extent_after(alone, 100'000, 8192), PayloadSizes::blocks * PayloadSizes::block);
}

TEST(PayloadRing, is_walked_farther_when_it_was_full) {
    Alone alone;
    std::vector<Piece> placed;
    for (int round = 0; round < 20; ++round) {
        while (const auto place = alone.producer.reserve(4096)) placed.push_back({*place, 4096});
        EXPECT_FALSE(alone.producer.reserve(4096));  // the extent does not grow by asking
        for (const Piece& piece : placed) alone.consumer.free(piece);
        placed.clear();
    }
    EXPECT_EQ(alone.producer.extent(), PayloadSizes::blocks * PayloadSizes::block);
}

TEST(PayloadRing, carries_short_messages_in_the_walks_of_the_row) {
    constexpr std::uint64_t whole = PayloadSizes::blocks * PayloadSizes::block;
    constexpr std::uint64_t enough = std::uint64_t{80} << 20;  // whole walks begin after 64 MiB
    for (const CopyRow& row : heddle::platform::copy_rows()) {
        constexpr std::uint64_t bytes = 4096;
        Alone alone(row);
        // Message i begins i % 64 bytes behind the begin of its buffer.
        std::vector<std::vector<std::byte>> messages(64, std::vector<std::byte>(bytes + 63));
        for (std::size_t i = 0; i < messages.size(); ++i)
            for (std::uint64_t at = 0; at < bytes + 63; ++at) messages[i][at] = byte_of(i, at);
        std::vector<std::byte> got(bytes);
        int in_whole_walks = 0, in_short_ones = 0;
        for (std::size_t i = 0; i < enough / bytes; ++i) {
            const std::byte* data = messages[i % 64].data() + i % 64;
            const auto place = alone.producer.reserve(bytes);
            ASSERT_TRUE(place);
            alone.producer.store({*place, bytes}, data);
            alone.consumer.load({*place, bytes}, got.data(), bytes);
            ASSERT_EQ(std::memcmp(got.data(), data, bytes), 0) << i;
            alone.consumer.free({*place, bytes});
            ++(alone.producer.extent() == whole ? in_whole_walks : in_short_ones);
        }
        EXPECT_EQ(in_whole_walks > 0, row.walks_whole) << row.name;
        EXPECT_GT(in_short_ones, 0) << row.name;
    }
}

/// Returns whether a line belongs to no message any more, and has been taken.
bool was_taken(Alone& alone, std::uint64_t place) {
    return *alone.producer.at(place) == std::byte{0};
}
void fill(Alone& alone) {
    std::memset(alone.ring->data, 1, PayloadSizes::blocks * PayloadSizes::block);
}

TEST(PayloadRing, takes_the_lines_of_the_next_message_ahead) {
    for (const std::uint64_t bytes : {1024U, 4096U, 5000U, 16384U}) {
        Alone alone;
        fill(alone);
        for (int i = 0; i < 50; ++i) {
            const auto place = alone.producer.reserve(bytes);
            ASSERT_TRUE(place);
            if (i != 0) {
                for (std::uint64_t line = 0; line < bytes; line += 64)
                    ASSERT_TRUE(was_taken(alone, *place + line)) << bytes << " " << i;
            }
            alone.consumer.free({*place, bytes});
            std::uint64_t steps = 1;
            while (alone.producer.take_lines_ahead()) ++steps;
            EXPECT_LE(steps, 1 + bytes / 64 / 8);  // it does not go on for ever
        }
    }
}

TEST(PayloadRing, takes_no_line_ahead_of_a_message_that_has_not_been_read) {
    for (const std::uint64_t bytes : {1024U, 5000U, 16384U}) {
        Alone alone;
        std::vector<Piece> placed;
        fill(alone);
        while (const auto place = alone.producer.reserve(bytes)) {
            placed.push_back({*place, bytes});
            std::memset(alone.producer.at(*place), 2, bytes);
            while (alone.producer.take_lines_ahead()) {}
        }
        for (const Piece& piece : placed)
            for (std::uint64_t at = 0; at < piece.bytes; ++at)
                ASSERT_EQ(alone.ring->data[piece.at + at], std::byte{2}) << bytes;
    }
}

TEST(PayloadRing, takes_no_line_ahead_for_short_messages) {
    Alone alone;
    EXPECT_FALSE(alone.producer.take_lines_ahead());
    ASSERT_TRUE(alone.producer.reserve(960));
    EXPECT_FALSE(alone.producer.take_lines_ahead());
}

TEST(PayloadRing, has_no_room_for_single_pieces_while_it_streams) {
    Alone alone;
    const auto manifest = alone.producer.take_manifest();
    ASSERT_TRUE(manifest);
    EXPECT_FALSE(alone.producer.reserve(64));
    alone.producer.end_stream(*manifest);
    EXPECT_TRUE(alone.producer.reserve(64));
}

TEST(PayloadRing, gives_a_manifest_again_when_both_sides_have_done_with_it) {
    Alone alone;
    for (unsigned i = 0; i < PayloadSizes::manifests; ++i)
        ASSERT_TRUE(alone.producer.take_manifest());
    EXPECT_FALSE(alone.producer.take_manifest());
    alone.consumer.leave(7);
    EXPECT_FALSE(alone.producer.take_manifest());
    alone.producer.end_stream(7);
    EXPECT_EQ(alone.producer.take_manifest(), 7U);
}

TEST(PayloadRing, carries_messages_between_real_threads) {
    Alone alone;
    constexpr std::size_t count = 300;
    constexpr std::uint64_t length = 300'000;
    std::atomic<std::size_t> headers{0};
    std::vector<unsigned> manifests(count);
    std::thread consumer([&] {
        std::vector<std::byte> got(length);
        for (std::size_t i = 0; i < count; ++i) {
            while (headers.load(acquire) <= i) std::this_thread::yield();
            Piece piece{0, 0};
            for (std::uint64_t taken = 0; taken < length; taken += piece.bytes) {
                while (alone.consumer.stored(manifests[i]) == taken) std::this_thread::yield();
                piece = taken == 0 ? alone.consumer.first_piece(manifests[i], length)
                                   : alone.consumer.next_piece(manifests[i], piece, length - taken);
                alone.consumer.load(piece, got.data() + taken, length);
                alone.consumer.free(piece);
            }
            alone.consumer.leave(manifests[i]);
            for (std::uint64_t at = 0; at < length; ++at)
                ASSERT_EQ(got[at], byte_of(i, at)) << i << " " << at;
        }
    });
    std::vector<std::byte> data(length);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::uint64_t at = 0; at < length; ++at) data[at] = byte_of(i, at);
        std::optional<unsigned> manifest;
        while (!(manifest = alone.producer.take_manifest())) std::this_thread::yield();
        manifests[i] = *manifest;
        headers.store(i + 1, release);
        for (std::uint64_t stored = 0; stored < length;) {
            const Room room = alone.producer.claim(*manifest, stored, length - stored);
            ASSERT_FALSE(room.is_closed);
            if (room.bytes == 0)
                std::this_thread::yield();
            else
                store_pieces(alone.producer, *manifest, room, data, stored);
        }
        alone.producer.end_stream(*manifest);
    }
    consumer.join();
}

/// Stores blocks until so many samples have been taken, each of which took so many ticks.
void take_samples(DistanceEstimate& distance, int samples, std::uint64_t ticks) {
    while (samples > 0)
        if (distance.is_due()) {
            distance.note(ticks);
            --samples;
        }
}

TEST(DistanceEstimate, follows_the_processes) {
    DistanceEstimate distance;
    EXPECT_EQ(distance.now(), Distance::near);
    for (int i = 0; i < 3; ++i) {
        take_samples(distance, 3, 6000);
        EXPECT_EQ(distance.now(), Distance::far);
        take_samples(distance, 3, 300);
        EXPECT_EQ(distance.now(), Distance::near);
    }
}

TEST(DistanceEstimate, is_not_changed_by_a_thread_that_lost_its_core) {
    DistanceEstimate distance;
    for (int i = 0; i < 20; ++i) {
        take_samples(distance, 2, 1'000'000);
        take_samples(distance, 1, 300);
        EXPECT_EQ(distance.now(), Distance::near);
    }
}

TEST(DistanceEstimate, has_few_samples_after_the_first_blocks) {
    DistanceEstimate distance;
    int samples = 0;
    for (int block = 0; block < 100'000; ++block) samples += distance.is_due() ? 1 : 0;
    EXPECT_GT(samples, 1000);
    EXPECT_LT(samples, 2000);
}

}  // namespace
