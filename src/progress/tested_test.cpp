// SPDX-License-Identifier: BSD-3-Clause
#include "progress/tested.hpp"

#include <gtest/gtest.h>

#include "mpi.h"
#include "objects/process.hpp"
#include "testing/job.hpp"

namespace heddle::progress {
namespace {

const node::Tested* note_of_this_thread() {
    const node::Attached* entry = objects::current_thread->attached;
    return reinterpret_cast<const node::Tested*>(
        static_cast<std::uintptr_t>(entry->tested.load(acquire)));
}

TEST(Tested, a_thread_that_tests_for_long_says_what_for) {
    testing::run_job(2, 1, [](int rank, int) {
        if (rank == 1) {
            MPI_Recv(nullptr, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
            return;
        }
        int done = 0;
        MPI_Request request;
        MPI_Irecv(nullptr, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
        while (note_of_this_thread() == nullptr) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        const node::Tested& note = *note_of_this_thread();
        EXPECT_EQ(note.version.load(), 2U);
        EXPECT_EQ(note.tests, objects::current_thread->tests);
        EXPECT_STREQ(note.what.call, "MPI_Test");
        EXPECT_EQ(note.what.events, 1U);
        EXPECT_EQ(note.what.listed[0].kind, node::AwaitedKind::receive);
        EXPECT_EQ(note.what.listed[0].peer, 1);
        EXPECT_EQ(note.what.listed[0].tag, 1);
        while (note.version.load() == 2) MPI_Iprobe(1, 3, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
        EXPECT_STREQ(note.what.call, "MPI_Iprobe");
        EXPECT_EQ(note.what.listed[0].kind, node::AwaitedKind::probe);
        EXPECT_EQ(note.what.listed[0].tag, 3);
        MPI_Send(nullptr, 0, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
}

}  // namespace
}  // namespace heddle::progress
