// SPDX-License-Identifier: BSD-3-Clause
#include "core/thread.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace heddle::core {
namespace {

constexpr std::size_t most = 100'000;

/// Returns how many objects the arena has ever handed out.
std::size_t touched(const Arena<Request>& arena) {
    std::size_t number = 0;
    while (arena.at_place(number) != nullptr) ++number;
    return number;
}

TEST(RequestPool, touches_little_for_a_thread_that_makes_few_requests) {
    Arena<Request> arena(most);
    RequestPool pool;
    ASSERT_NE(pool.take(arena), nullptr);
    EXPECT_LE(touched(arena), 16U);
    std::vector<std::size_t> refills;
    for (std::size_t before = touched(arena); refills.size() < 4;) {
        ASSERT_NE(pool.take(arena), nullptr);
        const std::size_t now = touched(arena);
        if (now != before) refills.push_back(now - std::exchange(before, now));
    }
    EXPECT_EQ(refills, (std::vector<std::size_t>{32, 64, 64, 64}));
    pool.drain(arena);
}

TEST(RequestPool, that_is_watched_keeps_nothing) {
    Arena<Request> arena(most);
    RequestPool pool;
    pool.watch();
    for (std::size_t i = 1; i < 100; ++i) {
        ASSERT_NE(pool.take(arena), nullptr);
        ASSERT_EQ(touched(arena), i);
    }
}

}  // namespace
}  // namespace heddle::core
