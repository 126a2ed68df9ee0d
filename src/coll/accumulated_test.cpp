// SPDX-License-Identifier: BSD-3-Clause
/// Large blocking reductions of several threads at once, all processes in one address space (for
/// ThreadSanitizer): each communicator has its stage.

#include <gtest/gtest.h>

#include <vector>

#include "mpi.h"
#include "testing/job.hpp"

namespace {

using heddle::testing::other_world;
using heddle::testing::run_job;

TEST(Accumulated, calls_of_several_threads_follow_each_other) {
    constexpr int ranks = 3;
    run_job(ranks, 2, [](int rank, int thread) {
        MPI_Comm comm = other_world(static_cast<std::uint32_t>(thread));
        for (int call = 0; call < 12; ++call) {
            const int count = call % 4 == 3 ? 300000 : 5000 + call;  // in several parts, too
            const std::vector<int> in(static_cast<std::size_t>(count), rank * call + thread);
            std::vector<int> out(in.size(), -1);
            MPI_Allreduce(in.data(), out.data(), count, MPI_INT, MPI_SUM, comm);
            const std::vector<int> wanted(in.size(), 3 * call + ranks * thread);
            ASSERT_EQ(out, wanted) << "rank " << rank << " call " << call;
        }
    });
}

}  // namespace
