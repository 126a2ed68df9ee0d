// SPDX-License-Identifier: BSD-3-Clause
#include "node/node.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <new>
#include <optional>
#include <random>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "node/file.hpp"
#include "testing/watchdog.hpp"

namespace heddle::node {
namespace {

int make_file(int ranks) { return node::create_file(node::File::of(ranks, node::Token::fresh())); }

TEST(Node, a_stage_is_free_when_all_its_users_have_left) {
    const int descriptor = make_file(2);
    const auto node = Node::map(descriptor, 2);
    ASSERT_TRUE(node);
    for (std::size_t i = 0; i < most_stages; ++i)
        EXPECT_EQ(node->stages().take(2).number, static_cast<std::int32_t>(i));
    std::shared_ptr<const platform::Mapping> none;
    const auto stage = [&](int number) { return Stage{number, {}}; };
    const auto leave = [&] { node->stages().leave(stage(5), node->stages().map(stage(5), none)); };
    leave();
    EXPECT_EQ(node->stages().take(1).number, -1);
    leave();
    EXPECT_EQ(node->stages().take(1).number, 5);
    leave();
    EXPECT_EQ(node->stages().take(3).number, 5);
    // Two mappings, each of which ends with its stage, are not one.
    std::byte* sixth = node->stages().map(stage(5), none);
    std::byte* seventh = node->stages().map(stage(6), none);
    ASSERT_NE(sixth, nullptr);
    ASSERT_NE(seventh, nullptr);
    sixth[stage_bytes - 1] = std::byte{1};
    EXPECT_EQ(seventh[0], std::byte{0});
    EXPECT_EQ(node->stages().map(stage(5), none), sixth);
    close(descriptor);
}

TEST(Node, segments_are_stages_when_all_stages_are_in_use) {
    const int descriptor = make_file(2);
    const auto node = Node::map(descriptor, 2), other = Node::map(descriptor, 2);
    ASSERT_TRUE(node && other);
    for (std::size_t i = 0; i < most_stages; ++i) EXPECT_TRUE(node->stages().take(2));
    const Stage first = node->stages().take(2), second = node->stages().take(2);
    ASSERT_TRUE(first.segment && second.segment);
    EXPECT_NE(first.segment.offset, second.segment.offset);
    std::shared_ptr<const platform::Mapping> mine, theirs;
    std::byte* here = node->stages().map(first, mine);
    std::byte* there = other->stages().map(first, theirs);
    ASSERT_TRUE(here != nullptr && there != nullptr);
    here[stage_bytes - 1] = std::byte{7};
    EXPECT_EQ(there[stage_bytes - 1], std::byte{7});
    // The last process to leave gives it back: then its pages are zeroes.
    node->stages().leave(first, here);
    EXPECT_EQ(there[stage_bytes - 1], std::byte{7});
    other->stages().leave(first, there);
    EXPECT_EQ(there[stage_bytes - 1], std::byte{0});
    node->stages().give_up(second, true);
    other->stages().give_up(second, false);
    EXPECT_EQ(node->stages().take(2).segment.offset, first.segment.offset);  // none was left
    close(descriptor);
}

TEST(Node, the_last_segment_gives_its_place_back) {
    const int descriptor = make_file(2);
    const auto node = Node::map(descriptor, 2);
    ASSERT_TRUE(node);
    ASSERT_TRUE(node->segments().take(page_bytes));
    const Segment second = node->segments().take(3 * page_bytes);
    node->segments().give(second);
    const Segment third = node->segments().take(page_bytes),
                  fourth = node->segments().take(page_bytes);
    EXPECT_EQ(third.offset, second.offset);
    node->segments().give(third);  // not the last
    EXPECT_NE(node->segments().take(page_bytes).offset, third.offset);
    (void)fourth;
    close(descriptor);
}

/// A ring between two processes. Each has the node's memory mapped by itself, or they share a
/// mapping, so that a race detector sees both.
struct RingOfNode {
    static constexpr std::size_t instance = 3;
    int descriptor = make_file(2);
    std::optional<Node> here, there;
    Producer producer;
    Consumer consumer{0};
    std::uint32_t sent = 0, received = 0;

    explicit RingOfNode(bool one_mapping = false)
        : here(one_mapping ? Node::map_all(descriptor, 2) : Node::map(descriptor, 2)),
          there(one_mapping ? here : Node::map(descriptor, 2)) {
        if (!here || !there || !here->map_rings(0, false) || !there->map_rings(1, false) ||
            !here->rings().reach(0, 1))
            throw std::bad_alloc();
        here->rings().bind(producer, 0, 1, instance);
        there->rings().bind(consumer, 0, 1, instance);
    }
    ~RingOfNode() { close(descriptor); }

    bool send() {
        Cell* cell = producer.reserve(1);
        if (cell == nullptr) return false;
        cell->kind = 1;
        cell->tag = static_cast<std::int32_t>(sent++);
        producer.publish(*cell, 1);
        return true;
    }
    bool receive() {
        Cell* cell = consumer.front();
        if (cell == nullptr) return false;
        EXPECT_EQ(cell->tag, static_cast<std::int32_t>(received++));
        consumer.pop(*cell);
        return true;
    }
    bool drop() {
        const RingPages pages = producer.idle_pages();
        producer.note_dropped(pages);
        return here->rings().drop_pages(0, 1, instance, pages);
    }
    std::size_t bytes_of_file() const {
        struct stat status{};
        EXPECT_EQ(fstat(descriptor, &status), 0);
        return static_cast<std::size_t>(status.st_blocks) * 512;
    }
};

TEST(Node, an_idle_ring_gives_its_pages_back) {
    RingOfNode ring;
    const std::size_t before = ring.bytes_of_file();
    const auto fill = [&] {
        for (std::size_t i = 0; i < ring_slots; ++i) {
            ASSERT_TRUE(ring.send());
            ASSERT_TRUE(ring.receive());
        }
    };
    fill();
    const std::size_t filled = ring.bytes_of_file();
    EXPECT_GE(filled, before + ring_pages * page_bytes);
    ring.consumer.give_back_all();
    ASSERT_TRUE(ring.drop());
    EXPECT_EQ(ring.bytes_of_file(), filled - ring_pages * page_bytes);
    EXPECT_FALSE(ring.receive());
    fill();
    // A message that has not been read keeps its page.
    ring.consumer.give_back_all();
    ASSERT_TRUE(ring.send());
    ASSERT_TRUE(ring.drop());
    EXPECT_EQ(ring.bytes_of_file(), filled - (ring_pages - 1) * page_bytes);
    EXPECT_TRUE(ring.receive());
}

TEST(Node, rings_beside_a_dropped_one_keep_what_is_in_them) {
    RingOfNode ring;
    Producer beside[2];
    Consumer ends[2];
    for (const std::size_t i : {0U, 1U}) {
        ring.here->rings().bind(beside[i], 0, 1, RingOfNode::instance - 1 + 2 * i);
        ring.there->rings().bind(ends[i], 0, 1, RingOfNode::instance - 1 + 2 * i);
        for (std::size_t k = 1; k < ring_slots; ++k) {
            Cell* cell = beside[i].reserve(1);
            ASSERT_NE(cell, nullptr);
            cell->kind = 1;
            cell->tag = static_cast<std::int32_t>(k);
            beside[i].publish(*cell, 1);
        }
    }
    ASSERT_TRUE(ring.drop());
    for (Consumer& end : ends)
        for (std::size_t k = 1; k < ring_slots; ++k) {
            Cell* cell = end.front();
            ASSERT_NE(cell, nullptr);
            EXPECT_EQ(cell->tag, static_cast<std::int32_t>(k));
            end.pop(*cell);
        }
}

void drop_under_a_consumer_that_looks(bool one_mapping) {
    constexpr std::uint32_t messages = 200'000;
    RingOfNode ring(one_mapping);
    testing::Watchdog watchdog("pages dropped under a consumer");
    std::thread consumer([&] {
        std::uint32_t looks = 0;
        while (ring.received < messages) {
            if (ring.receive()) {
                watchdog.progress();
                continue;
            }
            if (++looks % 8 == 0) ring.consumer.give_back_all();
            std::this_thread::yield();
        }
    });
    std::mt19937 random(3);
    int dropped = 0;
    while (ring.sent < messages) {
        if (random() % 64 == 0) {
            ASSERT_TRUE(ring.drop());
            ++dropped;
        }
        if (!ring.send()) std::this_thread::yield();
    }
    consumer.join();
    EXPECT_GT(dropped, 0);
    EXPECT_FALSE(ring.receive());
}

TEST(Node, pages_are_dropped_under_a_consumer_that_looks) {
    drop_under_a_consumer_that_looks(false);
}

TEST(Node, pages_are_dropped_in_a_mapping_that_both_sides_share) {
    drop_under_a_consumer_that_looks(true);
}

TEST(Node, a_file_that_keeps_its_pages_says_so) {
    RingOfNode ring;
    ASSERT_TRUE(ring.send());
    ring.descriptor = dup2(open("/dev/null", O_RDWR), ring.descriptor);  // another file now
    EXPECT_FALSE(ring.drop());
    EXPECT_TRUE(ring.receive());
}

/// With the least limit on the size of files, some of the room that is left is for segments.
TEST(Node, a_small_file_has_room_for_segments) {
    const Layout layout = Layout::of(2);
    for (const std::size_t room :
         {std::size_t{1} << 20, std::size_t{60} << 20, std::size_t{900} << 20}) {
        const std::size_t bytes = Layout::most_bytes(2, layout.bytes(0) + room);
        EXPECT_EQ(bytes, layout.bytes(0) + room);
        const Layout::Division division = layout.divide(2, bytes);
        EXPECT_GE(division.segments, layout.bytes(division.stages));
        EXPECT_EQ(division.segments % page_bytes, 0U);
        EXPECT_GE(bytes - division.segments, room / 8);
        if (division.payload_rings_each != 0) {
            EXPECT_GE(division.segments,
                      layout.bytes(most_stages, 2 * division.payload_rings_each));
        }
    }
    const Layout::Division all = layout.divide(2, Layout::most_bytes(2, ~std::size_t{0} / 2));
    EXPECT_EQ(all.stages, most_stages);
    EXPECT_EQ(all.payload_rings_each, Layout::payload_rings_each(2));
}

TEST(Node, a_segment_is_one_piece_for_whoever_maps_it) {
    const int descriptor = make_file(2);
    const auto here = Node::map(descriptor, 2), there = Node::map(descriptor, 2);
    ASSERT_TRUE(here && there);
    const Segment first = here->segments().take(5000), second = there->segments().take(1);
    EXPECT_EQ(first.bytes, 2 * page_bytes);
    EXPECT_GE(second.offset, first.offset + first.bytes);
    const auto mine = here->segments().map(first), theirs = there->segments().map(first);
    const auto other = there->segments().map(second);
    ASSERT_TRUE(mine && theirs && other);
    static_cast<std::byte*>(mine->address())[4999] = std::byte{7};
    EXPECT_EQ(static_cast<std::byte*>(theirs->address())[4999], std::byte{7});
    EXPECT_EQ(static_cast<std::byte*>(other->address())[0], std::byte{0});
    close(descriptor);
}

TEST(Node, segments_are_zeroes_and_begin_anew_when_none_is_left) {
    const int descriptor = make_file(1);
    const auto node = Node::map(descriptor, 1);
    ASSERT_TRUE(node);
    const Segment first = node->segments().take(page_bytes),
                  second = node->segments().take(page_bytes);
    static_cast<std::byte*>(node->segments().map(first)->address())[1] = std::byte{7};
    node->segments().give(first);
    const Segment third = node->segments().take(page_bytes);
    EXPECT_GT(third.offset, second.offset);
    node->segments().give(second);
    node->segments().give(third);
    const Segment again = node->segments().take(page_bytes);
    EXPECT_EQ(again.offset, first.offset);
    EXPECT_EQ(static_cast<std::byte*>(node->segments().map(again)->address())[1], std::byte{0});
    close(descriptor);
}

TEST(Node, no_segment_is_larger_than_the_file) {
    const int descriptor = make_file(1);
    const auto node = Node::map(descriptor, 1);
    ASSERT_TRUE(node);
    EXPECT_FALSE(node->segments().take(0));
    EXPECT_FALSE(node->segments().take(segments_bytes + 1));
    EXPECT_FALSE(node->segments().take(~std::uint64_t{0}));
    EXPECT_TRUE(node->segments().take(segments_bytes / 2));
    EXPECT_FALSE(node->segments().take(segments_bytes / 2 + 1));
    close(descriptor);
}

/// Sends one message through a ring. Returns whether it came.
bool carries(const Node& there, const Node& here, std::size_t from, std::size_t to,
             std::size_t instance) {
    Producer producer;
    Consumer consumer;
    if (!there.rings().reach(from, to)) return false;
    there.rings().bind(producer, from, to, instance);
    here.rings().bind(consumer, from, to, instance);
    Cell* cell = producer.reserve(1);
    if (cell == nullptr) return false;
    cell->kind = 1;
    cell->tag = static_cast<std::int32_t>(100 * from + 10 * to + instance);
    producer.publish(*cell, 1);
    const Cell* come = consumer.front();
    return come != nullptr &&
        come->tag == static_cast<std::int32_t>(100 * from + 10 * to + instance);
}

TEST(Node, both_ends_of_a_ring_are_one_wherever_they_are_mapped) {
    constexpr std::size_t processes = 3;
    const int descriptor = make_file(processes);
    std::vector<Node> nodes;
    for (std::size_t me = 0; me < processes; ++me) {
        nodes.push_back(*Node::map(descriptor, processes));
        ASSERT_TRUE(nodes[me].map_rings(me, me == 0));
    }
    for (std::size_t from = 0; from < processes; ++from)
        for (std::size_t to = 0; to < processes; ++to) {
            if (from == to) continue;
            for (const std::size_t instance : {std::size_t{0}, nodes[0].rings().instances() - 1})
                EXPECT_TRUE(carries(nodes[from], nodes[to], from, to, instance))
                    << from << " to " << to << ", " << instance;
        }
    close(descriptor);
}

TEST(Node, rings_are_there_again_after_they_were_unmapped) {
    const int descriptor = make_file(2);
    std::optional<Node> here = Node::map(descriptor, 2);
    std::optional<Node> there = Node::map(descriptor, 2);
    ASSERT_TRUE(here && there && here->map_rings(0, false) && there->map_rings(1, false) &&
                there->rings().reach(1, 0));
    Producer producer;
    Consumer consumer;
    there->rings().bind(producer, 1, 0, 5);
    here->rings().bind(consumer, 1, 0, 5);
    const auto send = [&](std::int32_t tag) {
        Cell* cell = producer.reserve(1);
        ASSERT_NE(cell, nullptr);
        cell->kind = 1;
        cell->tag = tag;
        producer.publish(*cell, 1);
    };
    const auto expect = [&](std::int32_t tag) {
        const Cell* cell = consumer.front();
        ASSERT_NE(cell, nullptr);
        EXPECT_EQ(cell->tag, tag);
        consumer.pop(*cell);
    };
    send(1);
    send(2);
    expect(1);
    here->unmap();
    there->unmap();
    ASSERT_TRUE(here->map_rings(0, false) && there->map_rings(1, false) &&
                there->rings().reach(1, 0));
    there->rings().bind(producer, 1, 0, 5);
    here->rings().bind(consumer, 1, 0, 5);
    send(3);
    expect(2);
    expect(3);
    EXPECT_EQ(consumer.front(), nullptr);
    close(descriptor);
}

TEST(Node, another_file_behind_the_descriptor_is_not_taken_for_the_memory) {
    const int descriptor = make_file(2);
    std::optional<Node> node = Node::map(descriptor, 2);
    ASSERT_TRUE(node);
    const int other = make_file(2);
    ASSERT_EQ(dup2(other, descriptor), descriptor);
    EXPECT_FALSE(node->map_rings(0, false));
    std::shared_ptr<const platform::Mapping> none;
    EXPECT_EQ(node->stages().map({0, {}}, none), nullptr);
    close(other);
    close(descriptor);
    EXPECT_FALSE(node->map_rings(0, false));
}

TEST(Node,
     further_offers_are_one_wherever_they_are_mapped_and_there_again_after_they_were_unmapped) {
    constexpr std::size_t processes = 2, instance = 3;
    const int descriptor = make_file(processes);
    auto sender = Node::map(descriptor, processes);
    auto receiver = Node::map(descriptor, processes);
    ASSERT_TRUE(sender && sender->map_rings(0, false) && sender->rings().reach(0, 1));
    ASSERT_TRUE(receiver && receiver->map_rings(1, false));
    EXPECT_TRUE(receiver->rings().reach_offers(0, 1, instance));  // of none
    std::uint32_t next = 0;
    for (std::size_t block = 1; block <= 2; ++block) {
        ASSERT_TRUE(sender->rings().add_offers(0, 1, instance, block));
        auto* offers = sender->rings().further_offers(0, 1, instance, block);
        auto* there = receiver->rings().further_offers(0, 1, instance, block);
        ASSERT_TRUE(offers != nullptr && there != nullptr && offers != there);
        const std::uint64_t number = offers->offer(next, true);
        ASSERT_TRUE(there->hold(number));
        there->accept(number);
        EXPECT_FALSE(offers->take_back(number, [] {}));
    }
    EXPECT_NE(sender->rings().further_offers(0, 1, instance, 1),
              sender->rings().further_offers(0, 1, instance, 2));
    receiver->unmap();
    ASSERT_TRUE(receiver->map_rings(1, false));
    ASSERT_TRUE(receiver->rings().reach_offers(0, 1, instance));
    const std::uint64_t again =
        sender->rings().further_offers(0, 1, instance, 2)->offer(next, true);
    EXPECT_TRUE(sender->rings().further_offers(0, 1, instance, 2)->take_back(again, [] {}));
    EXPECT_FALSE(receiver->rings().further_offers(0, 1, instance, 2)->hold(again));
    close(descriptor);
}

}  // namespace
}  // namespace heddle::node
