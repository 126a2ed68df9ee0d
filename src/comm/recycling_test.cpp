// SPDX-License-Identifier: BSD-3-Clause
#include "comm/recycling.hpp"

#include <gtest/gtest.h>

#include <string>

#include "mpi.h"
#include "objects/process.hpp"
#include "testing/job.hpp"

namespace {

using heddle::testing::run_job;
namespace objects = heddle::objects;

/// Several times the ids that may be in use at once, so that ids come back, or the test fails.
constexpr int rounds = 5'000;

objects::Process& here() { return *objects::current_thread->process; }

/// Sends a message around: the context works, and no rank is far ahead of the others.
void ring(MPI_Comm comm, int what) {
    int me = 0;
    int size = 0;
    int got = -1;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&what, 1, MPI_INT, (me + 1) % size, 0, &got, 1, MPI_INT, (me + size - 1) % size, 0,
                 comm, MPI_STATUS_IGNORE);
    ASSERT_EQ(got, what);
}

TEST(Recycling, gives_ids_back_after_all_have_freed) {
    run_job(3, 1, [](int, int) {
        for (int i = 0; i < rounds && !::testing::Test::HasFatalFailure(); ++i) {
            MPI_Comm made = MPI_COMM_NULL;
            if (i % 2 == 0)
                MPI_Comm_dup(MPI_COMM_WORLD, &made);
            else
                MPI_Comm_split(MPI_COMM_WORLD, 0, i % 3, &made);
            ring(made, i);
            MPI_Comm_free(&made);
        }
        EXPECT_LT(here().contexts.used(), 1000u);
    });
}

TEST(Recycling, is_safe_while_threads_make_and_free_at_once) {
    run_job(3, 4, [](int rank, int thread) {
        const std::string tag = "thread " + std::to_string(thread);
        MPI_Group world = MPI_GROUP_NULL;
        MPI_Comm parent = MPI_COMM_NULL;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Comm_create_from_group(world, tag.c_str(), MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                   &parent);
        for (int i = 0; i < rounds / 20 && !::testing::Test::HasFatalFailure(); ++i) {
            MPI_Comm made = MPI_COMM_NULL;
            // Every process is the first member in turn, and sometimes alone.
            if (i % 8 == 0)
                MPI_Comm_split(parent, rank, 0, &made);
            else
                MPI_Comm_split(parent, 0, (rank + i) % 3, &made);
            ring(made, thread * rounds + i);
            MPI_Comm_free(&made);
        }
        MPI_Comm_free(&parent);
        MPI_Group_free(&world);
        EXPECT_LT(here().contexts.used(), 2000u);
    });
}

TEST(Recycling, withholds_an_id_whose_message_nobody_received) {
    run_job(2, 1, [](int rank, int) {
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        const std::uint32_t lost = here().communicator(made)->context;
        int message = 41;
        if (rank == 1) MPI_Send(&message, 1, MPI_INT, 0, 3, made);
        MPI_Comm_free(&made);
        int seen_twice = 0;
        std::uint32_t first = 0;
        // If other processes use the cores, letters come late. The ids are the same in both ranks.
        constexpr int enough = 3000, most = 100 * enough;
        for (int i = 0; i < enough || (seen_twice == 0 && i < most); ++i) {
            MPI_Comm_dup(MPI_COMM_WORLD, &made);
            const std::uint32_t context = here().communicator(made)->context;
            ASSERT_NE(context, lost);
            if (i == 0)
                first = context;
            else if (context == first)
                ++seen_twice;
            ring(made, i);
            MPI_Comm_free(&made);
        }
        EXPECT_GT(seen_twice, 0) << "other ids are used again";
    });
}

TEST(Recycling, waits_for_who_has_not_freed) {
    run_job(2, 1, [](int rank, int) {
        MPI_Comm kept = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &kept);
        const std::uint32_t context = here().communicator(kept)->context;
        MPI_Comm handle = kept;
        int in = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        if (rank == 0) {
            MPI_Irecv(&in, 1, MPI_INT, 1, 5, kept, &request);
            MPI_Comm_free(&handle);  // the receive still completes
        }
        for (int i = 0; i < 1000 && !::testing::Test::HasFatalFailure(); ++i) {
            MPI_Comm made = MPI_COMM_NULL;
            MPI_Comm_dup(MPI_COMM_WORLD, &made);
            ASSERT_NE(here().communicator(made)->context, context);
            ring(made, i);
            MPI_Comm_free(&made);
        }
        int out = 43;
        if (rank == 1) {
            MPI_Send(&out, 1, MPI_INT, 0, 5, kept);
            MPI_Comm_free(&kept);
        } else {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            EXPECT_EQ(in, 43);
        }
    });
}

}  // namespace
