// SPDX-License-Identifier: BSD-3-Clause
#include "sync/short_wait.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "sync/native.hpp"
#include "testing/watchdog.hpp"

namespace {

using heddle::sync::Native;
using heddle::sync::wait_shortly_until;

bool run_on_first_core(int policy) {
    cpu_set_t set;
    CPU_ZERO(&set);
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &allowed)) {
            CPU_SET(core, &set);
            break;
        }
    sched_param parameters{};
    parameters.sched_priority = policy == SCHED_FIFO ? 1 : 0;
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0 &&
        pthread_setschedparam(pthread_self(), policy, &parameters) == 0;
}

TEST(ShortWait, lets_a_thread_of_lower_priority_on_the_same_core_go_on) {
    std::atomic<bool> started{false}, wanted{false}, over{false}, possible{true};
    std::thread low([&] {
        run_on_first_core(SCHED_OTHER);
        started = true;
        while (!wanted) {}
        over = true;
    });
    std::thread high([&] {
        while (!started) std::this_thread::yield();
        possible = run_on_first_core(SCHED_FIFO);
        wanted = true;
        wait_shortly_until<Native>([&] { return over.load(); });
    });
    high.join();
    low.join();
    if (!possible) GTEST_SKIP() << "no priorities of the real-time kind are allowed here";
    EXPECT_TRUE(over);
}

TEST(ShortWait, gives_up_after_so_many_sleeps) {
    int looks = 0;
    EXPECT_FALSE(wait_shortly_until<Native>([&] { return ++looks < 0; }, 3));
    const int looks_in_vain = looks;
    looks = 0;
    EXPECT_TRUE(wait_shortly_until<Native>([&] { return ++looks == looks_in_vain; }, 3));
}

}  // namespace
