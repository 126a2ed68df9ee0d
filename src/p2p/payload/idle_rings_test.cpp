// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/payload/idle_rings.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "node/file.hpp"
#include "sync/parking.hpp"
#include "testing/watchdog.hpp"

namespace heddle::p2p {
namespace {

using node::Node;
using node::page_bytes;
using node::ring_pages;
using node::ring_slots;
using std::chrono::nanoseconds;

/// Two processes. Each maps the node's memory by itself. The first sends to the second through many
/// instances.
class IdleRingsTest : public ::testing::Test {
protected:
    static constexpr std::size_t bytes_of_ring = ring_pages * page_bytes;

    IdleRingsTest() {
        if (!here_->map_rings(0, false) || !there_->map_rings(1, false)) throw std::bad_alloc();
    }
    ~IdleRingsTest() override { close(descriptor_); }

    void send(std::size_t instance, std::size_t messages) {
        const instance::OutboxHold outbox(pool_[instance], thread_.token);
        instance::Channel& channel = pool_.channel(outbox, 1);
        for (; messages > 0; --messages) {
            node::Cell* cell = channel.ring.reserve(1);
            ASSERT_NE(cell, nullptr);
            cell->kind = 1;
            channel.ring.publish(*cell, 1);
        }
    }
    void receive(std::size_t instance, std::size_t messages) {
        const instance::InstanceLock inbox(their_pool_[instance]);
        node::Consumer& ring = their_pool_.inlet(inbox, 0).ring;
        for (; messages > 0; --messages) {
            const node::Cell* cell = ring.front();
            ASSERT_NE(cell, nullptr);
            ring.pop(*cell);
        }
        ring.give_back_all();
    }
    /// Sends so many messages that all pages of the ring have been used.
    void fill(std::size_t instance) {
        for (int half = 0; half < 2; ++half) {
            ASSERT_NO_FATAL_FAILURE(send(instance, ring_slots / 2));
            ASSERT_NO_FATAL_FAILURE(receive(instance, ring_slots / 2));
        }
    }
    /// Runs rounds until there is nothing more to look at.
    void rest(IdleRings& rings) {
        testing::Watchdog watchdog("rounds of idle rings");
        while (rings.tend(thread_) != sync::no_limit) std::this_thread::yield();
    }
    std::size_t bytes() const {
        struct stat status{};
        EXPECT_EQ(fstat(descriptor_, &status), 0);
        return static_cast<std::size_t>(status.st_blocks) * 512;
    }

    const int descriptor_ = node::create_file(node::File::of(2, node::Token::fresh()));
    std::optional<Node> here_ = Node::map(descriptor_, 2), there_ = Node::map(descriptor_, 2);
    const tool::Settings settings_{};
    instance::Pool pool_{here_->rings(), 0, 2, 0, settings_},
        their_pool_{there_->rings(), 1, 2, 0, settings_};
    core::Thread thread_;
};

constexpr std::size_t many = IdleRings::worth_a_look;

TEST_F(IdleRingsTest, few_are_left_alone) {
    IdleRings rings(pool_, here_->rings(), 0, nanoseconds{1});
    for (std::size_t i = 0; i + 1 < many; ++i) ASSERT_NO_FATAL_FAILURE(fill(i));
    EXPECT_FALSE(rings.stir());
    EXPECT_EQ(rings.tend(thread_), sync::no_limit);
}

TEST_F(IdleRingsTest, those_that_are_read_give_all_their_pages_back) {
    IdleRings rings(pool_, here_->rings(), 0, nanoseconds{1});
    for (std::size_t i = 0; i < many + 1; ++i) ASSERT_NO_FATAL_FAILURE(fill(i));
    ASSERT_NO_FATAL_FAILURE(send(0, 1));
    const std::size_t filled = bytes();
    EXPECT_TRUE(rings.stir());
    EXPECT_FALSE(rings.stir()) << "the leader has been told";
    rest(rings);
    // All pages are dropped except that of the message that has not been read.
    EXPECT_EQ(bytes(), filled - (many + 1) * bytes_of_ring + page_bytes);
    EXPECT_EQ(thread_.progress.rings_dropped.value(), many + 1);
    // No page is dropped twice.
    EXPECT_TRUE(rings.stir());
    rest(rings);
    EXPECT_EQ(thread_.progress.rings_dropped.value(), many + 1);
    // Rings that have been used again are dropped again, and they work as before.
    ASSERT_NO_FATAL_FAILURE(receive(0, 1));
    ASSERT_NO_FATAL_FAILURE(fill(0));
    ASSERT_NO_FATAL_FAILURE(fill(1));
    EXPECT_TRUE(rings.stir());
    rest(rings);
    EXPECT_EQ(thread_.progress.rings_dropped.value(), many + 3);
    EXPECT_EQ(bytes(), filled - (many + 1) * bytes_of_ring);
}

TEST_F(IdleRingsTest, those_in_use_are_kept_until_the_time_is_over) {
    IdleRings rings(pool_, here_->rings(), 0, std::chrono::hours{1});
    for (std::size_t i = 0; i < many; ++i) ASSERT_NO_FATAL_FAILURE(fill(i));
    EXPECT_TRUE(rings.stir());
    EXPECT_GT(rings.tend(thread_), std::chrono::minutes{59});
    EXPECT_GT(rings.tend(thread_), std::chrono::minutes{59});
    EXPECT_EQ(thread_.progress.rings_dropped.value(), 0U);
    rings.drop_all(thread_);
    EXPECT_EQ(thread_.progress.rings_dropped.value(), many);
}

TEST_F(IdleRingsTest, a_time_of_nothing_keeps_all) {
    IdleRings rings(pool_, here_->rings(), 0, nanoseconds{0});
    for (std::size_t i = 0; i < many; ++i) ASSERT_NO_FATAL_FAILURE(fill(i));
    EXPECT_FALSE(rings.stir());
    rings.drop_all(thread_);
    EXPECT_EQ(thread_.progress.rings_dropped.value(), 0U);
}

TEST_F(IdleRingsTest, pages_that_cannot_be_dropped_are_not_tried_again) {
    IdleRings rings(pool_, here_->rings(), 0, nanoseconds{1});
    for (std::size_t i = 0; i < many; ++i) ASSERT_NO_FATAL_FAILURE(fill(i));
    const int other = open("/dev/null", O_RDWR);
    ASSERT_EQ(dup2(other, descriptor_), descriptor_);  // the descriptor names another file now
    close(other);
    EXPECT_TRUE(rings.stir());
    rest(rings);
    EXPECT_FALSE(rings.stir());
    EXPECT_EQ(thread_.progress.rings_dropped.value(), 0U);
    for (std::size_t i = 0; i < many; ++i) ASSERT_NO_FATAL_FAILURE(fill(i));
}

}  // namespace
}  // namespace heddle::p2p
