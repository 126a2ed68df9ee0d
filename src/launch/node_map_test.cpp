// SPDX-License-Identifier: BSD-3-Clause
#include "launch/node_map.hpp"

#include <gtest/gtest.h>

namespace heddle::launch {
namespace {

TEST(NodeMap, is_read_from_blocks) {
    EXPECT_EQ(read_process_mapping("(vector,(0,1,4))", 4), (NodeMap{0, 0, 0, 0}));
    EXPECT_EQ(read_process_mapping("(vector,(0,2,2))", 4), (NodeMap{0, 0, 1, 1}));
    EXPECT_EQ(read_process_mapping("(vector,(0,2,1),(5,1,2))", 4), (NodeMap{0, 1, 5, 5}));
}

TEST(NodeMap, begins_again_where_ranks_are_left) {
    EXPECT_EQ(read_process_mapping("(vector,(0,2,1))", 5), (NodeMap{0, 1, 0, 1, 0}));
}

TEST(NodeMap, is_read_from_blocks_that_repeat) {
    EXPECT_EQ(read_process_mapping("(vector,[(0,2,1)]x2)", 4), (NodeMap{0, 1, 0, 1}));
    EXPECT_EQ(read_process_mapping("(vector,[(0,1,1),(1,1,2)]x2,(5,1,1))", 7),
              (NodeMap{0, 1, 1, 0, 1, 1, 5}));
    EXPECT_EQ(read_process_mapping("(vector,[(0,2,1)]x2000000000)", 3), (NodeMap{0, 1, 0}));
    EXPECT_EQ(read_process_mapping("(vector,[(0,1,2),1]x2,0)", 7), (NodeMap{0, 0, 1, 0, 0, 1, 0}));
    EXPECT_EQ(read_process_mapping("(vector,0)", 1), NodeMap{0});
}

TEST(NodeMap, has_no_more_ranks_than_the_job) {
    EXPECT_EQ(read_process_mapping("(vector,(0,1000000,1000000))", 3), (NodeMap{0, 0, 0}));
}

TEST(NodeMap, is_empty_for_anything_else) {
    for (const char* text :
         {"", "unknown", "(vector)", "(vector,", "(vector,(0,1,4)", "(vector,(0,1,4))x",
          "(vector,(0,0,4))", "(vector,(0,1,0))", "(vector,(-1,1,1))", "(vector,(0,1))",
          "(vector,(0,1,99999999999))", "(matrix,(0,1,4))", "(vector,[(0,2,1)]x)",
          "(vector,[(0,2,1)]x0)", "(vector,[]x2)", "(vector,[(0,2,1)x2)"})
        EXPECT_EQ(read_process_mapping(text, 4), NodeMap{}) << text;
}

TEST(NodeMap, tells_one_node_from_several) {
    EXPECT_FALSE(has_several_nodes({}));
    EXPECT_FALSE(has_several_nodes({3, 3, 3}));
    EXPECT_TRUE(has_several_nodes({0, 7, 0, 1}));
    EXPECT_TRUE(has_several_nodes({2, 2, 1}));
}

}  // namespace
}  // namespace heddle::launch
