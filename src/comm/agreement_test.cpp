// SPDX-License-Identifier: BSD-3-Clause
#include "comm/agreement.hpp"

#include <gtest/gtest.h>

#include "mpi.h"
#include "objects/process.hpp"
#include "testing/job.hpp"
#include "testing/watchdog.hpp"

namespace {

using heddle::testing::run_job;
using heddle::testing::Watchdog;
namespace objects = heddle::objects;

TEST(Agreement, fails_for_everybody_where_no_context_id_is_left) {
    Watchdog watchdog("no context id is left");
    run_job(3, 1, [](int rank, int) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        if (rank == 0) objects::current_thread->process->contexts.use_up();
        MPI_Comm made = MPI_COMM_NULL;
        EXPECT_NE(MPI_Comm_dup(MPI_COMM_WORLD, &made), MPI_SUCCESS);
        MPI_Request request = MPI_REQUEST_NULL;
        int error = MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
        if (error == MPI_SUCCESS) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT_NE(error, MPI_SUCCESS) << "rank " << rank;
        // The existing communicator still works.
        int sum = 0, one = 1;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        EXPECT_EQ(sum, 3);
    });
}

}  // namespace
