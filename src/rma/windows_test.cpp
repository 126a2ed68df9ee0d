// SPDX-License-Identifier: BSD-3-Clause
/// Windows of several processes in one address space, whose shared memory is mapped once. So a race
/// detector sees both sides of the order that accumulates, locks and epochs make.

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpi.h"
#include "objects/process.hpp"
#include "testing/job.hpp"

namespace {

using heddle::testing::run_job;

constexpr int ranks = 3, threads = 2, rounds = 150;

/// The window of a rank, and the barrier of its threads.
struct Side {
    MPI_Win win = MPI_WIN_NULL;
    std::int64_t* memory = nullptr;
    std::barrier<> together{threads};
};

struct Cells {
    static constexpr int count = 16;

    std::array<Side, ranks> sides;

    /// Runs `body(side, rank, thread)` on every thread of a job, with a window of zeroes.
    template <class Body>
    void run(Body body) {
        run_job(ranks, threads, [&](int rank, int thread) {
            Side& side = sides[static_cast<std::size_t>(rank)];
            if (thread == 0) {
                MPI_Win_allocate(count * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &side.memory,
                                 &side.win);
                for (int i = 0; i < count; ++i) side.memory[i] = 0;
                MPI_Barrier(MPI_COMM_WORLD);
            }
            side.together.arrive_and_wait();
            body(side, rank, thread);
            side.together.arrive_and_wait();
            if (thread == 0) MPI_Win_free(&side.win);
        });
    }
};

TEST(Windows, accumulates_of_threads_of_all_processes_are_atomic) {
    Cells cells;
    cells.run([](Side& side, int rank, int thread) {
        if (thread == 0) MPI_Win_lock_all(0, side.win);
        side.together.arrive_and_wait();
        const std::int64_t one = 1;
        const double half = 0.5;
        const std::complex<double> both(1, -1);
        for (int round = 0; round < rounds; ++round) {
            std::int64_t before = -1;
            MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, side.win);
            MPI_Win_flush_local(0, side.win);
            EXPECT_GE(before, 0);
            MPI_Accumulate(&half, 1, MPI_DOUBLE, 0, 1, 1, MPI_DOUBLE, MPI_SUM, side.win);
            // Too large for an instruction: under the target's mutex.
            MPI_Accumulate(&both, 1, MPI_C_DOUBLE_COMPLEX, 0, 2, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM,
                           side.win);
        }
        side.together.arrive_and_wait();
        if (thread != 0) return;
        MPI_Win_unlock_all(side.win);
        MPI_Barrier(MPI_COMM_WORLD);
        constexpr int all = ranks * threads * rounds;
        if (rank == 0) {
            EXPECT_EQ(side.memory[0], all);
            EXPECT_EQ(*reinterpret_cast<double*>(side.memory + 1), all * 0.5);
            EXPECT_EQ(*reinterpret_cast<std::complex<double>*>(side.memory + 2),
                      std::complex<double>(all, -all));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    });
}

TEST(Windows, exclusive_locks_order_what_is_not_atomic) {
    Cells cells;
    cells.run([](Side& side, int rank, int thread) {
        for (int round = 0; round < rounds; ++round)
            for (int target = thread; target < ranks; target += threads) {
                std::int64_t value = -1;
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, side.win);
                MPI_Get(&value, 1, MPI_INT64_T, target, 5, 1, MPI_INT64_T, side.win);
                MPI_Win_flush_local(target, side.win);
                ++value;
                MPI_Put(&value, 1, MPI_INT64_T, target, 5, 1, MPI_INT64_T, side.win);
                MPI_Win_unlock(target, side.win);
            }
        side.together.arrive_and_wait();
        if (thread != 0) return;
        MPI_Barrier(MPI_COMM_WORLD);
        EXPECT_EQ(side.memory[5], ranks * rounds) << "rank " << rank;
        MPI_Barrier(MPI_COMM_WORLD);
    });
}

/// Writers change two cells of a target one after the other. A rank that has locked all targets
/// sees them equal.
TEST(Windows, locks_of_all_targets_keep_writers_out) {
    Cells cells;
    cells.run([](Side& side, int rank, int thread) {
        if (thread != 0) return;
        for (int round = 0; round < rounds; ++round) {
            const int target = round % ranks;
            if (round % 4 == rank % 4) {
                std::int64_t pair[2] = {};
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, side.win);
                MPI_Get(pair, 2, MPI_INT64_T, target, 8, 2, MPI_INT64_T, side.win);
                MPI_Win_flush_local(target, side.win);
                for (int i : {0, 1}) {
                    ++pair[i];
                    MPI_Put(&pair[i], 1, MPI_INT64_T, target, 8 + i, 1, MPI_INT64_T, side.win);
                }
                MPI_Win_unlock(target, side.win);
            } else {
                MPI_Win_lock_all(0, side.win);
                for (int other = 0; other < ranks; ++other) {
                    std::int64_t pair[2] = {};
                    MPI_Get(pair, 2, MPI_INT64_T, other, 8, 2, MPI_INT64_T, side.win);
                    MPI_Win_flush_local(other, side.win);
                    EXPECT_EQ(pair[0], pair[1]);
                }
                MPI_Win_unlock_all(side.win);
            }
        }
    });
}

TEST(Windows, fences_and_groups_order_puts) {
    Cells cells;
    cells.run([](Side& side, int rank, int thread) {
        if (thread != 0) return;
        MPI_Group world;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
        MPI_Win_fence(0, side.win);
        for (std::int64_t round = 0; round < rounds; ++round) {
            const std::int64_t value = 1000 * round + rank;
            MPI_Put(&value, 1, MPI_INT64_T, next, 3, 1, MPI_INT64_T, side.win);
            MPI_Win_fence(0, side.win);
            EXPECT_EQ(side.memory[3], 1000 * round + before);
            MPI_Win_fence(0, side.win);
        }
        MPI_Win_fence(MPI_MODE_NOSUCCEED, side.win);
        for (std::int64_t round = 0; round < rounds; ++round) {
            const std::int64_t value = 2000 * round + rank;
            MPI_Win_post(world, 0, side.win);
            MPI_Win_start(world, 0, side.win);
            MPI_Put(&value, 1, MPI_INT64_T, next, 4, 1, MPI_INT64_T, side.win);
            MPI_Win_complete(side.win);
            MPI_Win_wait(side.win);
            EXPECT_EQ(side.memory[4], 2000 * round + before);
        }
        MPI_Group_free(&world);
    });
}

/// There are more windows than the node has stages: fences of all meet in shared memory.
TEST(Windows, fences_of_many_windows_need_no_messages) {
    constexpr int many = 70;
    run_job(ranks, 1, [](int rank, int) {
        heddle::objects::Process& process = *heddle::objects::attached_thread()->process;
        std::vector<MPI_Win> windows(many);
        std::vector<std::int64_t*> memory(many);
        for (std::size_t i = 0; i < many; ++i) {
            MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory[i], &windows[i]);
            MPI_Win_fence(0, windows[i]);
        }
        for (std::int64_t round = 0; round < 3; ++round)
            for (std::size_t i = 0; i < many; ++i) {
                const std::int64_t value = 1000 * round + rank;
                MPI_Put(&value, 1, MPI_INT64_T, (rank + 1) % ranks, 0, 1, MPI_INT64_T, windows[i]);
                MPI_Win_fence(0, windows[i]);
                EXPECT_EQ(*memory[i], 1000 * round + (rank + ranks - 1) % ranks);
                MPI_Win_fence(0, windows[i]);
                EXPECT_NE(process.window(windows[i])->communicator->scratch.memory, nullptr);
            }
        for (MPI_Win& win : windows) {
            MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
            MPI_Win_free(&win);
        }
    });
}

/// Ranks ask for each other's memory by messages.
TEST(Windows, targets_that_are_asked_order_accumulates) {
    setenv("HEDDLE_SINGLE_COPY", "never", 1);
    run_job(ranks, 1, [](int rank, int) {
        std::vector<std::int64_t> memory(8, 0);
        MPI_Win win;
        MPI_Win_create(memory.data(), 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_lock_all(0, win);
        for (int round = 0; round < rounds; ++round)
            for (int target = 0; target < ranks; ++target) {
                const std::int64_t one = 1;
                std::int64_t old = -1;
                MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, 1, MPI_SUM, win);
                MPI_Win_flush_local(target, win);
                MPI_Put(&old, 1, MPI_INT64_T, target, 2 + rank, 1, MPI_INT64_T, win);
            }
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        EXPECT_EQ(memory[1], ranks * rounds) << "rank " << rank;
        MPI_Win_free(&win);
    });
    unsetenv("HEDDLE_SINGLE_COPY");
}

}  // namespace
