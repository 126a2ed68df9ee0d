// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/report/counters.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "mpi.h"
#include "objects/process.hpp"
#include "testing/job.hpp"

namespace {

using heddle::tool::CounterIndex;

std::uint64_t counted(CounterIndex which) {
    return heddle::p2p::read_counters(*heddle::objects::current_thread->process)[which];
}

/// Waits, since MPI_Finalize sends messages of its own, which must not be counted here.
void wait_for(const std::atomic<bool>& flag) {
    while (!flag.load()) std::this_thread::yield();
}

/// Sends more messages than a ring has cells to a process that does not look. Those without room
/// are queued.
TEST(Counters, say_what_waits_for_room) {
    constexpr int messages = 700;
    constexpr int cells = 511;  // one cell stays free
    std::atomic<bool> sent{false}, looked{false};
    heddle::testing::run_job(2, 1, [&](int rank, int) {
        std::array<int, messages> data{};
        if (rank == 1) {
            wait_for(sent);
            for (int& value : data)
                MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EXPECT_EQ(counted(CounterIndex::received_messages), messages);
            EXPECT_EQ(counted(CounterIndex::received_bytes), messages * sizeof(int));
            EXPECT_EQ(counted(CounterIndex::unexpected_queue), 0U);
            return looked.store(true);
        }
        std::vector<MPI_Request> requests(messages);
        for (int i = 0; i < messages; ++i)
            MPI_Isend(&data[static_cast<std::size_t>(i)], 1, MPI_INT, 1, 3, MPI_COMM_WORLD,
                      &requests[static_cast<std::size_t>(i)]);
        EXPECT_EQ(counted(CounterIndex::sent_messages), messages);
        EXPECT_EQ(counted(CounterIndex::sent_bytes), messages * sizeof(int));
        EXPECT_EQ(counted(CounterIndex::ring_full), messages - cells);
        EXPECT_EQ(counted(CounterIndex::backlog), messages - cells);
        EXPECT_EQ(counted(CounterIndex::most_backlog), messages - cells);
        sent.store(true);
        MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
        EXPECT_EQ(counted(CounterIndex::backlog), 0U);
        EXPECT_EQ(counted(CounterIndex::most_backlog), messages - cells);
        wait_for(looked);
    });
}

/// A thread that waits for long sleeps once, and is woken.
TEST(Counters, say_that_a_thread_slept) {
    heddle::testing::run_job(2, 1, [&](int rank, int) {
        heddle::core::Thread& me = *heddle::objects::current_thread;
        if (rank == 1) {
            MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EXPECT_GE(me.progress.sleeps.value(), 1U);
            EXPECT_EQ(counted(CounterIndex::sleeps), me.progress.sleeps.value());
            EXPECT_GE(counted(CounterIndex::progress_empty), 1U);
            EXPECT_GE(counted(CounterIndex::progress_productive), 1U);
            return;
        }
        // Rank 1 announces on the board that it sleeps.
        const auto& page = me.process->node.page(1);
        const auto asleep = [&] {
            for (const auto& entry : page.blocked)
                if (entry.owner.load() != 0) return true;
            return false;
        };
        while (!asleep()) std::this_thread::yield();
        MPI_Send(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    });
}

/// No count is lost when threads of both processes send with tags of their own, and share one.
TEST(Counters, of_several_threads_add_up) {
    constexpr int threads = 3;
    constexpr int messages = 400;
    std::atomic<int> ready{0};
    std::atomic<bool> looked{false};
    heddle::testing::run_job(2, threads, [&](int rank, int thread) {
        int out = 0, in = 0;
        for (int i = 0; i < messages; ++i) {
            const int tag = i % 2 == 0 ? thread : 100;
            MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, tag, &in, 1, MPI_INT, 1 - rank, tag,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        // The last thread looks. The others have sent and received all of theirs.
        if (ready.fetch_add(1) != 2 * threads - 1) return wait_for(looked);
        EXPECT_EQ(counted(CounterIndex::sent_messages), threads * messages);
        EXPECT_EQ(counted(CounterIndex::sent_bytes), threads * messages * sizeof(int));
        EXPECT_EQ(counted(CounterIndex::received_messages), threads * messages);
        EXPECT_EQ(counted(CounterIndex::posted_receives), 0U);
        looked.store(true);
    });
}

}  // namespace
