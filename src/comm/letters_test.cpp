// SPDX-License-Identifier: BSD-3-Clause
#include "comm/letters.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "objects/process.hpp"
#include "testing/job.hpp"

namespace heddle::comm {
namespace {

constexpr int waiters = 3;

/// Lets three threads sleep at one key, each until it has a letter or there will be none. Returns
/// how many had one.
int sleepers_with_letters(const std::function<void(core::Thread&, Letters&, Key)>& then) {
    std::atomic<Key> key{0};
    std::atomic<int> taken{0};
    std::array<std::atomic<core::Thread*>, waiters + 1> threads{};
    testing::run_job(1, waiters + 1, [&](int, int number) {
        core::Thread& me = *objects::attached_thread();
        Letters& letters = *me.process->letters;
        if (number != 0) {
            while (key == 0) std::this_thread::yield();
            threads[static_cast<std::size_t>(number)] = &me;
            taken += letters.wait(me, key, -1, "for a test").has_value();
            return;
        }
        key = letters.open();
        for (int i = 1; i <= waiters; ++i) {
            std::atomic<core::Thread*>& thread = threads[static_cast<std::size_t>(i)];
            while (thread == nullptr || thread.load()->progress.sleeps.value() == 0)
                std::this_thread::yield();
        }
        then(me, letters, key);
    });
    return taken;
}

TEST(Letters, ThatComeTogetherWakeAsManyThreads) {
    for (int round = 0; round < 20; ++round)
        EXPECT_EQ(sleepers_with_letters([](core::Thread&, Letters& letters, Key key) {
                      for (int i = 0; i < waiters; ++i) letters.leave(key, 7);
                  }),
                  waiters);
}

TEST(Letters, AreAwaitedUntilTheKeyIsClosed) {
    for (int round = 0; round < 20; ++round)
        EXPECT_EQ(sleepers_with_letters(
                      [](core::Thread& me, Letters& letters, Key key) { letters.close(me, key); }),
                  0);
}

}  // namespace
}  // namespace heddle::comm
