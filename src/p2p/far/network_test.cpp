// SPDX-License-Identifier: BSD-3-Clause
/// Tests messages between processes of several nodes, over a simulated network that delays, refuses
/// and splits.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "match/message.hpp"
#include "mpi.h"
#include "objects/process.hpp"
#include "p2p/report/counters.hpp"
#include "testing/job.hpp"

namespace heddle::testing {
namespace {

constexpr unsigned most_seeds = 2;

/// The nodes of four ranks: side by side, alternating, and each on its own.
const launch::NodeMap four_ranks[] = {{0, 0, 1, 1}, {3, 1, 3, 1}, {0, 1, 2, 3}};

template <class Body>
void on_all_nodes(int threads, Body&& body) {
    for (const launch::NodeMap& nodes : four_ranks)
        for (unsigned seed = 1; seed <= most_seeds; ++seed)
            run_job({.nodes = nodes, .threads = threads, .seed = seed}, body);
}

std::vector<int> numbered(int bytes, int seed) {
    std::vector<int> values(static_cast<std::size_t>(bytes) / sizeof(int));
    std::iota(values.begin(), values.end(), seed);
    return values;
}

TEST(Network, MessagesOfEverySizeArriveWhole) {
    on_all_nodes(1, [](int rank, int) {
        for (const int bytes : {0, 8, 4096, 16000, 16384, 100'000, 1'000'000}) {
            const std::vector<int> mine = numbered(bytes, rank);
            std::vector<MPI_Request> requests(8, MPI_REQUEST_NULL);
            std::vector<std::vector<int>> got(4, std::vector<int>(mine.size()));
            for (int peer = 0; peer < 4; ++peer) {
                const auto at = static_cast<std::size_t>(peer);
                MPI_Irecv(got[at].data(), bytes, MPI_BYTE, peer, 5, MPI_COMM_WORLD, &requests[at]);
                MPI_Isend(mine.data(), bytes, MPI_BYTE, peer, 5, MPI_COMM_WORLD, &requests[4 + at]);
            }
            MPI_Waitall(8, requests.data(), MPI_STATUSES_IGNORE);
            for (int peer = 0; peer < 4; ++peer)
                EXPECT_EQ(got[static_cast<std::size_t>(peer)], numbered(bytes, peer));
        }
    });
}

TEST(Network, UnexpectedMessagesAreFoundByProbes) {
    on_all_nodes(1, [](int rank, int) {
        const int to = (rank + 1) % 4, from = (rank + 3) % 4;
        for (const int bytes : {16, 50'000}) {
            const std::vector<int> mine = numbered(bytes, rank);
            MPI_Request sent;
            MPI_Issend(mine.data(), bytes, MPI_BYTE, to, 9, MPI_COMM_WORLD, &sent);
            MPI_Status status;
            MPI_Message message;
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
            EXPECT_EQ(status.MPI_SOURCE, from);
            int count = 0;
            MPI_Get_count(&status, MPI_BYTE, &count);
            EXPECT_EQ(count, bytes);
            std::vector<int> got(mine.size());
            MPI_Mrecv(got.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
            EXPECT_EQ(got, numbered(bytes, from));
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
        }
    });
}

TEST(Network, OneSendersMessagesAreNotOvertaken) {
    on_all_nodes(1, [](int rank, int) {
        constexpr int count = 60;
        if (rank != 0) {
            for (int i = 0; i < count; ++i) {
                std::vector<int> data(i % 7 == 0 ? 10'000 : 2, i);
                const int elements = static_cast<int>(data.size());
                if (i % 3 == 0)
                    MPI_Ssend(data.data(), elements, MPI_INT, 0, i % 5, MPI_COMM_WORLD);
                else
                    MPI_Send(data.data(), elements, MPI_INT, 0, i % 5, MPI_COMM_WORLD);
            }
            return;
        }
        std::vector<int> next(4), data(10'000);
        for (int i = 0; i < 3 * count; ++i) {
            MPI_Status status;
            MPI_Recv(data.data(), 10'000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                     &status);
            ASSERT_EQ(data[0], next[static_cast<std::size_t>(status.MPI_SOURCE)]++);
            ASSERT_EQ(status.MPI_TAG, data[0] % 5);
        }
    });
}

TEST(Network, ThreadsExchangeAtOnce) {
    on_all_nodes(3, [](int rank, int thread) {
        for (int i = 0; i < 40; ++i) {
            const int bytes = i % 10 == 0 ? 40'000 : 40;
            const int to = (rank + 1 + i % 3) % 4, from = (rank + 3 - i % 3) % 4;
            const std::vector<int> mine = numbered(bytes, rank + i);
            std::vector<int> got(mine.size());
            MPI_Sendrecv(mine.data(), bytes, MPI_BYTE, to, thread, got.data(), bytes, MPI_BYTE,
                         from, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            ASSERT_EQ(got, numbered(bytes, from + i));
        }
    });
}

TEST(Network, UnmatchedSendsAreTakenBack) {
    on_all_nodes(1, [](int rank, int) {
        const int to = 3 - rank;
        for (const int bytes : {8, 100'000}) {
            const std::vector<int> mine = numbered(bytes, rank);
            MPI_Request sent;
            MPI_Issend(mine.data(), bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &sent);
            MPI_Cancel(&sent);
            MPI_Status status;
            MPI_Wait(&sent, &status);
            int cancelled = 0;
            MPI_Test_cancelled(&status, &cancelled);
            EXPECT_TRUE(cancelled);
            MPI_Barrier(  // otherwise the other might receive it before it is asked for it
                MPI_COMM_WORLD);
            // A message that was taken back is not received.
            int word = 100 + rank, got = 0;
            MPI_Sendrecv(&word, 1, MPI_INT, to, 1, &got, 1, MPI_INT, to, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            EXPECT_EQ(got, 100 + to);
        }
    });
}

std::uint64_t counted(tool::CounterIndex which) {
    return p2p::read_counters(*objects::attached_thread()->process)[which];
}

/// Sends more than the memory of a process that receives nothing may hold. The payloads wait with
/// their sender; order and cancelling stay as they are. When everything is received, messages go at
/// once again.
TEST(Network, WhoIsShortOfMemoryLeavesPayloadsWithTheirSender) {
    constexpr int limit = 200'000, count = 4000, at_once = 200, ints = 250, large = 300;
    setenv("HEDDLE_UNEXPECTED_LIMIT", std::to_string(limit).c_str(), 1);
    run_job({.nodes = {0, 1}, .threads = 1, .seed = 3}, [](int rank, int) {
        std::vector<int> data(ints);
        if (rank == 0) {
            std::vector<std::vector<int>> sent;
            std::vector<MPI_Request> requests(count + 2);
            for (int i = 0; i < count; ++i) {
                sent.emplace_back(i % 3 == 0 ? 2 : ints, i);
                MPI_Isend(sent.back().data(), static_cast<int>(sent.back().size()), MPI_INT, 1,
                          i % 5, MPI_COMM_WORLD, &requests[static_cast<std::size_t>(i)]);
                // When rank 1 has taken it, this process has heard how much the earlier ones
                // filled.
                if (i % at_once == at_once - 1)
                    MPI_Ssend(nullptr, 0, MPI_INT, 1, 100, MPI_COMM_WORLD);
            }
            std::vector<int> never(ints), last(large, -1);
            MPI_Isend(never.data(), ints, MPI_INT, 1, 77, MPI_COMM_WORLD, &requests[count]);
            MPI_Isend(last.data(), large, MPI_INT, 1, 99, MPI_COMM_WORLD, &requests[count + 1]);
            MPI_Cancel(&requests[count]);
            MPI_Status status;
            MPI_Wait(&requests[count], &status);
            int cancelled = 0;
            MPI_Test_cancelled(&status, &cancelled);
            EXPECT_TRUE(cancelled);
            MPI_Ssend(nullptr, 0, MPI_INT, 1, 100, MPI_COMM_WORLD);
            MPI_Waitall(count + 2, requests.data(), MPI_STATUSES_IGNORE);
            EXPECT_GT(counted(tool::CounterIndex::network_withheld), 100U);
            MPI_Barrier(MPI_COMM_WORLD);
            const std::uint64_t withheld = counted(tool::CounterIndex::network_withheld);
            MPI_Send(data.data(), ints, MPI_INT, 1, 1, MPI_COMM_WORLD);
            EXPECT_EQ(counted(tool::CounterIndex::network_withheld), withheld);
            return;
        }
        // No other message is received until all have come.
        for (int i = 0; i < count / at_once + 1; ++i)
            MPI_Recv(nullptr, 0, MPI_INT, 0, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const std::uint64_t entries = count * sizeof(match::Message);
        EXPECT_LT(counted(tool::CounterIndex::unexpected_bytes), entries + 2 * limit);
        std::vector<int> got(large);
        for (int i = 0; i < count; ++i) {
            MPI_Recv(got.data(), large, MPI_INT, 0, i % 2 == 0 ? MPI_ANY_TAG : i % 5,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            ASSERT_EQ(got[0], i);
            ASSERT_EQ(got[i % 3 == 0 ? 1 : ints - 1], i);
        }
        MPI_Recv(got.data(), large, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_EQ(got[large - 1], -1);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Recv(data.data(), ints, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    unsetenv("HEDDLE_UNEXPECTED_LIMIT");
}

TEST(Network, ReceivesOutliveTheirCommunicators) {
    std::array<std::atomic<MPI_Comm>, 4> waits_on{};
    for (auto& none_yet : waits_on) none_yet.store(MPI_COMM_NULL);
    on_all_nodes(2, [&](int rank, int thread) {
        const int peer = rank ^ 1;
        std::atomic<MPI_Comm>& shared = waits_on[static_cast<std::size_t>(rank)];
        for (int i = 0; i < 20; ++i) {
            if (thread == 1) {
                if (rank % 2 == 0) continue;
                MPI_Comm freed;
                while ((freed = shared.exchange(MPI_COMM_NULL)) == MPI_COMM_NULL)
                    std::this_thread::yield();
                MPI_Comm_free(&freed);
                MPI_Send(&i, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
                continue;
            }
            MPI_Comm made;
            MPI_Comm_dup(MPI_COMM_WORLD, &made);
            int got = -1;
            if (rank % 2 != 0) {
                MPI_Request receive;
                MPI_Irecv(&got, 1, MPI_INT, peer, 2, made, &receive);
                shared.store(made);
                MPI_Wait(&receive, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(&got, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(&i, 1, MPI_INT, peer, 2, made);
                MPI_Comm_free(&made);
            }
            EXPECT_EQ(got, i);
        }
    });
}

TEST(Network, CollectivesAndCommunicatorsSpanNodes) {
    on_all_nodes(1, [](int rank, int) {
        for (const int count : {1, 1000, 50'000}) {
            std::vector<int> mine(static_cast<std::size_t>(count), rank + 1), sum(mine.size());
            MPI_Allreduce(mine.data(), sum.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            EXPECT_EQ(std::count(sum.begin(), sum.end(), 10), count);
        }
        MPI_Comm node, half, both;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        int ranks_here = 0;
        MPI_Comm_size(node, &ranks_here);
        MPI_Barrier(node);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &both);
        int remote = 0, one = 1, others = 0;
        MPI_Comm_remote_size(both, &remote);
        EXPECT_EQ(remote, 2);
        MPI_Allreduce(&one, &others, 1, MPI_INT, MPI_SUM, both);
        EXPECT_EQ(others, 2);
        MPI_Group group;
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        MPI_Comm from_group;
        MPI_Comm_create_from_group(group, "all of them", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                   &from_group);
        int all = 0;
        MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, from_group);
        EXPECT_EQ(all, 6);
        // Two groups that share nothing but the leaders, and a string.
        MPI_Group mine, others_group;
        const int first = rank % 2, other_first = 1 - first;
        const int of_mine[] = {first, first + 2}, of_others[] = {other_first, other_first + 2};
        MPI_Group_incl(group, 2, of_mine, &mine);
        MPI_Group_incl(group, 2, of_others, &others_group);
        MPI_Comm between;
        MPI_Intercomm_create_from_groups(mine, 1, others_group, 1, "two groups", MPI_INFO_NULL,
                                         MPI_ERRORS_ARE_FATAL, &between);
        MPI_Allreduce(&one, &others, 1, MPI_INT, MPI_SUM, between);
        EXPECT_EQ(others, 2);
        for (MPI_Group* made : {&group, &mine, &others_group}) MPI_Group_free(made);
        for (MPI_Comm* made : {&node, &half, &both, &from_group, &between}) MPI_Comm_free(made);
        EXPECT_GE(ranks_here, 1);
        EXPECT_LE(ranks_here, 2);
    });
}

}  // namespace
}  // namespace heddle::testing
