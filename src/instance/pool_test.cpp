// SPDX-License-Identifier: BSD-3-Clause
#include "instance/pool.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "node/file.hpp"

namespace {

using heddle::instance::Pool;
using heddle::node::Node;

constexpr std::uint32_t context = 2;

class Assignment : public testing::Test {
protected:
    Assignment()
        : descriptor_(
              heddle::node::create_file(heddle::node::File::of(1, heddle::node::Token::fresh()))),
          node_(*Node::map(descriptor_, 1)),
          pool(node_.rings(), 0, 1, 0, {}) {}
    ~Assignment() override { close(descriptor_); }

    /// Returns how many instances `count` tags use, a stride apart.
    std::size_t instances(int first, int stride, int count, std::uint32_t of_context = context) {
        std::set<int> numbers;
        for (int i = 0; i < count; ++i)
            numbers.insert(pool.number_of(of_context, first + i * stride));
        return numbers.size();
    }

private:
    int descriptor_;
    Node node_;

protected:
    Pool pool;
};

TEST_F(Assignment, of_consecutive_tags_is_to_instances_of_their_own) {
    for (int first = 0; first < 1 << 20; first += 64)
        ASSERT_EQ(instances(first, 1, 64), 64u) << first;
    for (int first = 0; first < 5000; ++first) EXPECT_EQ(instances(first, 1, 16), 16u) << first;
}

TEST_F(Assignment, takes_all_digits_of_the_tag) {
    for (int digit = 6; digit <= 26; ++digit) {
        for (const std::uint32_t context : {2, 6, 8})
            EXPECT_EQ(instances(1, 1 << digit, 16, context), 16u) << "a stride of 2^" << digit;
    }
}

TEST_F(Assignment, spreads_communicators_that_use_the_same_tag) {
    std::set<int> numbers;
    for (std::uint32_t i = 0; i < 16; ++i) numbers.insert(pool.number_of(6 + 2 * i, 0));
    EXPECT_EQ(numbers.size(), 16u);
}

}  // namespace
