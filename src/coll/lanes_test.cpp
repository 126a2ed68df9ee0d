// SPDX-License-Identifier: BSD-3-Clause
/// The number of instances that messages of collectives go through (coll/lanes.hpp).

#include "coll/lanes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "mpi.h"
#include "objects/process.hpp"
#include "testing/job.hpp"

namespace {

using heddle::testing::other_world;
using heddle::testing::run_job;
using heddle::tool::CounterIndex;

/// Calls a few collectives of each kind on the communicator.
void call_collectives(MPI_Comm comm) {
    int size = 0, one = 1, sum = 0;
    MPI_Comm_size(comm, &size);
    std::vector<int> all(static_cast<std::size_t>(size), 0);
    MPI_Barrier(comm);
    MPI_Bcast(&one, 1, MPI_INT, size - 1, comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    EXPECT_EQ(sum, size);
    MPI_Allgather(&one, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0), size);
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    std::array<MPI_Request, 8> requests;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (i % 2 == 0)
            MPI_Ibarrier(comm, &requests[i]);
        else
            MPI_Iallreduce(MPI_IN_PLACE, &all[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    EXPECT_EQ(all[1], size);
}

std::size_t instances_that_received() {
    auto& engine = *heddle::objects::attached_thread()->process->engine;
    std::size_t instances = 0;
    for (std::size_t i = 0; i < engine.instances(); ++i)
        instances += engine.counted_by(i)[CounterIndex::received_messages] != 0 ? 1 : 0;
    return instances;
}

TEST(Lanes, large_communicators_share_few_instances) {
    run_job(heddle::coll::most_ranks_on_their_own + 2, 1, [](int, int) {
        for (std::uint32_t number = 1; number <= 5; ++number) call_collectives(other_world(number));
        EXPECT_LE(instances_that_received(), heddle::coll::lanes);
    });
}

}  // namespace
