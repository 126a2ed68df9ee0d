// SPDX-License-Identifier: BSD-3-Clause
#include "hangs/near_by.hpp"

#include <gtest/gtest.h>

namespace heddle::hangs {
namespace {

constexpr std::uint32_t world = 2, halo = 30;

/// Rank 0, which waits for tag 13 from rank 1 on MPI_COMM_WORLD, unless a test says otherwise.
class NearBy : public ::testing::Test {
protected:
    NearBy() {
        event.kind = node::AwaitedKind::receive;
        event.context = world;
        event.peer = event.world_peer = 1;
        event.tag = 13;
    }
    /// Adds a message, for which there must be room.
    void lies(std::uint32_t context, int source, int tag, int world_source) {
        rank.unexpected.add(context, source, tag);
        for (node::UnexpectedMessage& one : rank.unexpected.listed) {
            if (one.messages == 0 || one.context != context || one.source != source) continue;
            one.world_source = world_source;
            if (context == halo) node::put_text(one.communicator, "halo");
        }
    }
    std::vector<std::string> said() const {
        std::vector<std::string> texts;
        for (const Words& words : near_by(rank, what)) {
            std::vector<std::string> peers;
            for (const int peer : words.peers) peers.push_back(std::to_string(peer));
            texts.push_back(with_peers(words.text, peers));
        }
        return texts;
    }

    Rank rank;
    node::WaitsFor what{};
    node::AwaitedEvent& event = *what.add();
};
using Texts = std::vector<std::string>;

TEST_F(NearBy, is_nothing_where_nothing_lies) { EXPECT_EQ(said(), Texts{}); }

TEST_F(NearBy, another_tag_is_told) {
    lies(world, 1, 14, 1);
    lies(world, 1, 14, 1);
    EXPECT_EQ(said(), Texts{"from rank 1 lies tag 14; tag 13 is awaited"});
}

TEST_F(NearBy, of_many_tags_the_first_are_told) {
    for (const int tag : {18, 14, 16, 15}) lies(world, 1, tag, 1);
    EXPECT_EQ(said(), Texts{"from rank 1 lie tags 14, 15, 16 and 1 more; tag 13 is awaited"});
}

TEST_F(NearBy, another_communicator_is_told_by_who_has_sent) {
    lies(halo, 0, 13, 1);
    EXPECT_EQ(said(),
              Texts{"from rank 0 lies tag 13 on 'halo' (communicator 15); it is awaited on "
                    "MPI_COMM_WORLD"});
}

TEST_F(NearBy, another_source_is_told) {
    lies(world, 2, 13, 2);
    EXPECT_EQ(said(), Texts{"from rank 2 lies tag 13; it is awaited from rank 1"});
}

TEST_F(NearBy, what_differs_in_two_things_is_not) {
    lies(world, 2, 14, 2);
    lies(halo, 0, 14, 1);
    lies(halo, 1, 13, 2);
    lies(halo, 2, 13, -1);
    EXPECT_EQ(said(), Texts{});
}

TEST_F(NearBy, a_tag_comes_before_a_communicator_and_that_before_a_source) {
    lies(world, 2, 13, 2);
    lies(halo, 0, 13, 1);
    EXPECT_EQ(said().front().substr(0, 31), "from rank 0 lies tag 13 on 'hal");
    lies(world, 1, 14, 1);
    EXPECT_EQ(said(), Texts{"from rank 1 lies tag 14; tag 13 is awaited"});
}

TEST_F(NearBy, any_source_is_told_of_each) {
    event.peer = node::any_peer;
    event.any_peer = true;
    lies(world, 2, 14, 2);
    lies(world, 1, 15, 1);
    EXPECT_EQ(said(),
              (Texts{"from rank 1 lies tag 15; tag 13 is awaited",
                     "from rank 2 lies tag 14; tag 13 is awaited"}));
}

TEST_F(NearBy, any_tag_has_no_other_one) {
    event.tag = node::any_tag_awaited;
    lies(world, 2, 14, 2);
    EXPECT_EQ(said(), Texts{"from rank 2 lies tag 14; it is awaited from rank 1"});
}

TEST_F(NearBy, sends_have_none) {
    event.kind = node::AwaitedKind::send;
    lies(world, 1, 14, 1);
    EXPECT_EQ(said(), Texts{});
}

TEST(UnexpectedMessages, beyond_the_list_are_counted) {
    node::UnexpectedMessages list{};
    for (int tag = 0; tag < 20; ++tag) list.add(world, 1, tag);
    list.add(world, 1, 3);
    EXPECT_EQ(list.listed[3].messages, 2U);
    EXPECT_EQ(list.others, 4U);
}

}  // namespace
}  // namespace heddle::hangs
