// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sockets/batch_ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "testing/simulation.hpp"

namespace heddle::testing {
namespace {

using transport::Bytes;
using transport::sockets::BasicRingConsumer;
using transport::sockets::BasicRingProducer;
using transport::sockets::BasicRingWords;
using transport::sockets::Frame;

/// As SimulatedWorld, but sequentially consistent stores wait in the store buffer as others do.
struct WorldWithoutFences : SimulatedWorld {
    template <class T>
    struct Atom : SimulatedAtom<T> {
        using SimulatedAtom<T>::SimulatedAtom;
        void store(T value, std::memory_order) { SimulatedAtom<T>::store(value, release); }
    };
};

/// A ring's socket: a bell that the waiting side hears.
struct Bell {
    SimulatedWorld::Atom<std::uint32_t> rung{0};
    void ring() {
        rung.store(1, seq_cst);
        SimulatedWorld::wake_one(rung);
    }
    void wait() {
        while (rung.load(acquire) == 0) SimulatedWorld::wait(rung, 0);
        rung.store(0, seq_cst);
    }
};

template <class World>
struct Pair {
    BasicRingWords<World> words;
    std::array<std::byte, 256> memory{};
    BasicRingProducer<World> producer{words, memory};
    BasicRingConsumer<World> consumer{words, memory};
    Bell to_consumer, to_producer;

    static std::size_t length(std::uint32_t number) { return 4 + number * 13 % 60; }
    static std::vector<std::byte> batch(std::uint32_t number) {
        std::vector<std::byte> bytes(length(number), static_cast<std::byte>(number));
        std::memcpy(bytes.data(), &number, sizeof number);
        return bytes;
    }
    void send(std::uint32_t number) {
        const auto bytes = batch(number);
        while (!producer.push(bytes)) {
            Simulation::point();
            if (producer.wait()) to_producer.wait();
        }
        if (producer.should_ring()) to_consumer.ring();
    }
    void take(std::uint32_t number) {
        std::span<std::byte> got;
        while ((got = consumer.take()).empty()) {
            if (consumer.is_broken()) Simulation::fail("the ring is broken");
            Simulation::point();
            if (!consumer.go_cold()) continue;
            to_consumer.wait();
            consumer.go_hot();
        }
        Simulation::point();  // the producer must not write here meanwhile
        const auto right = batch(number);
        if (!std::equal(got.begin(), got.end(), right.begin(), right.end()))
            Simulation::fail("a batch has come with other bytes than were sent");
        if (consumer.free(consumer.position())) to_producer.ring();
    }
};

template <class World>
std::string batches_through_a_ring(std::uint64_t seeds, std::uint32_t count) {
    return try_seeds(seeds, {}, [&](Simulation& simulation) {
        auto pair = std::make_unique<Pair<World>>();
        simulation.thread([p = pair.get(), count] {
            for (std::uint32_t number = 0; number < count; ++number) p->send(number);
        });
        simulation.thread([p = pair.get(), count] {
            for (std::uint32_t number = 0; number < count; ++number) p->take(number);
        });
        return pair;
    });
}

TEST(BatchRing, no_batch_and_no_room_is_slept_through) {
    EXPECT_EQ(batches_through_a_ring<SimulatedWorld>(3000, 30), "");
}

TEST(BatchRing, without_sequential_consistency_a_batch_is_slept_through) {
    EXPECT_NE(batches_through_a_ring<WorldWithoutFences>(3000, 30).find("everybody sleeps"),
              std::string::npos);
}

using Plain = Pair<sync::NativeNode>;

Bytes some(std::size_t bytes) {
    static constexpr std::array<std::byte, 256> zeroes{};
    return Bytes(zeroes).first(bytes);
}

TEST(BatchRing, that_is_full_takes_nothing_until_something_is_free) {
    auto pair = std::make_unique<Plain>();
    int pushed = 0;
    while (pair->producer.push(some(56))) ++pushed;
    EXPECT_EQ(pushed, 4);
    EXPECT_FALSE(pair->producer.may_push());
    EXPECT_TRUE(pair->producer.wait());
    const auto first = pair->consumer.take();
    EXPECT_EQ(first.size(), 56U);
    EXPECT_FALSE(pair->producer.push(some(56)));
    EXPECT_TRUE(pair->consumer.free(pair->consumer.position()));
    EXPECT_TRUE(pair->producer.may_push());
    EXPECT_TRUE(pair->producer.push(some(56)));
}

TEST(BatchRing, is_rung_for_once_when_its_consumer_is_cold) {
    auto pair = std::make_unique<Plain>();
    ASSERT_TRUE(pair->producer.push(some(8)));
    EXPECT_FALSE(pair->producer.should_ring());
    EXPECT_FALSE(pair->consumer.go_cold());
    EXPECT_EQ(pair->consumer.take().size(), 8U);
    EXPECT_TRUE(pair->consumer.go_cold());
    ASSERT_TRUE(pair->producer.push(some(8)));
    EXPECT_TRUE(pair->producer.should_ring());
    ASSERT_TRUE(pair->producer.push(some(8)));
    EXPECT_FALSE(pair->producer.should_ring());
}

/// Whatever the other process writes there, nothing beyond the memory is read, and it comes to an
/// end.
TEST(BatchRing, never_looks_beyond_its_memory) {
    std::minstd_rand random(7);
    std::size_t broken = 0;
    for (int round = 0; round < 20'000; ++round) {
        BasicRingWords<> words;
        // On the heap, of the exact size: AddressSanitizer sees the byte behind it.
        std::vector<std::byte> memory(256);
        for (std::size_t at = 0; at < memory.size(); at += sizeof(Frame)) {
            const std::uint32_t kind = random() % 8 == 0 ? random() % 5 : 0;
            const Frame frame{
                static_cast<std::uint32_t>(random() % 3 == 0 ? random() : random() % 80),
                static_cast<Frame::Kind>(kind)};
            std::memcpy(memory.data() + at, &frame, sizeof frame);
        }
        BasicRingConsumer<> consumer(words, memory);
        words.tail.store(random() % 3 == 0 ? random() : random() % 40 * 8);
        for (int taken = 0; consumer.look(); ++taken) {
            ASSERT_LT(taken, 100);
            const auto batch = consumer.take();
            if (batch.empty()) break;
            ASSERT_GE(batch.data(), memory.data() + sizeof(Frame));
            ASSERT_LE(batch.data() + batch.size(), memory.data() + memory.size());
        }
        broken += consumer.is_broken() ? 1 : 0;
    }
    EXPECT_GT(broken, 1000U);
}

}  // namespace
}  // namespace heddle::testing
