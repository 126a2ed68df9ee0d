// SPDX-License-Identifier: BSD-3-Clause
/// Collectives in levels, on nodes in one address space: results, their bits, and the messages that
/// cross the network. The test of all algorithms (algorithms_test.cpp) runs on two nodes, too.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "mpi.h"
#include "objects/nodes.hpp"
#include "objects/process.hpp"
#include "sync/native.hpp"
#include "testing/job.hpp"
#include "testing/one_core.hpp"

namespace heddle::coll {
namespace {

using testing::other_world;
using testing::run_job;

/// Mappings in blocks, in turn, unequal, and with nodes of one rank.
const std::vector<launch::NodeMap> mappings = {
    {0, 0, 1, 1},       {0, 1, 0, 1},          {0, 0, 0, 1},
    {1, 0, 0},          {0, 1, 1, 2, 2, 2, 0}, {2, 1, 0, 0, 1, 2, 2, 2},
    {0, 0, 1, 2, 3, 3}, {0, 1, 2, 3, 4, 4},
};

objects::Nodes* nodes_of_world() {
    objects::Process& process = *objects::attached_thread()->process;
    return objects::find_nodes(process, *process.world);
}

bool is_in_levels() { return nodes_of_world() != nullptr; }

/// Has the ranks of every other node know that they share no scratch memory.
void take_scratch_of_odd_nodes() {
    objects::Nodes& nodes = *nodes_of_world();
    if (nodes.own % 2 == 1) nodes.scratch.known = true;
}

/// Sums of these operands differ in their last bits with the order of the operands.
double operand(int rank, int i) { return 1.0 / (1 + rank * 7 + i % 13) * (i % 3 == 0 ? 1e9 : 1.0); }

using Bits = std::map<std::string, std::vector<double>>;

/// Collects the results of all reductions, at all ranks or at the root.
void reduce_all(int rank, int ranks, std::mutex& lock, Bits& bits) {
    for (const int count : {1, 5, 32, 200, 1000, 2000, 2500, 9000, 140'000}) {
        const auto size = static_cast<std::size_t>(count);
        std::vector<double> in(size);
        for (int i = 0; i < count; ++i) in[static_cast<std::size_t>(i)] = operand(rank, i);
        const auto note = [&](const std::string& name, const std::vector<double>& out) {
            const std::lock_guard guard(lock);
            bits[name + " of " + std::to_string(count) + " at " + std::to_string(rank)] = out;
        };
        std::vector<double> out(size);
        MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        note("allreduce", out);
        out = in;
        MPI_Allreduce(MPI_IN_PLACE, out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        note("allreduce in place", out);
        MPI_Request request;
        MPI_Iallreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        note("iallreduce", out);
        std::vector<std::int64_t> whole(size, rank + count), all(size, -1);
        MPI_Allreduce(whole.data(), all.data(), count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        const std::int64_t sum =
            std::int64_t{ranks} * (ranks - 1) / 2 + std::int64_t{ranks} * count;
        ASSERT_EQ(std::count(all.begin(), all.end(), sum), count) << "exact sum at " << rank;
        for (int root = 0; root < ranks; ++root) {
            MPI_Reduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
            if (rank == root) note("reduce", out);
            MPI_Reduce(whole.data(), all.data(), count, MPI_INT64_T, MPI_SUM, root, MPI_COMM_WORLD);
            if (rank == root) ASSERT_EQ(std::count(all.begin(), all.end(), sum), count) << root;
            all.assign(size, -1);
            MPI_Ireduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD,
                        &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            if (rank == root) note("ireduce", out);
        }
    }
}

TEST(Levels, any_mapping_gives_the_bits_of_one_node) {
    for (const launch::NodeMap& mapping : mappings) {
        const auto ranks = static_cast<int>(mapping.size());
        Bits here, there, without_scratch;
        std::mutex lock;
        run_job({.nodes = launch::NodeMap(mapping.size(), 0)}, [&](int rank, int) {
            ASSERT_FALSE(is_in_levels());
            reduce_all(rank, ranks, lock, here);
        });
        run_job({.nodes = mapping}, [&](int rank, int) {
            ASSERT_TRUE(is_in_levels());
            reduce_all(rank, ranks, lock, there);
        });
        run_job({.nodes = mapping}, [&](int rank, int) {
            take_scratch_of_odd_nodes();
            reduce_all(rank, ranks, lock, without_scratch);
        });
        for (const Bits* others : {&there, &without_scratch}) {
            ASSERT_EQ(here.size(), others->size());
            for (const auto& [name, bits] : here)
                EXPECT_EQ(
                    std::memcmp(bits.data(), others->at(name).data(), bits.size() * sizeof(double)),
                    0)
                    << name << " of " << ranks;
        }
    }
}

/// Blocks have the number of their rank, and their place.
int element(int from, int to, int i) { return from * 1000 + to * 100 + i; }

void exchange_all(int rank, int ranks, int count) {
    const auto each = static_cast<std::size_t>(count), all = each * static_cast<std::size_t>(ranks);
    std::vector<int> mine(each), blocks(all), got(all, -1);
    for (int i = 0; i < count; ++i) mine[static_cast<std::size_t>(i)] = element(rank, 0, i);
    for (int to = 0; to < ranks; ++to)
        for (int i = 0; i < count; ++i)
            blocks[static_cast<std::size_t>(to * count + i)] = element(rank, to, i);
    const auto check = [&](const char* what, auto&& wanted) {
        for (int from = 0; from < ranks; ++from)
            for (int i = 0; i < count; ++i)
                ASSERT_EQ(got[static_cast<std::size_t>(from * count + i)], wanted(from, i))
                    << what << " of " << count << " by " << rank << " of " << ranks;
        std::fill(got.begin(), got.end(), -1);
    };
    MPI_Request request;
    const auto gathered = [](int from, int i) { return element(from, 0, i); };
    MPI_Allgather(mine.data(), count, MPI_INT, got.data(), count, MPI_INT, MPI_COMM_WORLD);
    check("allgather", gathered);
    MPI_Iallgather(mine.data(), count, MPI_INT, got.data(), count, MPI_INT, MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("iallgather", gathered);
    std::vector<int> counts, places;
    for (int from = 0; from < ranks; ++from) {
        counts.push_back(from % 3 == 1 ? 0 : count - from % 2);
        places.push_back(from * count);
    }
    got = blocks;  // stays where no rank gives anything
    MPI_Allgatherv(mine.data(), counts[static_cast<std::size_t>(rank)], MPI_INT, got.data(),
                   counts.data(), places.data(), MPI_INT, MPI_COMM_WORLD);
    check("allgatherv", [&](int from, int i) {
        return i < counts[static_cast<std::size_t>(from)] ? element(from, 0, i)
                                                          : element(rank, from, i);
    });
    const auto exchanged = [&](int from, int i) { return element(from, rank, i); };
    MPI_Alltoall(blocks.data(), count, MPI_INT, got.data(), count, MPI_INT, MPI_COMM_WORLD);
    check("alltoall", exchanged);
    got = blocks;
    MPI_Alltoall(MPI_IN_PLACE, count, MPI_INT, got.data(), count, MPI_INT, MPI_COMM_WORLD);
    check("alltoall in place", exchanged);
    MPI_Ialltoall(blocks.data(), count, MPI_INT, got.data(), count, MPI_INT, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("ialltoall", exchanged);
    for (int root = 0; root < ranks; ++root) {
        MPI_Gather(mine.data(), count, MPI_INT, got.data(), count, MPI_INT, root, MPI_COMM_WORLD);
        if (rank == root) check("gather", gathered);
        MPI_Scatter(blocks.data(), count, MPI_INT, got.data(), count, MPI_INT, root,
                    MPI_COMM_WORLD);
        for (int i = 0; i < count; ++i)
            ASSERT_EQ(got[static_cast<std::size_t>(i)], element(root, rank, i)) << "scatter";
        std::vector<int> data = rank == root ? blocks : std::vector<int>(all, -1);
        MPI_Bcast(data.data(), static_cast<int>(all), MPI_INT, root, MPI_COMM_WORLD);
        for (int to = 0; to < ranks; ++to)
            ASSERT_EQ(data[static_cast<std::size_t>(to * count)], element(root, to, 0)) << "bcast";
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

void exchange_on(const launch::NodeMap& mapping, bool all_have_scratch) {
    run_job({.nodes = mapping}, [&](int rank, int) {
        if (!all_have_scratch) take_scratch_of_odd_nodes();
        for (const int count : {1, 60, 500, 6000})
            exchange_all(rank, static_cast<int>(mapping.size()), count);
    });
}

TEST(Levels, blocks_come_from_and_to_any_mapping) {
    for (const launch::NodeMap& mapping : mappings)
        for (const bool all_have_scratch : {true, false}) exchange_on(mapping, all_have_scratch);
}

/// More ranks of a node than may share scratch memory.
TEST(Levels, ranks_of_a_wide_node_send_messages) {
    launch::NodeMap mapping(33, 0);
    mapping.insert(mapping.end(), {1, 1});
    run_job({.nodes = mapping}, [&](int rank, int) {
        const auto ranks = static_cast<int>(mapping.size());
        constexpr int count = 1500;
        std::vector<int> mine(count, rank), all(mapping.size() * count, -1), data(60'000, -1);
        MPI_Allgather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < ranks * count; ++i)
            ASSERT_EQ(all[static_cast<std::size_t>(i)], i / count);
        if (rank == 34) std::fill(data.begin(), data.end(), 34);
        MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_INT, 34, MPI_COMM_WORLD);
        ASSERT_EQ(std::count(data.begin(), data.end(), 34), std::ssize(data));
        std::vector<double> sum(count, -1), one(count, 1.0);
        MPI_Allreduce(one.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        ASSERT_EQ(std::count(sum.begin(), sum.end(), static_cast<double>(ranks)), count);
    });
}

TEST(Levels, long_broadcasts_go_from_node_to_node_in_pieces) {
    for (const launch::NodeMap& mapping : mappings)
        run_job({.nodes = mapping}, [&](int rank, int) {
            constexpr int count = 300'000;
            for (int root = 0; root < static_cast<int>(mapping.size()); ++root) {
                std::vector<int> data(count, -1);
                for (int i = 0; rank == root && i < count; ++i)
                    data[static_cast<std::size_t>(i)] = i ^ root;
                MPI_Request request = MPI_REQUEST_NULL;
                if (root % 2 == 0)
                    MPI_Bcast(data.data(), count, MPI_INT, root, MPI_COMM_WORLD);
                else
                    MPI_Ibcast(data.data(), count, MPI_INT, root, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                for (int i = 0; i < count; ++i)
                    ASSERT_EQ(data[static_cast<std::size_t>(i)], i ^ root) << rank << ", " << i;
            }
        });
}

std::uint64_t sent_between_nodes() {
    return objects::attached_thread()->engine->counted()[tool::CounterIndex::network_sent_messages];
}

/// Returns how many messages a call sends between nodes.
template <class Call>
double messages_of(const launch::NodeMap& mapping, Call&& call) {
    constexpr int calls = 20;
    std::atomic<std::uint64_t> sent{0};
    run_job({.nodes = mapping}, [&](int, int) {
        call();  // agrees on scratch memory
        MPI_Barrier(MPI_COMM_WORLD);
        const std::uint64_t before = sent_between_nodes();
        for (int i = 0; i < calls; ++i) call();
        sent += sent_between_nodes() - before;
    });
    return static_cast<double>(sent) / calls;
}

TEST(Levels, what_crosses_the_network_follows_the_nodes) {
    const launch::NodeMap two = {0, 0, 0, 0, 1, 1, 1, 1}, four = {0, 1, 2, 3, 0, 1, 2, 3, 3};
    const auto barrier = [] { MPI_Barrier(MPI_COMM_WORLD); };
    const auto sum = [] {
        double in = 1, out = 0;
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    };
    const auto bcast = [] {
        int data = 7;
        MPI_Bcast(&data, 1, MPI_INT, 1, MPI_COMM_WORLD);
    };
    const auto gather = [] {
        int in = 7, all[16];
        MPI_Gather(&in, 1, MPI_INT, all, 1, MPI_INT, 2, MPI_COMM_WORLD);
    };
    const auto alltoall = [] {
        int in[16] = {}, out[16];
        MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    };
    // n nodes send n log n messages in rounds, and n - 1 in trees.
    EXPECT_EQ(messages_of(two, barrier), 2);
    EXPECT_EQ(messages_of(four, barrier), 8);
    EXPECT_EQ(messages_of(two, sum), 2);
    EXPECT_EQ(messages_of(four, sum), 8);
    EXPECT_EQ(messages_of(two, bcast), 1);
    EXPECT_EQ(messages_of(four, bcast), 3);
    EXPECT_EQ(messages_of(two, gather), 1);
    EXPECT_EQ(messages_of(four, gather), 3);
    EXPECT_EQ(messages_of(two, alltoall), 2);
    EXPECT_EQ(messages_of(four, alltoall), 12);
}

/// Communicators of some of the ranks, in another order, have nodes of their own.
TEST(Levels, communicators_have_their_own_nodes) {
    const launch::NodeMap mapping = {0, 1, 0, 1, 2, 2, 2, 0};
    run_job({.nodes = mapping}, [&](int rank, int) {
        for (int color = 0; color < 3; ++color) {
            MPI_Comm part;
            const bool in = color == 0 || rank % 3 != color;
            MPI_Comm_split(MPI_COMM_WORLD, in ? 1 : MPI_UNDEFINED, -rank, &part);
            if (!in) continue;
            int size = 0, number = 0, sum = 0;
            MPI_Comm_size(part, &size);
            MPI_Comm_rank(part, &number);
            for (int call = 0; call < 50; ++call) {
                MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, part);
                ASSERT_EQ(sum, size * (size - 1) / 2);
                int word = number == call % size ? call : -1;
                MPI_Bcast(&word, 1, MPI_INT, call % size, part);
                ASSERT_EQ(word, call);
                MPI_Barrier(part);
            }
            MPI_Comm_free(&part);
        }
    });
}

/// Each thread has a communicator of its own. Its nodes and scratch memory are found while others
/// use theirs.
TEST(Levels, threads_have_their_own_communicators) {
    const launch::NodeMap mapping = {0, 1, 0, 1, 1};
    run_job({.nodes = mapping, .threads = 3}, [&](int rank, int thread) {
        MPI_Comm comm = other_world(static_cast<std::uint32_t>(thread));
        for (int call = 0; call < 40; ++call) {
            const int root = call % 5;
            int in = rank + call * thread, sum = -1, word = rank == root ? call + thread : -1;
            MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm);
            ASSERT_EQ(sum, 10 + 5 * call * thread);
            MPI_Bcast(&word, 1, MPI_INT, root, comm);
            ASSERT_EQ(word, call + thread);
            MPI_Request request;
            double share = 0.1 * (rank + 1), total = 0;
            MPI_Iallreduce(&share, &total, 1, MPI_DOUBLE, MPI_SUM, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            ASSERT_NEAR(total, 1.5, 1e-12);
        }
    });
}

/// The other node comes late. Meanwhile a rank that naps receives a message that it must ask for.
TEST(Levels, ranks_on_a_crowded_core_nap_while_their_lead_waits) {
    const testing::OnOneCore on_one_core;
    constexpr int calls = 30, late = 3;
    std::array<std::atomic<core::Thread*>, 4> threads{};
    run_job({.nodes = {0, 0, 0, 1}}, [&](int rank, int) {
        const auto naps = [&](int of) {
            return threads[static_cast<std::size_t>(of)].load()->progress.naps.value();
        };
        threads[static_cast<std::size_t>(rank)] = objects::attached_thread();
        std::vector<int> data(300'000, rank == late ? 7 : 0);
        for (int call = 0; call < calls; ++call) {
            MPI_Barrier(MPI_COMM_WORLD);  // they nap in the first ones, too
            MPI_Request receive = MPI_REQUEST_NULL;
            if (rank == 1)
                MPI_Irecv(data.data(), 300'000, MPI_INT, late, 0, MPI_COMM_WORLD, &receive);
            if (rank == late) {
                const std::uint64_t before = naps(1) + naps(2);
                while (naps(1) + naps(2) == before) sync::Native::yield();
                MPI_Send(data.data(), 300'000, MPI_INT, 1, 0, MPI_COMM_WORLD);
            }
            int in = rank + call, sum = -1;
            MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            ASSERT_EQ(sum, 6 + 4 * call);
            MPI_Wait(&receive, MPI_STATUS_IGNORE);
            if (rank == 1) {
                ASSERT_EQ(data.front() + data.back(), 14);
            }
        }
        // A lead does not nap: its core is for it.
        if (rank == 0) {
            EXPECT_EQ(naps(0), 0U);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    });
}

}  // namespace
}  // namespace heddle::coll
