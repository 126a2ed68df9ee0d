// SPDX-License-Identifier: BSD-3-Clause
/// Tests large messages that go while all threads of the program compute.

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

/// Waits without a call of MPI.
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
    Watchdog watchdog("a thread beside a worker without work");
    run_job(2, 1, [](int, int) {
        MPI_Barrier(MPI_COMM_WORLD);
        const p2p::ProgramThreads& threads = objects::attached_thread()->engine->threads();
        EXPECT_EQ(threads.number(), 1U);
        MPI_Barrier(MPI_COMM_WORLD);
    });
}

thread_local bool is_of_program = false;
std::atomic<int> added_by_program{0}, added_by_others{0};
void add(void* in, void* inout, int* length, MPI_Datatype*) {
    ++(is_of_program ? added_by_program : added_by_others);
    for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

TEST_F(WithWorker, FunctionsOfTheProgramAreCalledByItsThreads) {
    constexpr int ints = 300'000;
    Watchdog watchdog("a collective with an operation of the program");
    run_job(2, 1, [&](int rank, int) {
        is_of_program = true;
        MPI_Op sum;
        MPI_Op_create(add, 1, &sum);
        std::vector<int> mine(ints, rank + 1), all(ints);
        p2p::Engine& engine = *objects::attached_thread()->engine;
        for (const bool sleeps : {false, true}) {
            MPI_Request request;
            MPI_Iallreduce(mine.data(), all.data(), ints, MPI_INT, sum, MPI_COMM_WORLD, &request);
            // Its messages come, and have to be combined.
            while (!sleeps && !engine.polling().left_to_program().any()) std::this_thread::yield();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            EXPECT_EQ(std::count(all.begin(), all.end(), 3), ints);
        }
        MPI_Op_free(&sum);
    });
    EXPECT_GT(added_by_program, 0);
    EXPECT_EQ(added_by_others, 0);
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
