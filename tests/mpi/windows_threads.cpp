// SPDX-License-Identifier: BSD-3-Clause
/// Threads of several processes on one window: puts and gets of their own places, accumulates of
/// common ones, and locks of different targets at once.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

extern "C" {
#include "counter.h"
}

namespace {

constexpr int threads = 4;
int rounds = 300;
int rank, size;

template <class Body>
void in_threads(Body body) {
    std::vector<std::thread> all;
    for (int me = 0; me < threads; ++me) all.emplace_back([=] { body(me); });
    for (std::thread& one : all) one.join();
}

MPI_Win allocate(std::int64_t*& memory, int cells) {
    MPI_Win win;
    OK(MPI_Win_allocate(cells * static_cast<MPI_Aint>(sizeof *memory), sizeof *memory,
                        MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    std::fill_n(memory, cells, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

/// Each thread's flush completes its own operations: it gets the data that it has put.
void own_places() {
    std::int64_t* memory;
    MPI_Win win = allocate(memory, size * threads);
    OK(MPI_Win_lock_all(0, win));
    in_threads([&](int me) {
        const int cell = rank * threads + me;
        for (int round = 0; round < rounds; ++round) {
            const int target = (rank + round) % size;
            const std::int64_t value = round * 1000 + cell;
            std::int64_t back = -1;
            OK(MPI_Put(&value, 1, MPI_INT64_T, target, cell, 1, MPI_INT64_T, win));
            OK(MPI_Win_flush(target, win));
            OK(MPI_Get(&back, 1, MPI_INT64_T, target, cell, 1, MPI_INT64_T, win));
            OK(MPI_Win_flush_local(target, win));
            CHECK(back == value);
        }
    });
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
}

/// Each number is drawn once, by whatever thread and call. Steps of other kinds come in between.
void common_place() {
    std::int64_t* memory;
    MPI_Win win = allocate(memory, 4);
    std::vector<std::int64_t> drawn(static_cast<std::size_t>(threads * rounds));
    OK(MPI_Win_lock_all(0, win));
    in_threads([&](int me) {
        const std::int64_t one = 1;
        const double half = 0.5;
        for (int round = 0; round < rounds; ++round) {
            std::int64_t& number = drawn[static_cast<std::size_t>(me * rounds + round)];
            if (round % 2 == 0)
                OK(MPI_Fetch_and_op(&one, &number, MPI_INT64_T, 0, 0, MPI_SUM, win));
            else
                OK(MPI_Get_accumulate(&one, 1, MPI_INT64_T, &number, 1, MPI_INT64_T, 0, 0, 1,
                                      MPI_INT64_T, MPI_SUM, win));
            OK(MPI_Accumulate(&half, 1, MPI_DOUBLE, 0, 1, 1, MPI_DOUBLE, MPI_SUM, win));
        }
    });
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<std::int64_t> all(drawn.size() * static_cast<std::size_t>(size));
    const int each = threads * rounds;
    OK(MPI_Allgather(drawn.data(), each, MPI_INT64_T, all.data(), each, MPI_INT64_T,
                     MPI_COMM_WORLD));
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<std::int64_t>(i));
    if (rank == 0) {
        double sum;
        std::memcpy(&sum, &memory[1], sizeof sum);
        CHECK(sum == 0.5 * each * size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

/// Each target has a thread, and their locks do not meet. Exclusive locks protect steps that are
/// not atomic.
void locks_of_targets() {
    std::int64_t* memory;
    MPI_Win win = allocate(memory, threads);
    in_threads([&](int me) {
        for (int round = 0; round < rounds; ++round)
            for (int target = me; target < size; target += threads) {
                std::int64_t value = -1;
                OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
                OK(MPI_Get(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win));
                OK(MPI_Win_flush_local(target, win));
                ++value;
                OK(MPI_Put(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win));
                OK(MPI_Win_unlock(target, win));
            }
    });
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(memory[0] == static_cast<std::int64_t>(rounds) * size);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

}  // namespace

/// Runs the tests. With "held", operations hold instances, as in a recipe of the laboratory, not by
/// default.
int main(int argc, char** argv) {
    const bool held = argc > 1 && std::strcmp(argv[1], "held") == 0;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    if (on_one_host(size) == 0) rounds = 50;  // each round takes many messages
    own_places();
    common_place();
    locks_of_targets();
    CHECK((counter("window_holds") > 0) == held);
    CHECK((counter("window_flush_holds") > 0) == held);
    MPI_Finalize();
}
