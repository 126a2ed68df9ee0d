// SPDX-License-Identifier: BSD-3-Clause
#include "sync/locks/any_lock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "testing/watchdog.hpp"
#include "tool/recipe.hpp"

namespace {

using namespace heddle::sync::locks;
using namespace std::chrono_literals;

TEST(AnyLock, there_is_one_for_every_name_and_no_other) {
    const std::set<std::string> names(path_lock_names().begin(), path_lock_names().end());
    constexpr std::array flats{"mutex", "ticket", "mcs", "hmcs"};
    EXPECT_EQ(names.size(), flats.size() + flats.size() * flats.size());
    for (const char* flat : flats) EXPECT_EQ(names.count(flat), 1U);
    for (const char* one : {"p-mutex-mutex", "p-hmcs-mcs", "p-mcs-hmcs", "p-ticket-hmcs"})
        EXPECT_EQ(names.count(one), 1U);
    for (const std::string& name : names) {
        const auto lock = make_path_lock(name);
        ASSERT_NE(lock, nullptr) << name;
        EXPECT_EQ(lock->name(), name);
    }
    for (const char* none :
         {"", "p", "p-", "p-mcs", "p-mcs-", "mcs-mcs", "MCS", "p-p-mcs-mcs-mcs", "mcs "})
        EXPECT_EQ(make_path_lock(none), nullptr) << none;
}

TEST(AnyLock, excludes_and_counts) {
    heddle::testing::Watchdog watchdog("threads of a lock with a name");
    for (const char* name : path_lock_names()) {
        const auto lock = make_path_lock(name);
        long sum = 0;
        std::array<LockStatistics, 3> statistics{};
        std::vector<std::thread> threads;
        for (LockStatistics& mine : statistics)
            threads.emplace_back([&] {
                for (int round = 0; round < 500; ++round) {
                    const PathGuard guard(*lock, round % 2 == 0 ? Path::main : Path::progress,
                                          mine);
                    ++sum;
                    watchdog.progress();
                }
            });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(sum, 1500) << name;
        for (const LockStatistics& mine : statistics) {
            EXPECT_EQ(mine.acquisitions, 500U) << name;
            EXPECT_LE(mine.contended, 500U) << name;
        }
    }
}

TEST(AnyLock, counts_waiting_only_where_there_is_some) {
    for (const char* name : path_lock_names()) {
        const auto lock = make_path_lock(name);
        LockStatistics alone;
        for (int round = 0; round < 10; ++round)
            const PathGuard guard(*lock, Path::progress, alone);
        EXPECT_EQ(alone.contended, 0U) << name;
        EXPECT_EQ(alone.waited(), 0ns) << name;

        LockStatistics waited;
        PathLock::Node me, other;
        lock->lock(Path::main, me);
        std::thread([&] {
            EXPECT_FALSE(lock->lock_for(Path::progress, other, 2ms, waited)) << name;
        }).join();
        lock->unlock(me);
        EXPECT_EQ(waited.acquisitions, 0U) << name;
        EXPECT_EQ(waited.contended, 1U) << name;
        EXPECT_GE(waited.waited(), 1900us) << name;  // clocks differ by some parts in a thousand
        alone += waited;
        EXPECT_EQ(alone.acquisitions, 10U) << name;
        EXPECT_EQ(alone.contended, 1U) << name;
    }
}

TEST(AnyLock, is_what_the_knob_may_say) {
    const auto names = path_lock_names();
    ASSERT_EQ(names.size(), std::size(heddle::tool::lock_protocol_names));
    for (std::size_t i = 0; i < names.size(); ++i)
        EXPECT_STREQ(names[i], heddle::tool::lock_protocol_names[i]);
}

}  // namespace
