// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A job of several processes in one address space, for tests: each rank is a Process object, and
/// each of its threads a thread that is attached to it and calls MPI functions as usual. What the
/// ranks share is mapped once, so that ThreadSanitizer sees both sides of every access.

#include <cstdint>
#include <functional>
#include <vector>

#include "launch/node_map.hpp"
#include "mpi.h"

namespace heddle::testing {

/// A job on several nodes, between which there is a simulated network (testing/network.hpp).
struct Nodes {
    launch::NodeMap nodes;  ///< by rank; equal ones share memory
    int threads = 1;        ///< of each rank
    unsigned seed = 1;      ///< of the network
};
void run_job(const Nodes& nodes, const std::function<void(int rank, int thread)>& body);

/// Runs `body(rank, thread)` on `threads` threads of each of `ranks` processes; MPI is initialized
/// before, and finalized when all threads of a rank have returned. They are on one node, or in turn on as many
/// as HEDDLE_TEST_NODES says.
void run_job(int ranks, int threads, const std::function<void(int rank, int thread)>& body);

/// Several jobs, each on one node, that can meet by a simulated network. `body` is called by each thread of each rank.
void run_jobs(const std::vector<int>& sizes, int threads,
              const std::function<void(std::size_t job, int rank, int thread)>& body);
inline void run_jobs(const std::vector<int>& sizes,
                     const std::function<void(std::size_t job, int rank)>& body) {
    run_jobs(sizes, 1, [&body](std::size_t job, int rank, int) { body(job, rank); });
}

/// Inside a body: a communicator like MPI_COMM_WORLD with a context of its own, the same in all ranks
/// for the same `number`. Nobody has to take part but the threads that use it.
MPI_Comm other_world(std::uint32_t number);

}  // namespace heddle::testing
