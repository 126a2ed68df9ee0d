// SPDX-License-Identifier: BSD-3-Clause
/// Uses of windows that programs rely on: many attached regions side by side, and shared memory of
/// processes without any. Also locks in spite of no_locks, and threads that fence one window at
/// once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

extern "C" {
#include "check.h"
}

namespace {

int rank, size;

/// Returns the address that process `of` has told.
MPI_Aint address_of(void* memory, int of) {
    MPI_Aint address = 0;
    OK(MPI_Get_address(memory, &address));
    OK(MPI_Bcast(&address, 1, MPI_AINT, of, MPI_COMM_WORLD));
    return address;
}

/// An access covers as many regions as there are, in any order. None goes beyond them or over a
/// gap.
void regions_side_by_side() {
    constexpr int regions = 5, cells = 32;
    std::vector<int> memory(regions * cells, -1);
    MPI_Win win;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (const int region : {3, 0, 4, 1, 2})
        OK(MPI_Win_attach(win, &memory[static_cast<std::size_t>(region * cells)],
                          cells * sizeof(int)));
    const int target = size - 1;
    const MPI_Aint there = address_of(memory.data(), target);
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_fence(0, win));
    std::vector<int> values(regions * cells);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
    if (rank == 0)
        OK(MPI_Put(values.data(), regions * cells, MPI_INT, target, there, regions * cells, MPI_INT,
                   win));
    OK(MPI_Win_fence(0, win));
    if (rank == target) CHECK(memory == values);
    std::fill(values.begin(), values.end(), -1);
    OK(MPI_Get(values.data(), 2 * cells, MPI_INT, target, there + (cells + 1) * 4, 2 * cells,
               MPI_INT, win));
    CHECK(MPI_Put(values.data(), 2, MPI_INT, target, there + (regions * cells - 1) * 4, 2, MPI_INT,
                  win) != MPI_SUCCESS);
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 2 * cells; ++i) CHECK(values[static_cast<std::size_t>(i)] == cells + 1 + i);
    OK(MPI_Win_detach(win, &memory[2 * cells]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0 && size == 1)  // a remote target raises it in the next flush
        CHECK(MPI_Put(values.data(), 2 * cells, MPI_INT, target, there + cells * 4, 2 * cells,
                      MPI_INT, win) != MPI_SUCCESS);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
}

void many_regions() {
    constexpr int regions = 10000;
    std::vector<std::int64_t> memory(2 * regions, 0);
    MPI_Win win;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (std::size_t i = 0; i < regions; ++i) OK(MPI_Win_attach(win, &memory[2 * i], 8));
    const int target = size - 1;
    const MPI_Aint there = address_of(memory.data(), target);
    OK(MPI_Win_fence(0, win));
    const std::int64_t one = 1;
    for (const MPI_Aint i : {0, 4095, 4096, regions - 1})
        OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, there + 16 * i, 1, MPI_INT64_T, MPI_SUM,
                          win));
    OK(MPI_Win_fence(0, win));
    if (rank == target)
        for (const std::size_t i : {0, 4095, 4096, regions - 1}) CHECK(memory[2 * i] == size);
    for (std::size_t i = 0; i < regions; ++i) OK(MPI_Win_detach(win, &memory[2 * i]));
    OK(MPI_Win_attach(win, &memory[2], 8));
    OK(MPI_Win_detach(win, &memory[2]));
    OK(MPI_Win_free(&win));
}

void memory_of_a_process_without_any() {
    MPI_Comm node;
    MPI_Win win;
    void *memory, *found = &memory;
    MPI_Aint bytes = -1;
    int mine, all, unit = -1;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_rank(node, &mine));
    OK(MPI_Comm_size(node, &all));
    OK(MPI_Win_allocate_shared(mine % 2 == 0 ? 0 : 64, 8, MPI_INFO_NULL, node, &memory, &win));
    for (int other = 0; other < all; ++other) {
        OK(MPI_Win_shared_query(win, other, &bytes, &unit, &found));
        CHECK(unit == 8 && bytes == (other % 2 == 0 ? 0 : 64));
        CHECK((found == nullptr) == (bytes == 0));
    }
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &found));
    CHECK(bytes == (all == 1 ? 0 : 64));
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&node));
}

void locks_in_spite_of_no_locks() {
    MPI_Info hints;
    MPI_Win win;
    std::int64_t* memory;
    const std::int64_t one = 1;
    OK(MPI_Info_create(&hints));
    OK(MPI_Info_set(hints, "no_locks", "true"));
    OK(MPI_Win_allocate(8, 8, hints, MPI_COMM_WORLD, &memory, &win));
    OK(MPI_Info_free(&hints));
    *memory = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win));
    OK(MPI_Win_unlock(0, win));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) CHECK(*memory == 2 * size);
    OK(MPI_Win_free(&win));
}

/// Each thread puts its place, and finds that of the process before after as many fences.
void threads_that_fence() {
    constexpr int threads = 4, rounds = 500;
    MPI_Win win;
    std::int64_t* memory;
    OK(MPI_Win_allocate(threads * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    OK(MPI_Win_fence(0, win));
    std::vector<std::thread> all;
    for (int me = 0; me < threads; ++me)
        all.emplace_back([&, me] {
            for (std::int64_t round = 0; round < rounds; ++round) {
                OK(MPI_Put(&round, 1, MPI_INT64_T, (rank + 1) % size, me, 1, MPI_INT64_T, win));
                OK(MPI_Win_fence(0, win));
            }
        });
    for (std::thread& one : all) one.join();
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int i = 0; i < threads; ++i) CHECK(memory[i] == rounds - 1);
    OK(MPI_Win_free(&win));
}

}  // namespace

int main() {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    regions_side_by_side();
    many_regions();
    memory_of_a_process_without_any();
    locks_in_spite_of_no_locks();
    threads_that_fence();
    OK(MPI_Finalize());
    return 0;
}
