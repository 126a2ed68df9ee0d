// SPDX-License-Identifier: BSD-3-Clause
#include "node/ring.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace {

using namespace heddle::node;

/// A ring in zeroed memory, as shared memory is.
struct Ring {
    std::unique_ptr<Cell[]> cells{new Cell[ring_slots]()};
    Control control{};
    std::atomic<std::uint64_t> mark{0};
    Producer producer;
    Consumer consumer;

    explicit Ring(std::uint64_t begin = 0)
        : producer(control, cells.get(), begin), consumer(begin) {
        control.head = begin;
        consumer.bind(control, cells.get(), mark);
    }
};

std::vector<unsigned char> payload(std::size_t bytes, std::uint32_t number) {
    std::vector<unsigned char> data(bytes);
    // All bit patterns, those of sequence numbers among them.
    for (std::size_t i = 0; i < bytes; ++i)
        data[i] = static_cast<unsigned char>((number + i / 4) >> (i % 4 * 8));
    return data;
}

bool push(Producer& producer, std::uint32_t number, std::size_t bytes) {
    const std::size_t cells = cells_for(bytes);
    Cell* cell = producer.reserve(cells);
    if (cell == nullptr) return false;
    cell->context = number;
    cell->length = static_cast<std::uint32_t>(bytes);
    cell->kind = 1;
    const auto data = payload(bytes, number);
    if (bytes != 0) std::memcpy(cell->payload(), data.data(), bytes);
    producer.publish(*cell, cells);
    return true;
}

void expect_front(Consumer& consumer, std::uint32_t number, std::size_t bytes) {
    Cell* cell = consumer.front();
    ASSERT_NE(cell, nullptr);
    ASSERT_EQ(cell->context, number);
    ASSERT_EQ(cell->length, bytes);
    const auto data = payload(bytes, number);
    ASSERT_EQ(bytes == 0 ? 0 : std::memcmp(cell->payload(), data.data(), bytes), 0)
        << "message " << number;
    consumer.pop(*cell);
}

std::size_t random_size(std::mt19937& random) {
    switch (random() % 4) {
        case 0: return 0;
        case 1: return random() % (inline_payload + 1);
        case 2: return random() % 300;
        default: return random() % (most_payload + 1);
    }
}

TEST(Ring, an_empty_ring_is_cold_and_has_nothing) {
    Ring ring;
    EXPECT_EQ(ring.consumer.front(), nullptr);
    EXPECT_FALSE(ring.consumer.ready());
    EXPECT_TRUE(ring.producer.cold());
    ring.consumer.set_hot(true);
    EXPECT_FALSE(ring.producer.cold());
}

TEST(Ring, a_full_ring_refuses_and_loses_nothing) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{200}, most_payload}) {
        Ring ring;
        std::uint32_t pushed = 0, popped = 0;
        for (int lap = 0; lap < 20; ++lap) {
            while (push(ring.producer, pushed, bytes)) ++pushed;
            ASSERT_LE(pushed - popped, ring_slots);
            ASSERT_GE(pushed - popped, 2U);
            for (std::uint32_t i = pushed - popped; i > 0; --i)
                expect_front(ring.consumer, popped++, bytes);
            ASSERT_EQ(ring.consumer.front(), nullptr);
        }
    }
}

TEST(Ring, finds_nothing_in_a_wiped_cell_when_sequences_begin_anew) {
    // The last cell of the second round has the sequence 0; in the first round it carries payload.
    Ring ring((std::uint64_t{1} << 32) - 2 * ring_slots);
    constexpr std::size_t quarter = inline_payload + (ring_slots / 4 - 1) * heddle::cache_line;
    static_assert(cells_for(quarter) == ring_slots / 4);
    for (std::uint32_t i = 0; i < 4; ++i) {
        ASSERT_TRUE(push(ring.producer, i, quarter));
        expect_front(ring.consumer, i, quarter);
    }
    for (std::uint32_t i = 0; i < ring_slots; ++i) {
        ASSERT_EQ(ring.consumer.front(), nullptr) << i;
        ASSERT_TRUE(push(ring.producer, i, 0));
        expect_front(ring.consumer, i, 0);
    }
}

TEST(Ring, a_starving_producer_is_noticed_once) {
    Ring ring;
    std::uint32_t pushed = 0;
    while (push(ring.producer, pushed, 0)) ++pushed;
    EXPECT_TRUE(ring.producer.starve());
    EXPECT_FALSE(ring.producer.starve());
    int noticed = 0;
    for (std::uint32_t i = 0; i < pushed; ++i) {
        expect_front(ring.consumer, i, 0);
        noticed += ring.consumer.producer_starves();
    }
    EXPECT_EQ(noticed, 1);
    EXPECT_TRUE(push(ring.producer, 0, 0));
}

TEST(Ring, under_pressure_only_what_comes_in_spite_has_room) {
    Ring ring;
    const auto pass = [&](std::uint32_t number) {
        ASSERT_TRUE(push(ring.producer, number, 0));
        expect_front(ring.consumer, number, 0);
    };
    ring.mark = pressure;
    std::uint32_t number = 0;
    for (; number < ring_slots - 1; ++number) pass(number);  // cells that were free before are free
    EXPECT_FALSE(push(ring.producer, number, 0));
    for (int i = 0; i < 3 * static_cast<int>(ring_slots); ++i) {
        Cell* cell = ring.producer.reserve_in_spite(cells_for(8));
        ASSERT_NE(cell, nullptr) << i;
        EXPECT_FALSE(push(ring.producer, number, 0)) << "the short way stays closed";
        cell->context = number;
        cell->length = 0;
        cell->kind = 1;
        ring.producer.publish(*cell, cells_for(8));
        expect_front(ring.consumer, number++, 0);
    }
    ring.mark = 0;
    while (!push(ring.producer, number, 0)) {
        Cell* cell = ring.producer.reserve_in_spite(1);
        ASSERT_NE(cell, nullptr);
        cell->kind = filler;
        ring.producer.publish(*cell, 1);
        EXPECT_EQ(ring.consumer.front(), nullptr);
    }
    expect_front(ring.consumer, number, 0);
}

TEST(Ring, a_full_ring_is_full_in_spite_of_pressure_too) {
    Ring ring;
    std::uint32_t sent = 0;
    while (push(ring.producer, sent, 0)) ++sent;
    ring.mark = pressure;
    EXPECT_EQ(ring.producer.reserve_in_spite(1), nullptr);
    for (std::uint32_t i = 0; i < sent; ++i) expect_front(ring.consumer, i, 0);
    EXPECT_NE(ring.producer.reserve_in_spite(1), nullptr);
}

TEST(Ring, random_messages_from_one_thread_to_another) {
    constexpr std::uint32_t messages = 60000;
    Ring ring;
    std::thread sender([&] {
        std::mt19937 sizes(7);
        for (std::uint32_t i = 0; i < messages; ++i) {
            const std::size_t bytes = random_size(sizes);
            while (!push(ring.producer, i, bytes)) std::this_thread::yield();
        }
    });
    std::mt19937 sizes(7);
    for (std::uint32_t i = 0; i < messages; ++i) {
        const std::size_t bytes = random_size(sizes);
        while (ring.consumer.front() == nullptr) std::this_thread::yield();
        expect_front(ring.consumer, i, bytes);
        if (HasFatalFailure()) break;
    }
    sender.join();
}

/// Does to idle pages what the kernel does to dropped ones.
RingPages drop(Ring& ring) {
    const RingPages pages = ring.producer.idle_pages();
    for (std::size_t page = 0; page < ring_pages; ++page)
        if (pages.test(page))
            std::memset(static_cast<void*>(&ring.cells[page * page_cells]), 0, page_bytes);
    ring.producer.note_dropped(pages);
    return pages;
}

TEST(Ring, pages_without_messages_are_idle) {
    Ring ring;
    const auto idle = [&] { return ring.producer.idle_pages().to_string(); };  // page 0 is the last
    EXPECT_EQ(idle(), "11111111");
    std::uint32_t pushed = 0, popped = 0;
    const auto send = [&](std::size_t number) {
        for (; number > 0; --number) ASSERT_TRUE(push(ring.producer, pushed++, 0));
    };
    const auto receive = [&](std::size_t number) {
        for (; number > 0; --number) expect_front(ring.consumer, popped++, 0);
    };
    send(page_cells);
    EXPECT_EQ(idle(), "11111110");
    send(1);
    EXPECT_EQ(idle(), "11111100");
    receive(page_cells + 1);
    EXPECT_EQ(idle(), "11111101") << "the producer does not know yet that all have been read";
    ring.consumer.give_back_all();
    EXPECT_EQ(ring.producer.given_back(), page_cells + 1);
    EXPECT_EQ(idle(), "11111111");
    ring.consumer.set_hot(true);
    EXPECT_EQ(idle(), "11111101") << "the consumer polls the second page";
    ring.consumer.set_hot(false);
    send(6 * page_cells);
    receive(6 * page_cells);
    ring.mark = pressure;
    ring.consumer.give_back_all();
    EXPECT_EQ(idle(), "11111111");
    send(page_cells);  // around the end of the ring
    EXPECT_EQ(idle(), "01111110");
    receive(page_cells);
}

TEST(Ring, a_producer_that_starves_hears_of_cells_that_are_given_back_early) {
    Ring ring;
    ASSERT_TRUE(push(ring.producer, 0, 0));
    expect_front(ring.consumer, 0, 0);
    EXPECT_TRUE(ring.producer.starve());
    EXPECT_FALSE(ring.consumer.producer_starves());
    ring.consumer.give_back_all();
    EXPECT_TRUE(ring.consumer.producer_starves());
    ring.consumer.give_back_all();
    EXPECT_FALSE(ring.consumer.producer_starves());
}

/// Compares the ring with a plain queue, in random steps, until all sequences have been used.
TEST(Ring, dropped_pages_are_read_as_nothing) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        // Sequences begin anew soon.
        Ring ring((std::uint64_t{1} << 32) - (1 + random() % 4) * ring_slots);
        const bool small = seed % 2 == 0;
        std::uint32_t pushed = 0, popped = 0;
        std::vector<std::size_t> sizes;
        for (int step = 0; step < 8000; ++step) {
            switch (random() % 8) {
                case 0: drop(ring); break;
                case 1: ring.consumer.give_back_all(); break;
                case 2: ring.consumer.set_hot(random() % 2 == 0); break;
                case 3:
                case 4:
                case 5: {
                    const std::size_t bytes = small ? 0 : random_size(random);
                    if (!push(ring.producer, pushed, bytes)) break;
                    sizes.push_back(bytes);
                    ++pushed;
                    break;
                }
                default:
                    if (popped == pushed) {
                        ASSERT_EQ(ring.consumer.front(), nullptr) << "seed " << seed;
                        break;
                    }
                    expect_front(ring.consumer, popped, sizes[popped]);
                    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
                    ++popped;
            }
        }
        ASSERT_GT(pushed, 2 * ring_slots);
    }
}

/// Messages one by one, three rounds before sequences begin anew.
struct Passing {
    Ring ring{(std::uint64_t{1} << 32) - 3 * ring_slots};
    std::uint32_t number = 0;

    void pass(std::size_t bytes) {
        ASSERT_TRUE(push(ring.producer, number, bytes));
        expect_front(ring.consumer, number++, bytes);
        ASSERT_EQ(ring.consumer.front(), nullptr) << "after message " << number;
    }
    void pass_small(std::size_t messages) {
        for (; messages > 0; --messages) ASSERT_NO_FATAL_FAILURE(pass(0));
    }
    RingPages drop_all() {
        ring.consumer.give_back_all();
        return drop(ring);
    }
};

/// Zero is a sequence that the last cell has once. No message is written there for a round: a
/// filler passes over it.
TEST(Ring, a_dropped_cell_is_not_a_message_when_sequences_begin_anew) {
    constexpr std::size_t fifth = inline_payload + (ring_slots / 5 - 1) * heddle::cache_line;
    static_assert(5 * cells_for(fifth) < ring_slots);
    Passing p;
    ASSERT_NO_FATAL_FAILURE(p.pass_small(ring_slots));
    EXPECT_TRUE(p.drop_all().all());
    for (int i = 0; i < 6; ++i) ASSERT_NO_FATAL_FAILURE(p.pass(fifth));
    ASSERT_NO_FATAL_FAILURE(p.pass_small(2 * ring_slots));
}

TEST(Ring, pages_are_dropped_wherever_the_tail_is_when_sequences_begin_anew) {
    for (std::size_t before = 2 * ring_slots; before <= 3 * ring_slots; ++before) {
        Passing p;
        ASSERT_NO_FATAL_FAILURE(p.pass_small(before));
        EXPECT_EQ(p.drop_all().all(), before != 3 * ring_slots - 1);
        ASSERT_EQ(p.ring.consumer.front(), nullptr) << before;
        ASSERT_NO_FATAL_FAILURE(p.pass_small(ring_slots));
    }
}

TEST(Ring, payload_that_looks_like_a_sequence_is_not_read_as_a_header) {
    // Payload lines filled with the sequence numbers that the next lap will expect there.
    Ring ring;
    std::uint64_t position = 0;
    for (int i = 0; i < 2000; ++i) {
        const std::size_t bytes = inline_payload + heddle::cache_line * 3;
        const std::size_t cells = cells_for(bytes);
        Cell* cell = ring.producer.reserve(cells);
        ASSERT_NE(cell, nullptr);
        const auto place = static_cast<std::uint64_t>(cell - ring.cells.get());
        while (position % ring_slots != place) ++position;  // a filler was put in
        cell->kind = 1;
        cell->length = static_cast<std::uint32_t>(bytes);
        for (std::size_t k = 1; k < cells; ++k)
            cell[k].shared_sequence().store(
                static_cast<std::uint32_t>(position + k + ring_slots + 1));
        ring.producer.publish(*cell, cells);
        position += cells;
        // One small message, so that headers fall on all lines of former payload.
        ASSERT_TRUE(push(ring.producer, static_cast<std::uint32_t>(i), 0));
        position += 1;
        Cell* first = ring.consumer.front();
        ASSERT_EQ(first, cell);
        ring.consumer.pop(*first);
        expect_front(ring.consumer, static_cast<std::uint32_t>(i), 0);
        ASSERT_EQ(ring.consumer.front(), nullptr) << "after message " << i;
    }
}

}  // namespace
