// SPDX-License-Identifier: BSD-3-Clause
/// Messages that may overtake each other all come. None waits for another, whatever instances their
/// threads choose.
#include <thread>
#include <vector>

extern "C" {
#include "check.h"
#include "counter.h"
}

namespace {

constexpr int threads = 4, messages = 20000, large = 3000;

MPI_Comm free_communicator() {
    MPI_Comm comm;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_allow_overtaking", "true"));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    OK(MPI_Info_free(&info));
    return comm;
}

/// Each thread of rank 0 sends its messages with one tag; each thread of rank 1 takes as many, of
/// any tag.
void exchange(MPI_Comm comm, int rank) {
    std::vector<std::thread> team;
    std::vector<long long> sums(threads);
    for (int thread = 0; thread < threads; ++thread)
        team.emplace_back([&, thread] {
            std::vector<int> data(large);
            for (int i = 0; i < messages; ++i) {
                const int count = i % 1000 == 0 ? large : 1;
                data[0] = i;
                if (rank == 0)
                    OK(MPI_Send(data.data(), count, MPI_INT, 1, 3, comm));
                else
                    OK(MPI_Recv(data.data(), large, MPI_INT, 0, i % 2 == 0 ? MPI_ANY_TAG : 3, comm,
                                MPI_STATUS_IGNORE));
                sums[static_cast<std::size_t>(thread)] += data[0];
            }
        });
    for (std::thread& thread : team) thread.join();
    long long sum = 0;
    for (const long long one : sums) sum += one;
    CHECK(sum == threads * (messages - 1LL) * messages / 2);
}

}  // namespace

int main() {
    int rank, size;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    MPI_Comm comm = free_communicator();
    const unsigned long long before = counter("out_of_sequence");
    if (rank < 2) exchange(comm, rank);
    CHECK(counter("out_of_sequence") == before);
    OK(MPI_Barrier(comm));  // collectives keep their order
    if (rank < 2) exchange(MPI_COMM_WORLD, rank);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    return 0;
}
