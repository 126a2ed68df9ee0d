// SPDX-License-Identifier: BSD-3-Clause
/// Tests completion by listeners (joins, buffered messages, flushes), and communicators that
/// threads make at once. All processes share one address space (for ThreadSanitizer).

#include "p2p/requests/listener.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "mpi.h"
#include "node/waits_for.hpp"
#include "objects/process.hpp"
#include "testing/job.hpp"

namespace {

using heddle::testing::run_job;

// Lengths of a message that has to wait for its receive, and of one that has not.
constexpr int long_message = 40000;
constexpr int short_message = 100;

std::vector<unsigned char> pattern(int bytes, int seed) {
    std::vector<unsigned char> data(static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<unsigned char>(i * 31 + static_cast<std::size_t>(seed));
    return data;
}

TEST(Listener, both_halves_of_an_isendrecv_complete_it) {
    constexpr int threads = 3;
    run_job(2, threads, [](int rank, int thread) {
        for (int round = 0; round < 150; ++round) {
            const int bytes = round % 3 == 0 ? short_message : long_message;
            const auto out = pattern(bytes, 2 * round + rank);
            std::vector<unsigned char> in(out.size());
            MPI_Request request;
            MPI_Status status;
            ASSERT_EQ(MPI_Isendrecv(out.data(), bytes, MPI_BYTE, 1 - rank, thread, in.data(), bytes,
                                    MPI_BYTE, 1 - rank, thread, MPI_COMM_WORLD, &request),
                      MPI_SUCCESS);
            if (round % 2 == 0) {
                MPI_Wait(&request, &status);
            } else {
                int done = 0;
                while (!done) MPI_Test(&request, &done, &status);
            }
            EXPECT_EQ(status.MPI_SOURCE, 1 - rank);
            EXPECT_EQ(in, pattern(bytes, 2 * round + 1 - rank));
        }
    });
}

/// Sends to itself, so that it knows when both halves are over.
TEST(Listener, a_freed_isendrecv_completes_all_the_same) {
    run_job(2, 2, [](int rank, int thread) {
        const int sent = 2 * thread;
        const int received = 2 * thread + 1;
        for (int round = 0; round < 100; ++round) {
            const auto first = pattern(long_message, round);
            const auto second = pattern(long_message, round + 50);
            std::vector<unsigned char> of_first(first.size());
            std::vector<unsigned char> of_second(second.size());
            MPI_Request request;
            MPI_Isendrecv(first.data(), long_message, MPI_BYTE, rank, sent, of_second.data(),
                          long_message, MPI_BYTE, rank, received, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
            MPI_Sendrecv(second.data(), long_message, MPI_BYTE, rank, received, of_first.data(),
                         long_message, MPI_BYTE, rank, sent, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EXPECT_EQ(of_first, first);
            EXPECT_EQ(of_second, second);
        }
    });
}

TEST(Listener, buffered_messages_leave_and_every_flush_ends) {
    constexpr int threads = 3;
    std::atomic<int> attached{0};
    run_job(2, threads, [&](int rank, int thread) {
        if (thread == 0) {
            ASSERT_EQ(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0), MPI_SUCCESS);
            attached.fetch_add(1);
            attached.notify_all();
        }
        for (int seen = attached.load(); seen < 2; seen = attached.load()) attached.wait(seen);
        std::vector<MPI_Request> flushes;
        for (int round = 0; round < 100; ++round) {
            const int bytes = round % 3 == 0 ? short_message : long_message;
            auto out = pattern(bytes, 2 * round + rank);
            ASSERT_EQ(MPI_Bsend(out.data(), bytes, MPI_BYTE, 1 - rank, thread, MPI_COMM_WORLD),
                      MPI_SUCCESS);
            if (round % 2 == 0) MPI_Buffer_iflush(&flushes.emplace_back());
            std::fill(out.begin(), out.end(), static_cast<unsigned char>(0));
            std::vector<unsigned char> in(out.size());
            MPI_Recv(in.data(), bytes, MPI_BYTE, 1 - rank, thread, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            EXPECT_EQ(in, pattern(bytes, 2 * round + 1 - rank));
        }
        // Not before: a flush also waits for messages of the other threads of this process.
        MPI_Waitall(static_cast<int>(flushes.size()), flushes.data(), MPI_STATUSES_IGNORE);
        MPI_Buffer_flush();
    });
}

TEST(Agreement, threads_make_communicators_at_once) {
    constexpr int threads = 3;
    constexpr int ranks = 3;
    static MPI_Comm parents[ranks][threads];
    run_job(ranks, threads, [](int rank, int thread) {
        // Each thread makes its parent: messages of world's own context with a tag for each thread.
        MPI_Group group;
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        ASSERT_EQ(MPI_Comm_create_group(MPI_COMM_WORLD, group, thread, &parents[rank][thread]),
                  MPI_SUCCESS);
        MPI_Group_free(&group);
        MPI_Comm parent = parents[rank][thread];
        for (int round = 0; round < 20; ++round) {
            MPI_Comm copy;
            MPI_Comm part;
            MPI_Comm later;
            MPI_Request request;
            MPI_Comm_idup(parent, &later, &request);
            MPI_Comm_dup(parent, &copy);
            MPI_Comm_split(copy, round % 2, (rank + round) % ranks, &part);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            for (MPI_Comm comm : {copy, part, later}) {
                int me;
                int size;
                int got = -1;
                MPI_Comm_rank(comm, &me);
                MPI_Comm_size(comm, &size);
                const int what = thread * 1000 + round;
                MPI_Sendrecv(&what, 1, MPI_INT, (me + 1) % size, 0, &got, 1, MPI_INT,
                             (me + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
                EXPECT_EQ(got, what);
                MPI_Comm_free(&comm);
            }
        }
        MPI_Comm_free(&parent);
    });
}

TEST(Agreement, reports_look_for_a_communicator_while_others_are_made) {
    constexpr int ranks = 2;
    static std::atomic<int> makers;
    makers = ranks;
    run_job(ranks, 2, [](int, int thread) {
        heddle::objects::Process& process = *heddle::objects::attached_thread()->process;
        constexpr std::uint32_t of_none = 1 << 20;  // so all communicators are looked at
        while (thread == 1 && makers.load() > 0) {
            heddle::node::AwaitedEvent event{};
            heddle::objects::tell_communicator(process, of_none, event, -1);
            EXPECT_EQ(event.size, 0);
        }
        for (int round = 0; thread == 0 && round < 100; ++round) {
            MPI_Comm made;
            MPI_Request request;
            MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Barrier(made);
            MPI_Comm_free(&made);
        }
        if (thread == 0) --makers;
    });
}

}  // namespace
