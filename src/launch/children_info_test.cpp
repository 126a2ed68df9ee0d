// SPDX-License-Identifier: BSD-3-Clause
#include "launch/children_info.hpp"

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace heddle::launch {
namespace {

TEST(ChildrenInfo, largest_of_set_is_found) {
    EXPECT_EQ(largest_of_set("3", 5), 3);
    EXPECT_EQ(largest_of_set("3", 2), -1);
    EXPECT_EQ(largest_of_set("1:4", 3), 3);
    EXPECT_EQ(largest_of_set("2:9:3", 10), 8);
    EXPECT_EQ(largest_of_set("9:2:-3", 8), 6);
    EXPECT_EQ(largest_of_set(" 1 , 2:8:2 , 100", 7), 6);
    EXPECT_EQ(largest_of_set("0", 4), 0);
    EXPECT_EQ(largest_of_set("-3:-1", 4), -1);
}

TEST(ChildrenInfo, set_that_is_none_is_refused) {
    for (const char* set :
         {"", "a", "1:", "1:2:0", "1:2:3:4", "1,,2", "1 2", "99999999999999999999"})
        EXPECT_THROW((void)largest_of_set(set, 4), std::runtime_error) << set;
}

TEST(ChildrenInfo, number_is_maxprocs_without_a_set) {
    EXPECT_EQ(number_to_start({"a", {}, 7, {}}), 7);
    EXPECT_EQ(number_to_start({"a", {}, 7, {{"soft", "1:5"}}}), 5);
    EXPECT_THROW((void)number_to_start({"a", {}, 7, {{"soft", "8"}}}), std::runtime_error);
}

TEST(ChildrenInfo, keys_of_a_file_do_not_replace_others) {
    const std::string path = ::testing::TempDir() + "/heddle_children_info";
    std::ofstream(path) << "# a comment\n\n wdir = /tmp # another\nhost=a=b\n";
    const InfoPairs info = complete_info({{"file", path}, {"wdir", "/usr"}});
    const InfoPairs expected{{"file", path}, {"wdir", "/usr"}, {"host", "a=b"}};
    EXPECT_EQ(info, expected);
    std::ofstream(path) << "no pair\n";
    EXPECT_THROW((void)complete_info({{"file", path}}), std::runtime_error);
    std::remove(path.c_str());
    EXPECT_THROW((void)complete_info({{"file", path}}), std::runtime_error);
}

TEST(ChildrenInfo, keys_without_effect_are_noted_once) {
    std::vector<std::string> keys;
    const InfoPairs info{{"preload_files", "a"}, {"host", "b"}, {"of somebody", "c"}};
    add_without_effect(info, keys);
    add_without_effect(info, keys);
    EXPECT_EQ(keys, std::vector<std::string>{"preload_files"});
}

}  // namespace
}  // namespace heddle::launch
