// SPDX-License-Identifier: BSD-3-Clause
#include "activity/row.hpp"

#include <gtest/gtest.h>

namespace heddle::activity {
namespace {

std::vector<Row> example() {
    Row busy;
    busy.rank = 3;
    busy.pid = 1234;
    busy.host = "node2";
    busy.thread = 1235;
    busy.state = 'R';
    busy.processor = 0.75;
    busy.traffic = Traffic{0.25, 100, 300, 7};
    busy.memory = 1 << 20;
    busy.call = "MPI_Recv";
    busy.seconds = 2.5;
    Row ended;
    ended.rank = 4;
    ended.end = "ended with exit code 0";
    return {busy, ended};
}

TEST(PackedRows, unpacked_say_the_same) {
    const auto rows = unpacked(packed(example()));
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->size(), 2U);
    const Row& busy = rows->front();
    EXPECT_EQ(busy.rank, 3);
    EXPECT_EQ(busy.pid, 1234);
    EXPECT_EQ(busy.host, "node2");
    EXPECT_EQ(busy.thread, 1235U);
    EXPECT_EQ(busy.state, 'R');
    EXPECT_EQ(busy.processor, 0.75);
    EXPECT_FALSE(busy.in_mpi);
    ASSERT_TRUE(busy.traffic);
    EXPECT_EQ(busy.traffic->in_mpi, 0.25);
    EXPECT_EQ(busy.traffic->messages, 100);
    EXPECT_EQ(busy.traffic->calls, 300);
    EXPECT_EQ(busy.traffic->waits_for, 7);
    EXPECT_EQ(busy.memory, 1U << 20);
    EXPECT_EQ(busy.call, "MPI_Recv");
    EXPECT_FALSE(busy.waits_for);
    EXPECT_EQ(busy.seconds, 2.5);
    EXPECT_FALSE(rows->back().traffic);
    EXPECT_EQ(rows->back().end, "ended with exit code 0");
}

TEST(PackedRows, bytes_that_are_cut_are_none) {
    const std::string bytes = packed(example());
    for (std::size_t length = 0; length < bytes.size(); ++length)
        EXPECT_FALSE(unpacked(std::string_view(bytes).substr(0, length))) << length;
    EXPECT_FALSE(unpacked(bytes + "x"));
}

}  // namespace
}  // namespace heddle::activity
