// SPDX-License-Identifier: BSD-3-Clause
/// Large messages that go while all threads of the program compute.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/request.hpp"
#include "mpi.h"
#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "testing/job.hpp"
#include "testing/watchdog.hpp"

namespace heddle::testing {
namespace {

class WithWorker : public ::testing::Test {
protected:
    WithWorker() { setenv("HEDDLE_WORKER", "on", 1); }
    ~WithWorker() override { unsetenv("HEDDLE_WORKER"); }
};

/// Without a call of MPI.
void compute_until_complete(MPI_Request request) {
    const auto& mine = *reinterpret_cast<const core::Request*>(request);
    while (!mine.completed()) std::this_thread::yield();
}

TEST_F(WithWorker, MessagesGoWhileBothSidesCompute) {
    for (const int ints : {100'000, 3'000'000})
        for (const bool receiver_first : {false, true}) {
            Watchdog watchdog("messages while both sides compute");
            std::atomic<int> ready{0};
            run_job(2, 1, [&](int rank, int) {
                std::vector<int> data(static_cast<std::size_t>(ints), rank == 0 ? 7 : 0);
                MPI_Barrier(MPI_COMM_WORLD);
                const bool first = (rank == 1) == receiver_first;
                if (!first)
                    while (ready.load() == 0) std::this_thread::yield();
                MPI_Request request;
                if (rank == 0)
                    MPI_Isend(data.data(), ints, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
                else
                    MPI_Irecv(data.data(), ints, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
                ++ready;
                compute_until_complete(request);
                ++ready;
                while (ready.load() != 4) std::this_thread::yield();
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                EXPECT_EQ(std::count(data.begin(), data.end(), 7), ints);
            });
        }
}

TEST_F(WithWorker, AThreadThatIsAloneStaysAlone) {
    run_job(2, 1, [](int, int) {
        MPI_Barrier(MPI_COMM_WORLD);
        EXPECT_EQ(objects::attached_thread()->engine->threads(), 1U);
        MPI_Barrier(MPI_COMM_WORLD);
    });
}

/// Threads poll, sleep and compute in turn; the worker comes and goes.
TEST_F(WithWorker, MessagesOfThreadsStayInOrder) {
    constexpr int rounds = 60, ints = 50'000;
    Watchdog watchdog("threads beside a worker");
    run_job(2, 3, [&](int rank, int thread) {
        std::vector<int> mine(ints), got(ints);
        for (int round = 0; round < rounds; ++round) {
            const int length = round % 3 == 0 ? ints : 1 + round;
            std::fill(mine.begin(), mine.end(), 1000 * rank + round);
            MPI_Request requests[2];
            MPI_Irecv(got.data(), length, MPI_INT, 1 - rank, thread, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(mine.data(), length, MPI_INT, 1 - rank, thread, MPI_COMM_WORLD, &requests[1]);
            if (round % 6 == 0) {  // a large one
                compute_until_complete(requests[0]);
                compute_until_complete(requests[1]);
            }
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            ASSERT_EQ(got[static_cast<std::size_t>(length) - 1], 1000 * (1 - rank) + round);
            watchdog.progress();
        }
    });
}

}  // namespace
}  // namespace heddle::testing
