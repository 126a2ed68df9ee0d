// SPDX-License-Identifier: BSD-3-Clause
#include "platform/ended.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using heddle::platform::has_lost_its_memory;

TEST(Ended, a_process_that_lives_has_memory_and_a_zombie_has_none) {
    EXPECT_FALSE(has_lost_its_memory(getpid()));
    const pid_t child = fork();
    if (child == 0)
        for (;;) pause();
    ASSERT_GT(child, 0);
    EXPECT_FALSE(has_lost_its_memory(child));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    EXPECT_TRUE(has_lost_its_memory(child));  // a zombie
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_TRUE(has_lost_its_memory(child));
}

}  // namespace
