// SPDX-License-Identifier: BSD-3-Clause
#include "objects/node_memory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "node/file.hpp"

namespace heddle::objects {
namespace {

using node::page_bytes;

class NodeMemoryTest : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(node_); }
    void TearDown() override { close(descriptor_); }
    /// Returns the blocks of the file, whose pages exist once they are written.
    std::int64_t blocks() const {
        struct stat status{};
        fstat(descriptor_, &status);
        return status.st_blocks;
    }

    const int descriptor_ = node::create_file(node::File::of(1, node::Token::fresh()));
    const std::optional<node::Node> node_ = node::Node::map(descriptor_, 1);
    NodeMemory memory_{node_->segments()};
};

TEST_F(NodeMemoryTest, a_piece_has_what_lies_in_it_and_nothing_else) {
    auto* first = static_cast<std::byte*>(memory_.take(2 * page_bytes));
    auto* second = static_cast<std::byte*>(memory_.take(page_bytes + 1));
    ASSERT_TRUE(first != nullptr && second != nullptr);
    const NodeMemory::Holder piece = memory_.piece_with(first, 1);
    ASSERT_NE(piece, nullptr);
    EXPECT_EQ(piece->begin(), first);
    EXPECT_EQ(memory_.piece_with(first + 5, 2 * page_bytes - 5), piece);
    EXPECT_EQ(memory_.piece_with(first + 5, 2 * page_bytes - 4), nullptr);
    EXPECT_NE(memory_.piece_with(second + page_bytes, 1), piece);
    EXPECT_NE(memory_.piece_with(second + page_bytes, 1), nullptr);
    int elsewhere = 0;
    EXPECT_EQ(memory_.piece_with(&elsewhere, sizeof elsewhere), nullptr);
    EXPECT_FALSE(memory_.give(first + 8));
    EXPECT_FALSE(memory_.give(&elsewhere));
    EXPECT_TRUE(memory_.give(first));
    EXPECT_FALSE(memory_.give(first));
    EXPECT_EQ(memory_.piece_with(first, 1), nullptr);
    EXPECT_TRUE(memory_.give(second));
}

TEST_F(NodeMemoryTest, pages_go_back_when_nobody_has_the_piece_any_more) {
    EXPECT_TRUE(
        memory_.give(memory_.take(page_bytes)));  // the page of the board is there from now on
    const std::int64_t before = blocks();
    auto* memory = static_cast<std::byte*>(memory_.take(10 * page_bytes));
    ASSERT_NE(memory, nullptr);
    NodeMemory::Holder window = memory_.piece_with(memory, page_bytes);
    for (std::size_t i = 0; i < 10; ++i) memory[i * page_bytes] = std::byte{1};
    EXPECT_GT(blocks(), before);
    EXPECT_TRUE(memory_.give(memory));
    EXPECT_EQ(memory[page_bytes], std::byte{1});
    window = nullptr;
    EXPECT_EQ(blocks(), before);
}

TEST_F(NodeMemoryTest, what_does_not_fit_is_not_there) {
    EXPECT_EQ(memory_.take(node::segments_bytes + 1), nullptr);
    EXPECT_EQ(memory_.take(std::size_t{1} << 59), nullptr);  // more than there are addresses
    void* memory = memory_.take(page_bytes);
    EXPECT_NE(memory, nullptr);
    EXPECT_TRUE(memory_.give(memory));
}

TEST_F(NodeMemoryTest, half_of_the_segments_are_for_others) {
    std::vector<node::Segment> others;
    while (node_->segments().can_spare(page_bytes))
        others.push_back(node_->segments().take(page_bytes));
    EXPECT_GT(others.size(), 10000U);
    EXPECT_EQ(memory_.take(page_bytes), nullptr);
    EXPECT_TRUE(node_->segments().take(page_bytes));
}

}  // namespace
}  // namespace heddle::objects
