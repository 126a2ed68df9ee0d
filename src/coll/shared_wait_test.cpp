// SPDX-License-Identifier: BSD-3-Clause
/// Waiting in shared scratch memory: a rank that waits long sleeps, and a rank that comes late
/// wakes it.

#include <gtest/gtest.h>

#include <vector>

#include "mpi.h"
#include "objects/process.hpp"
#include "platform/cpu.hpp"
#include "testing/job.hpp"

namespace {

using heddle::testing::other_world;
using heddle::testing::run_job;

/// Waits until a thread of that rank sleeps in a call.
void wait_for_sleeper(int rank) {
    const auto& node = heddle::objects::attached_thread()->process->node;
    const auto& page = node.page(static_cast<std::size_t>(rank));
    for (;;) {
        for (const auto& entry : page.blocked)
            if (entry.owner.load(std::memory_order_relaxed) != 0) return;
        heddle::sync::Native::yield();
    }
}

TEST(SharedWait, who_comes_late_wakes_who_sleeps) {
    run_job(2, 1, [](int rank, int) {
        MPI_Barrier(MPI_COMM_WORLD);  // agrees on the memory
        for (int call = 0; call < 12; ++call) {
            if (call % 2 == rank) wait_for_sleeper(1 - rank);
            int in = rank + call, out = -1;
            switch (call / 2 % 3) {
                case 0: MPI_Barrier(MPI_COMM_WORLD); break;
                case 1:
                    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
                    ASSERT_EQ(out, 2 * call + 1);
                    break;
                default:  // the root comes late
                    out = call % 2 == rank ? 77 + call : -1;
                    MPI_Bcast(&out, 1, MPI_INT, call % 2, MPI_COMM_WORLD);
                    ASSERT_EQ(out, 77 + call);
                    MPI_Barrier(MPI_COMM_WORLD);
            }
        }
    });
}

TEST(SharedWait, the_root_waits_for_room_and_no_longer) {
    run_job(2, 1, [](int rank, int) {
        constexpr int pieces = 500;  // more than there are slots
        for (int piece = 0; piece < pieces; ++piece) {
            if (rank == 1 && piece == 0) wait_for_sleeper(0);
            int data = rank == 0 ? piece : -1;
            MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
            ASSERT_EQ(data, piece);
        }
    });
}

/// Each thread has a communicator of its own. The thread that leads, and sleeps for the others,
/// changes.
TEST(SharedWait, several_threads_sleep_on_communicators_of_their_own) {
    constexpr int ranks = 3, threads = 3;
    run_job(ranks, threads, [](int rank, int thread) {
        MPI_Comm comm = other_world(static_cast<std::uint32_t>(thread));
        for (int call = 0; call < 60; ++call) {
            int in = rank + call * thread, out = -1;
            MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
            ASSERT_EQ(out, 3 + ranks * call * thread) << "call " << call;
            MPI_Barrier(comm);
        }
    });
}

/// Messages of the program are matched as ever, also those that any source may send.
TEST(SharedWait, messages_go_on_meanwhile) {
    run_job(3, 1, [](int rank, int) {
        std::vector<int> large(100000, rank);
        for (int call = 0; call < 20; ++call) {
            if (rank != 0) {
                MPI_Request sends[2];
                MPI_Isend(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &sends[0]);
                MPI_Isend(large.data(), 100000, MPI_INT, 0, 8, MPI_COMM_WORLD, &sends[1]);
                MPI_Barrier(MPI_COMM_WORLD);
                MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
                // otherwise its next message may come before the other's
                MPI_Barrier(MPI_COMM_WORLD);
                continue;
            }
            std::vector<int> in[2] = {std::vector<int>(100000), std::vector<int>(100000)};
            MPI_Request receives[2];
            for (int k = 0; k < 2; ++k)
                MPI_Irecv(in[k].data(), 100000, MPI_INT, k + 1, 8, MPI_COMM_WORLD, &receives[k]);
            MPI_Barrier(MPI_COMM_WORLD);
            int sum = 0;
            for (int k = 0; k < 2; ++k) {
                int one = 0;
                MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                sum += one;
            }
            ASSERT_EQ(sum, 3);
            MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
            ASSERT_EQ(in[0].back() + in[1].back(), 3);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    });
}

}  // namespace
