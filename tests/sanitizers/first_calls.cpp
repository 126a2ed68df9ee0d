// SPDX-License-Identifier: BSD-3-Clause
/// Threads call MPI for the first time at once, and end at once. A race detector must report
/// nothing.

#include <thread>
#include <vector>

extern "C" {
#include "../mpi/check.h"
}

namespace {

/// Each thread asks for work, and gets it by a message with a tag of its own.
void ask(int rank, int tag) {
    int asked = tag, answer = -1;
    OK(MPI_Send(&asked, 1, MPI_INT, rank, 100, MPI_COMM_WORLD));
    OK(MPI_Recv(&answer, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(answer == tag);
}

void answer(int count) {
    for (int i = 0; i < count; ++i) {
        MPI_Status status;
        int asked = -1;
        OK(MPI_Recv(&asked, 1, MPI_INT, MPI_ANY_SOURCE, 100, MPI_COMM_WORLD, &status));
        OK(MPI_Send(&asked, 1, MPI_INT, status.MPI_SOURCE, asked, MPI_COMM_WORLD));
    }
}

}  // namespace

int main(int argc, char** argv) {
    constexpr int threads = 6, rounds = 20;
    int provided = 0, rank = 0, ranks = 0;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    const int next = (rank + 1) % ranks;
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::thread> asking;
        for (int tag = 0; tag < threads; ++tag) asking.emplace_back(ask, next, tag);
        answer(threads);
        for (std::thread& thread : asking) thread.join();
    }
    OK(MPI_Finalize());
    return 0;
}
