// SPDX-License-Identifier: BSD-3-Clause
/// Races that no message orders: a race detector finds each of them.
///
///     race after-send | callback | unordered-sends
#include <chrono>
#include <string_view>
#include <thread>

extern "C" {
#include "../mpi/check.h"
}

namespace {

int racy = 0;

void spend(std::chrono::microseconds time) {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < time) {}
}

/// Runs a race at several distances: `run(distance)`. A race detector may miss two accesses at
/// nearly the same time.
template <typename Run>
void at_distances(const Run& run) {
    for (int round = 0; round < 20; ++round) run(std::chrono::microseconds(20 * round));
}

/// The sender's accesses after its send are not ordered before those of the receiver.
void after_send() {
    at_distances([](std::chrono::microseconds distance) {
        std::thread sender([] {
            OK(MPI_Send(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_SELF));
            racy = 1;
        });
        OK(MPI_Recv(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        spend(distance);
        racy = 2;
        sender.join();
    });
}

void count(void*, void*, int*, MPI_Datatype*) { ++racy; }

/// Both threads call operations of the program at once.
void callback() {
    MPI_Op operation;
    OK(MPI_Op_create(count, 1, &operation));
    const auto reduce = [&] {
        int in = 0, inout = 0;
        OK(MPI_Reduce_local(&in, &inout, 1, MPI_INT, operation));
    };
    at_distances([&](std::chrono::microseconds distance) {
        std::thread thread(reduce);
        spend(distance);
        reduce();
        thread.join();
    });
    OK(MPI_Op_free(&operation));
}

/// Both threads send to themselves: no message orders them.
void unordered_sends() {
    const auto exchange = [](int tag) {
        for (int i = 0; i < 10; ++i) {
            ++racy;
            OK(MPI_Sendrecv(nullptr, 0, MPI_INT, 0, tag, nullptr, 0, MPI_INT, 0, tag, MPI_COMM_SELF,
                            MPI_STATUS_IGNORE));
        }
    };
    at_distances([&](std::chrono::microseconds distance) {
        std::thread thread(exchange, 1);
        spend(distance);
        exchange(2);
        thread.join();
    });
}

}  // namespace

int main(int argc, char** argv) {
    int rank, size;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    const std::string_view which = argc > 1 ? argv[1] : "";
    if (which == "after-send")
        after_send();
    else if (which == "callback")
        callback();
    else if (which == "unordered-sends")
        unordered_sends();
    else
        return 2;
    return MPI_Finalize();
}
