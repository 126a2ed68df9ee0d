// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A job of several processes in one address space, for tests. Each rank is a Process object. Each
/// of its threads is a thread that is attached to it and calls MPI functions as usual. The shared
/// memory of the ranks is mapped once, so that ThreadSanitizer sees both sides of every access.

#include <cstdint>
#include <functional>
#include <vector>

#include "launch/node_map.hpp"
#include "mpi.h"

namespace heddle::testing {

/// A job on several nodes with a simulated network between them (testing/network.hpp).
struct Nodes {
    launch::NodeMap nodes;  ///< by rank; ranks with equal nodes share memory
    int threads = 1;        ///< number of each rank's threads
    unsigned seed = 1;      ///< seed of the network
};
void run_job(const Nodes& nodes, const std::function<void(int rank, int thread)>& body);

/// Runs `body(rank, thread)` on `threads` threads of each of `ranks` processes. MPI is initialized
/// before, and finalized when all threads of a rank have returned. The ranks are on one node, or
/// dealt to HEDDLE_TEST_NODES nodes.
void run_job(int ranks, int threads, const std::function<void(int rank, int thread)>& body);

/// Runs several jobs, each on one node, that can meet by a simulated network. Each thread of each
/// rank calls `body`.
void run_jobs(const std::vector<int>& sizes, int threads,
              const std::function<void(std::size_t job, int rank, int thread)>& body);
inline void run_jobs(const std::vector<int>& sizes,
                     const std::function<void(std::size_t job, int rank)>& body) {
    run_jobs(sizes, 1, [&body](std::size_t job, int rank, int) { body(job, rank); });
}

/// Returns a communicator like MPI_COMM_WORLD with its own context, for use inside a body. It is
/// the same in all ranks for the same `number`. Only threads that use it need to call.
MPI_Comm other_world(std::uint32_t number);

}  // namespace heddle::testing
