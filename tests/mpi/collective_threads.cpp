// SPDX-License-Identifier: BSD-3-Clause
/// Threads, each with a communicator of its own, run collectives at once. The collectives of one
/// communicator must not receive messages of another.

#include <thread>

#include "collective.hpp"

using namespace collective;

namespace {

constexpr int threads = 4;

void work(int thread, int rank, int size, MPI_Comm comm, int rounds) {
    const Operations operations;
    std::mt19937 random(static_cast<unsigned>(thread));  // the same on every rank
    for (int i = 0; i < rounds; ++i) {
        const std::uint64_t round = random() * 16 + static_cast<unsigned>(thread);
        const std::size_t count = random() % 50 == 0 ? 6000 : random() % 40;
        const int n = static_cast<int>(count);
        const int root = static_cast<int>(random() % static_cast<unsigned>(size));
        const Operation& op = operations.all[random() % operations.all.size()];
        std::vector<Word> in(count), out(count), all(count * static_cast<std::size_t>(size));
        for (std::size_t k = 0; k < count; ++k) in[k] = operand(op, round, rank, k);
        switch (random() % 5) {
            case 0:
                MPI_Allreduce(in.data(), out.data(), n, MPI_UINT64_T, op.handle, comm);
                for (std::size_t k = 0; k < count; ++k)
                    CHECK(out[k] == folded(op, round, 0, size - 1, k), "thread %d", thread);
                break;
            case 1:
                out = in;
                MPI_Bcast(out.data(), n, MPI_UINT64_T, root, comm);
                for (std::size_t k = 0; k < count; ++k)
                    CHECK(out[k] == operand(op, round, root, k), "thread %d", thread);
                break;
            case 2:
                MPI_Allgather(in.data(), n, MPI_UINT64_T, all.data(), n, MPI_UINT64_T, comm);
                for (std::size_t k = 0; k < all.size(); ++k)
                    CHECK(all[k] == operand(op, round, static_cast<int>(k / count), k % count),
                          "thread %d", thread);
                break;
            case 3:
                MPI_Scan(in.data(), out.data(), n, MPI_UINT64_T, op.handle, comm);
                for (std::size_t k = 0; k < count; ++k)
                    CHECK(out[k] == folded(op, round, 0, rank, k), "thread %d", thread);
                break;
            default: MPI_Barrier(comm);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    int level, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 300;
    std::vector<MPI_Comm> comms(threads);
    for (MPI_Comm& comm : comms)
        if (MPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) return 77;
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) all.emplace_back(work, t, rank, size, comms[t], rounds);
    for (std::thread& thread : all) thread.join();
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
