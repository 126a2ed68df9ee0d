// SPDX-License-Identifier: BSD-3-Clause
/// Windows on memory that the kernel lets no other process access. Targets answer messages whenever
/// they are in MPI, in whatever call. HEDDLE_SINGLE_COPY=never, or a refused system call, brings it
/// about. The argument names the ranks that are refused: "all", or a rank.

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

int rank, size;

/// Tests more data than fits into one message, and many blocks.
void large() {
    constexpr int cells = 20000;
    std::vector<std::int64_t> memory(cells), data(cells), back(cells, -1);
    MPI_Win win;
    MPI_Datatype every_second;
    OK(MPI_Type_vector(cells / 2, 1, 2, MPI_INT64_T, &every_second));
    OK(MPI_Type_commit(&every_second));
    OK(MPI_Win_create(memory.data(), cells * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    std::iota(data.begin(), data.end(), 1000000 * rank);
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Put(data.data(), cells, MPI_INT64_T, next, 0, cells, MPI_INT64_T, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Get(back.data(), cells, MPI_INT64_T, next, 0, cells, MPI_INT64_T, win));
    OK(MPI_Win_flush(next, win));
    CHECK(back == data);
    OK(MPI_Accumulate(data.data(), cells, MPI_INT64_T, next, 0, cells, MPI_INT64_T, MPI_SUM, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Get(back.data(), cells / 2, MPI_INT64_T, next, 0, 1, every_second, win));
    OK(MPI_Win_flush(next, win));
    for (int i = 0; i < cells / 2; ++i)
        CHECK(back[static_cast<std::size_t>(i)] == 2 * data[2 * static_cast<std::size_t>(i)]);
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < cells; ++i)
        CHECK(memory[static_cast<std::size_t>(i)] == 2 * (1000000 * std::int64_t{before} + i));
    MPI_Type_free(&every_second);
    OK(MPI_Win_free(&win));
}

/// Threads of all processes draw numbers from counters of all processes, and swap words.
void threads() {
    constexpr int each = 4, rounds = 20;
    std::vector<std::int64_t> memory(3, 0);
    MPI_Win win;
    OK(MPI_Win_create(memory.data(), 24, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_lock_all(0, win));
    std::vector<std::thread> all;
    for (int me = 0; me < each; ++me)
        all.emplace_back([&] {
            for (int round = 0; round < rounds; ++round)
                for (int target = 0; target < size; ++target) {
                    const std::int64_t one = 1;
                    std::int64_t old = -1, seen = -1, next = 0;
                    OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, 0, MPI_SUM, win));
                    CHECK(old >= 0);
                    do {
                        OK(MPI_Fetch_and_op(nullptr, &old, MPI_INT64_T, target, 1, MPI_NO_OP, win));
                        next = old + 1;
                        OK(MPI_Compare_and_swap(&next, &old, &seen, MPI_INT64_T, target, 1, win));
                    } while (seen != old);
                }
        });
    for (std::thread& one : all) one.join();
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(memory[0] == std::int64_t{each} * rounds * size && memory[1] == memory[0]);
    OK(MPI_Win_free(&win));
}

/// Memory that is not attached is refused, by the origin or by the target. The window goes on.
void dynamic() {
    std::vector<std::int64_t> memory(100, 5);
    MPI_Aint mine;
    std::vector<MPI_Aint> places(static_cast<std::size_t>(size));
    MPI_Win win;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_attach(win, memory.data(), 800));
    OK(MPI_Get_address(memory.data(), &mine));
    OK(MPI_Allgather(&mine, 1, MPI_AINT, places.data(), 1, MPI_AINT, MPI_COMM_WORLD));
    const int next = (rank + 1) % size;
    const MPI_Aint place = places[static_cast<std::size_t>(next)];
    std::int64_t value = 8, back = -1;
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next, place + 8, 1, MPI_INT64_T, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Get(&back, 1, MPI_INT64_T, next, place + 8, 1, MPI_INT64_T, win));
    OK(MPI_Win_flush(next, win));
    CHECK(back == 8);
    FAILS(MPI_Get(&back, 1, MPI_INT64_T, next, place + 800, 1, MPI_INT64_T, win),
          MPI_ERR_RMA_RANGE);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_detach(win, memory.data()));
    MPI_Barrier(MPI_COMM_WORLD);
    FAILS(MPI_Get(&back, 1, MPI_INT64_T, next, place, 1, MPI_INT64_T, win), MPI_ERR_RMA_RANGE);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
}

/// One process makes and frees windows that it never touches.
void untouched() {
    char memory[8] = {};
    for (int i = 0; i < 200; ++i) {
        MPI_Win win;
        OK(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        if (i % 2 == 0 && rank == 0) {
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, win));
            OK(MPI_Put("x", 1, MPI_BYTE, size - 1, i % 8, 1, MPI_BYTE, win));
            OK(MPI_Win_unlock(size - 1, win));
        }
        OK(MPI_Win_free(&win));
    }
    if (rank == size - 1) CHECK(memory[0] == 'x' && memory[6] == 'x' && memory[1] == 0);
}

}  // namespace

int main(int argc, char** argv) {
    CHECK(argc == 2);
    const bool all = std::strcmp(argv[1], "all") == 0;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    large();
    threads();
    dynamic();
    untouched();
    const bool asks = size > 1 && (all || rank == std::atoi(argv[1]));
    CHECK((counter("window_asked_bytes") > 0) == asks);
    CHECK((counter("window_copied_bytes") > 0) == (size > 1 && !asks));
    MPI_Finalize();
}
