// SPDX-License-Identifier: BSD-3-Clause
#include "platform/grandchild.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace heddle::platform {
namespace {

/// Returns the output of a shell that is started as a grandchild. Its standard output is a pipe,
/// and its other descriptors are `descriptors`.
std::string said_by(const std::string& script, std::vector<int> descriptors = {}) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    std::vector<int> all{-1, ends[1], STDERR_FILENO};
    all.insert(all.end(), descriptors.begin(), descriptors.end());
    std::string shell = "sh", option = "-c", text = script;
    const std::array<char*, 4> arguments{shell.data(), option.data(), text.data(), nullptr};
    const StartRefusal refusal = start_grandchild({"/bin/sh", arguments.data(), environ, all});
    EXPECT_EQ(refusal.step, nullptr);
    close(ends[1]);
    std::string said;
    char bytes[512];
    for (ssize_t size = 0; (size = read(ends[0], bytes, sizeof bytes)) > 0;)
        said.append(bytes, static_cast<std::size_t>(size));
    close(ends[0]);
    return said;
}

TEST(Grandchild, belongs_to_another) {
    EXPECT_NE(said_by("while test $PPID = " + std::to_string(getpid()) + "; do :; done; echo done"),
              "");
    EXPECT_EQ(waitpid(-1, nullptr, __WALL | WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

TEST(Grandchild, gets_the_descriptors_that_are_named) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);  // not closed on exec
    const std::string number = std::to_string(ends[1]);
    EXPECT_EQ(
        said_by("for n in 0 1 2 3 4 5 6 7 8 9; do test -e /proc/$$/fd/$n && printf '%s ' $n; done",
                {ends[1], -1, ends[0]}),
        "1 2 3 5 ");
    EXPECT_EQ(said_by("readlink /proc/$$/fd/5", {ends[1], -1, ends[0]}),
              said_by("readlink /proc/$$/fd/3", {ends[1], -1, ends[0]}));
    close(ends[0]);
    close(ends[1]);
}

TEST(Grandchild, can_swap_descriptors) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    ASSERT_LT(std::max(ends[0], ends[1]), 16);
    std::vector<int> reversed;  // each number below 16 gets the descriptor of another
    for (int fd = 3; fd < 16; ++fd)
        reversed.push_back(fd == ends[0] ? ends[1] : fd == ends[1] ? ends[0] : -1);
    const std::string flags =
        said_by("grep flags /proc/$$/fdinfo/" + std::to_string(ends[0]), reversed);
    EXPECT_NE(flags.find("01"), std::string::npos) << flags;  // the end to write to
    close(ends[0]);
    close(ends[1]);
}

/// Ignores a signal, also one that the C library keeps to itself.
bool ignore(int signal, bool is_ignored) {
    const std::array<unsigned long, 8> action{is_ignored ? 1UL : 0UL};
    return syscall(SYS_rt_sigaction, signal, action.data(), nullptr, NSIG / CHAR_BIT) == 0;
}

TEST(Grandchild, has_signals_as_by_default) {
    constexpr int of_threads = 32;
    const auto hangup = std::signal(SIGHUP, SIG_DFL);
    ASSERT_TRUE(ignore(SIGUSR1, true) && ignore(of_threads, true));
    sigset_t some, mask;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &some, &mask);
    const std::string said = said_by("grep -E 'Sig(Blk|Ign)' /proc/$$/status | tr -d '\\n\\t '");
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    ASSERT_TRUE(ignore(SIGUSR1, false) && ignore(of_threads, false));
    std::signal(SIGHUP, hangup);
    EXPECT_EQ(said, "SigBlk:0000000000000000SigIgn:0000000000000000");
}

TEST(Grandchild, goes_on_after_a_hangup_that_is_ignored) {
    const auto before = std::signal(SIGHUP, SIG_IGN);
    const std::string said = said_by("grep SigIgn /proc/$$/status | tr -d '\\n\\t '");
    std::signal(SIGHUP, before);
    EXPECT_EQ(said, "SigIgn:0000000000000001");
}

TEST(Grandchild, tells_what_was_refused) {
    std::string name = "x";
    const std::array<char*, 2> arguments{name.data(), nullptr};
    const StartRefusal refusal =
        start_grandchild({"/no/such/program", arguments.data(), environ, {}});
    EXPECT_STREQ(refusal.step, "execve");
    EXPECT_EQ(refusal.error, ENOENT);
    EXPECT_EQ(waitpid(-1, nullptr, __WALL | WNOHANG), -1);
}

TEST(Grandchild, is_started_by_threads_at_once) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([i] {
            for (int j = 0; j < 10; ++j)
                EXPECT_EQ(said_by("echo " + std::to_string(i)), std::to_string(i) + "\n");
        });
    for (std::thread& one : threads) one.join();
}

}  // namespace
}  // namespace heddle::platform
