// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/node.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "platform/memory.hpp"

namespace heddle::transport::shm {
namespace {

TEST(Node, a_stage_is_free_when_all_its_users_have_left) {
    const int descriptor = platform::create_shared_memory();
    const auto node = Node::map(descriptor, 2);
    close(descriptor);
    ASSERT_TRUE(node);
    for (std::size_t i = 0; i < stages; ++i)
        EXPECT_EQ(node->take_stage(2), static_cast<std::int32_t>(i));
    EXPECT_EQ(node->take_stage(2), -1);
    node->leave_stage(5);
    EXPECT_EQ(node->take_stage(1), -1);
    node->leave_stage(5);
    EXPECT_EQ(node->take_stage(1), 5);
    node->leave_stage(5);
    EXPECT_EQ(node->take_stage(3), 5);
    EXPECT_EQ(node->stage(6) - node->stage(5), static_cast<std::ptrdiff_t>(stage_bytes));
}

}  // namespace
}  // namespace heddle::transport::shm
