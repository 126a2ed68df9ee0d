// SPDX-License-Identifier: BSD-3-Clause
/// A job of many ranks in one address space, with the whole library of each. Checks the traffic on
/// the network, the order of messages, and that nothing hangs.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "mpi.h"
#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "testing/job.hpp"
#include "testing/watchdog.hpp"

namespace heddle::scale {
namespace {

constexpr int each = 32;    ///< ranks on each node
constexpr int flooded = 4;  ///< messages from each rank to rank 0

struct Counted {
    std::uint64_t messages = 0, bytes = 0;  ///< sent between nodes by this rank
};

Counted counted() {
    const tool::Values values = objects::attached_thread()->engine->counted();
    return {values[tool::CounterIndex::network_sent_messages],
            values[tool::CounterIndex::network_sent_bytes]};
}

/// The sums over all ranks, and the rank with most.
class Sums {
public:
    void add(const Counted& before, const Counted& after) {
        const std::uint64_t messages = after.messages - before.messages;
        all_ += messages;
        bytes_ += after.bytes - before.bytes;
        std::uint64_t seen = most_.load();
        while (seen < messages && !most_.compare_exchange_weak(seen, messages)) {}
    }
    std::uint64_t all() const { return all_; }
    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t most() const { return most_; }

private:
    std::atomic<std::uint64_t> all_{0}, bytes_{0}, most_{0};
};

std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * 4096;
}

launch::NodeMap nodes_of(int ranks) {
    launch::NodeMap map;
    for (int rank = 0; rank < ranks; ++rank) map.push_back(rank / each);
    return map;
}

void split(int rank, int ranks) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % each, -rank, &part);
    int size = 0, number = -1;
    MPI_Comm_size(part, &size);
    MPI_Comm_rank(part, &number);
    ASSERT_EQ(size, ranks / each);
    ASSERT_EQ(number, (ranks - 1 - rank) / each);
    MPI_Comm_free(&part);
}

void sum(int rank, int ranks) {
    double in = rank, out = -1;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    ASSERT_EQ(out, 0.5 * ranks * (ranks - 1));
}

/// Exchanges on a ring, with both neighbours at two distances.
void neighbours(int rank, int ranks) {
    const std::array<int, 4> edges = {(rank + 1) % ranks, (rank + ranks - 1) % ranks,
                                      (rank + each) % ranks, (rank + ranks - each) % ranks};
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4, edges.data(), MPI_UNWEIGHTED, 4, edges.data(),
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    std::array<int, 4> out{}, in{};
    for (std::size_t i = 0; i < edges.size(); ++i) out[i] = rank * 10 + edges[i] % 10;
    MPI_Neighbor_alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, ring);
    for (std::size_t i = 0; i < edges.size(); ++i) ASSERT_EQ(in[i], edges[i] * 10 + rank % 10);
    MPI_Comm_free(&ring);
}

/// All ranks send to one, which takes messages as they come: those of each rank in order.
void flood(int rank, int ranks) {
    if (rank != 0) {
        for (int i = 0; i < flooded; ++i) MPI_Send(&i, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
        return;
    }
    std::vector<int> next(static_cast<std::size_t>(ranks), 0);
    for (int i = 0; i < flooded * (ranks - 1); ++i) {
        int number = -1;
        MPI_Status status;
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &status);
        ASSERT_EQ(number, next[static_cast<std::size_t>(status.MPI_SOURCE)]++);
    }
}

struct Part {
    const char* name;
    void (*call)(int rank, int ranks);
    Sums sums{};
};

void run_parts(int ranks) {
    std::array<Part, 5> parts{{{"split", split},
                               {"barrier", [](int, int) { MPI_Barrier(MPI_COMM_WORLD); }},
                               {"allreduce", sum},
                               {"neighbours", neighbours},
                               {"flood", flood}}};
    testing::Watchdog watchdog("a job of many ranks", std::chrono::seconds{300});
    const std::size_t before = resident_bytes();
    std::atomic<std::size_t> idle{0};
    testing::run_job({.nodes = nodes_of(ranks)}, [&](int rank, int) {
        if (rank == 0) idle = resident_bytes();
        for (Part& part : parts) {
            const Counted then = counted();
            part.call(rank, ranks);
            part.sums.add(then, counted());
            watchdog.progress();
        }
    });
    std::printf("%d ranks on %d nodes: %zu KiB resident for each when rank 0 begins\n", ranks,
                ranks / each, (idle - before) / 1024 / static_cast<std::size_t>(ranks));
    for (const Part& part : parts)
        std::printf("%-11s %9llu messages between nodes, %11llu bytes, at most %llu of a rank\n",
                    part.name, static_cast<unsigned long long>(part.sums.all()),
                    static_cast<unsigned long long>(part.sums.bytes()),
                    static_cast<unsigned long long>(part.sums.most()));
}

/// Runs 256 ranks, or HEDDLE_TEST_RANKS, a multiple of 32. For more than 400 the kernel has too few
/// mappings (vm.max_map_count).
TEST(WholeJob, ends_with_messages_in_order) {
    const char* const wanted = std::getenv("HEDDLE_TEST_RANKS");
    run_parts(wanted == nullptr ? 256 : std::atoi(wanted));
}

}  // namespace
}  // namespace heddle::scale
