// SPDX-License-Identifier: BSD-3-Clause
/// Nonblocking and persistent collectives of several threads at once, all processes in one address
/// space (for ThreadSanitizer). Each thread has a communicator of its own.

#include "coll/execution.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

#include "mpi.h"
#include "testing/job.hpp"

namespace {

using heddle::testing::other_world;
using heddle::testing::run_job;

constexpr int ranks = 3;
constexpr int threads = 3;

/// Returns a length. In some rounds it is long enough for messages that wait for their receivers.
int length_of(int round) { return round % 4 == 3 ? 6000 : 1 + round % 50; }

std::vector<int> numbers(int count, int seed) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), seed);
    return all;
}

/// left * 2 + right, which is not commutative, nor associative: on two operands only.
void concatenate(void* in, void* inout, int* length, MPI_Datatype*) {
    for (int i = 0; i < *length; ++i) {
        int& right = static_cast<int*>(inout)[i];
        right = static_cast<int*>(in)[i] * 2 + right;
    }
}

TEST(Execution, many_are_under_way_in_several_threads) {
    run_job(ranks, threads, [](int rank, int thread) {
        MPI_Comm comm = other_world(static_cast<std::uint32_t>(thread));
        for (int round = 0; round < 60; ++round) {
            constexpr int calls = 12;
            const int count = length_of(round);
            std::vector<std::vector<int>> in, out;
            std::vector<MPI_Request> requests(2 * calls);
            for (int k = 0; k < calls; ++k) {
                in.push_back(numbers(count, 100 * round + 10 * k + rank));
                out.emplace_back(in.back().size(), -1);
            }
            for (int k = 0; k < calls; ++k) {
                const auto i = static_cast<std::size_t>(k);
                MPI_Ibarrier(comm, &requests[2 * i]);
                if (k % 2 == 0)
                    MPI_Iallreduce(in[i].data(), out[i].data(), count, MPI_INT, MPI_SUM, comm,
                                   &requests[2 * i + 1]);
                else
                    MPI_Ibcast(in[i].data(), count, MPI_INT, k % ranks, comm, &requests[2 * i + 1]);
            }
            if (round % 3 == 0) {
                MPI_Waitall(2 * calls, requests.data(), MPI_STATUSES_IGNORE);
            } else {
                for (std::size_t i = requests.size(); i-- > 0;) {
                    int done = round % 3 == 1;
                    if (done) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
                    while (!done) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
                }
            }
            for (int k = 0; k < calls; ++k) {
                const auto i = static_cast<std::size_t>(k);
                const int first = 100 * round + 10 * k;
                if (k % 2 == 0)
                    EXPECT_EQ(out[i].back(), ranks * (first + count - 1) + 3);
                else
                    EXPECT_EQ(in[i], numbers(count, first + k % ranks));
            }
        }
    });
}

TEST(Execution, persistent_ones_start_again_and_again) {
    run_job(ranks, threads, [](int rank, int thread) {
        MPI_Comm comm = other_world(static_cast<std::uint32_t>(thread));
        std::vector<int> sum(700), part(700), all(3 * 700);
        std::vector<MPI_Request> requests(3);
        MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[0]);
        MPI_Allreduce_init(part.data(), sum.data(), 700, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                           &requests[1]);
        MPI_Allgather_init(part.data(), 700, MPI_INT, all.data(), 700, MPI_INT, comm, MPI_INFO_NULL,
                           &requests[2]);
        for (int round = 0; round < 100; ++round) {
            std::iota(part.begin(), part.end(), round * (rank + 1));  // in place
            int done = 0;
            MPI_Startall(3, requests.data());
            while (!done) MPI_Request_get_status(requests[2], &done, MPI_STATUS_IGNORE);
            MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
            EXPECT_EQ(sum[699], 6 * round + 3 * 699);
            for (int from = 0; from < ranks; ++from)
                EXPECT_EQ(all[static_cast<std::size_t>(from) * 700 + 5], round * (from + 1) + 5);
        }
        for (MPI_Request& request : requests) MPI_Request_free(&request);
    });
}

/// The test frees all objects of a call at once: type, operation, and the requests of every other
/// round.
TEST(Execution, objects_live_until_the_end) {
    static std::vector<int> kept[2][40];  // must stay valid though no thread waits for it
    run_job(2, 1, [](int rank, int) {
        for (int round = 0; round < 40; ++round) {
            MPI_Comm comm;
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            MPI_Datatype pair;
            MPI_Type_contiguous(2, MPI_INT, &pair);
            MPI_Type_commit(&pair);
            MPI_Op op;
            MPI_Op_create(concatenate, 0, &op);
            std::vector<int>& data = kept[rank][round];
            data = {10 + rank, round};
            MPI_Request request;
            MPI_Iallreduce(MPI_IN_PLACE, data.data(), 2, MPI_INT, op, comm, &request);
            MPI_Op_free(&op);
            MPI_Type_free(&pair);
            MPI_Comm_free(&comm);
            if (round % 2 == 0) {
                MPI_Request_free(&request);
                EXPECT_EQ(request, MPI_REQUEST_NULL);
            } else {
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                EXPECT_EQ(data, (std::vector<int>{31, 3 * round}));
            }
        }
    });
    // MPI_Finalize has waited for the others.
    for (int rank = 0; rank < 2; ++rank)
        for (int round = 0; round < 40; round += 2)
            EXPECT_EQ(kept[rank][round], (std::vector<int>{31, 3 * round}));
}

TEST(Execution, a_message_too_long_is_an_error_of_the_request) {
    run_job(2, 1, [](int rank, int) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        int data[20] = {};
        MPI_Request request;
        for (int& each : data) each = 1 - rank;
        MPI_Ibcast(data, rank == 0 ? 20 : 10, MPI_INT, 0, MPI_COMM_WORLD, &request);
        EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE),
                  rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
        EXPECT_EQ(data[9], 1);
        EXPECT_EQ(data[10], 1 - rank);
        MPI_Bcast_init(data, rank == 0 ? 20 : 10, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
        for (int round = 0; round < 3; ++round) {
            MPI_Status status;
            MPI_Start(&request);
            EXPECT_EQ(MPI_Waitall(1, &request, &status),
                      rank == 0 ? MPI_SUCCESS : MPI_ERR_IN_STATUS);
            if (rank == 1) {
                EXPECT_EQ(status.MPI_ERROR, MPI_ERR_TRUNCATE);
            }
        }
        MPI_Request_free(&request);
    });
}

/// The rings of few instances stay in the caches. Other communicators have other instances.
TEST(Execution, calls_of_a_communicator_go_through_few_instances) {
    run_job(2, 1, [](int, int) {
        std::set<int> instances;
        for (int call = 0; call < 64; ++call) {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Ibarrier(MPI_COMM_WORLD, &request);
            const auto* behind = reinterpret_cast<const heddle::core::Request*>(request);
            if (!behind->immortal) instances.insert(behind->instance);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        EXPECT_LE(instances.size(), 4U);
    });
}

}  // namespace
