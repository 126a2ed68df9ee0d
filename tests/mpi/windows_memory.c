/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows on memory of MPI_Alloc_mem are accessed by load and store, as allocated ones are. Memory
   of windows and of MPI_Alloc_mem comes back. The test counts the pages of the file that all
   processes of the node share. */
#include "counter.h"

#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, CELLS = 5 * PAGE / 8 };

static int rank, size;

/* Returns the pages of the shared file, in blocks of 512 bytes; all processes see the same. */
static long long shared_blocks(void) {
    long long blocks = 0;
    for (int descriptor = 0; descriptor < 1024; ++descriptor) {
        char link[64], target[256];
        struct stat status;
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        const ssize_t length = readlink(link, target, sizeof target - 1);
        if (length < 0) continue;
        target[length] = '\0';
        if (strncmp(target, "/memfd:", 7) == 0 && fstat(descriptor, &status) == 0)
            blocks += status.st_blocks;
    }
    return blocks;
}

static long long blocks_of_all(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    const long long blocks = shared_blocks();
    MPI_Barrier(MPI_COMM_WORLD);
    return blocks;
}

/* Returns the memory of the window at `target` as this process sees it, or NULL if it does not. */
static int64_t* seen(MPI_Win win, int target) {
    MPI_Aint bytes;
    int unit;
    int64_t* base;
    OK(MPI_Win_shared_query(win, target, &bytes, &unit, &base));
    CHECK(unit == 8);
    return base;
}

/* Tests a window that begins in the middle of a page, and ends in the middle of another one. */
static void accesses(void) {
    const int next = (rank + 1) % size;
    int64_t *memory, value = 100 + rank, old = -1;
    MPI_Win win;
    OK(MPI_Alloc_mem(CELLS * 8, MPI_INFO_NULL, &memory));
    for (int i = 0; i < CELLS; ++i) memory[i] = i;
    OK(MPI_Win_create(memory + 700, 1000 * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (int target = 0; target < size; ++target) {
        CHECK(seen(win, target) != NULL);
        CHECK(seen(win, target)[0] == 700 && seen(win, target)[999] == 1699);
    }
    CHECK(seen(win, rank) == memory + 700);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next, 5, 1, MPI_INT64_T, win));
    FAILS(MPI_Put(&value, 1, MPI_INT64_T, next, 1000, 1, MPI_INT64_T, win), MPI_ERR_RMA_RANGE);
    OK(MPI_Win_fence(0, win));
    CHECK(memory[705] == 100 + (rank + size - 1) % size);
    value = 1;
    for (int i = 0; i < 100; ++i) {
        OK(MPI_Fetch_and_op(&value, &old, MPI_INT64_T, 0, 9, MPI_SUM, win));
        OK(MPI_Accumulate(&value, 1, MPI_INT64_T, 0, 9, 1, MPI_INT64_T, MPI_SUM, win));
    }
    OK(MPI_Win_fence(0, win));
    if (rank == 0) CHECK(memory[709] == 709 + 200 * size);
    OK(MPI_Win_free(&win));
    CHECK(memory[0] == 0 && memory[CELLS - 1] == CELLS - 1);
    OK(MPI_Free_mem(memory));
}

/* Some memory lies in a segment and some does not: it is too small for one, or from elsewhere. */
static void of_two_kinds(void) {
    static int64_t own[1000];
    int64_t *memory = own, *little, value = rank;
    MPI_Win win;
    OK(MPI_Alloc_mem(8, MPI_INFO_NULL, &little));
    OK(MPI_Free_mem(little));
    if (rank % 2 == 0) OK(MPI_Alloc_mem(8000, MPI_INFO_NULL, &memory));
    memory[900] = 0;
    OK(MPI_Win_create(memory, 8000, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int target = 0; target < size; ++target)
        CHECK((seen(win, target) != NULL) == (target % 2 == 0 || target == rank));
    OK(MPI_Win_lock_all(0, win));
    for (int target = 0; target < size; ++target) {
        OK(MPI_Put(&value, 1, MPI_INT64_T, target, rank, 1, MPI_INT64_T, win));
        for (int i = 0; i < 50; ++i) {
            const int64_t one = 1;
            OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, 900, 1, MPI_INT64_T, MPI_SUM, win));
        }
    }
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int origin = 0; origin < size; ++origin) CHECK(memory[origin] == origin);
    CHECK(memory[900] == 50 * size);
    OK(MPI_Win_free(&win));
    if (memory != own) OK(MPI_Free_mem(memory));
}

/* A program that frees the memory first is wrong, but it harms no other memory. */
static void freed_before_the_window(void) {
    int64_t *memory, *others, value = 77;
    MPI_Win win;
    OK(MPI_Alloc_mem(CELLS * 8, MPI_INFO_NULL, &memory));
    OK(MPI_Win_create(memory, CELLS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Free_mem(memory));
    OK(MPI_Alloc_mem(CELLS * 8, MPI_INFO_NULL, &others));
    for (int i = 0; i < CELLS; ++i) others[i] = i;
    OK(MPI_Win_fence(0, win));
    for (int target = 0; target < size; ++target)
        OK(MPI_Put(&value, 1, MPI_INT64_T, target, rank, 1, MPI_INT64_T, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
    for (int i = 0; i < CELLS; ++i) CHECK(others[i] == i);
    OK(MPI_Free_mem(others));
}

static void memory_comes_back(void) {
    enum { BYTES = 1 << 20 };
    const long long before = blocks_of_all();
    for (int round = 0; round < 100; ++round) {
        char* memory;
        OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &memory));
        for (int i = 0; i < BYTES; i += PAGE) {
            CHECK(memory[i] == 0);
            memory[i] = 1;
        }
        if (round == 50) CHECK(shared_blocks() >= before + BYTES / 512);
        OK(MPI_Free_mem(memory));
    }
    CHECK(blocks_of_all() < before + 2 * BYTES / 512);
}

/* Makes many windows. A window has a page at least, which is 8 blocks. Growth comes from the first
 * use of rings. */
static void many_windows(int windows) {
    long long before = 0;
    for (int round = 0; round < windows; ++round) {
        MPI_Win win;
        char* memory;
        if (round == windows / 10) before = blocks_of_all();
        OK(MPI_Win_allocate(round % 3 * 5000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
        if (round % 3 != 0) memory[0] = 1;
        OK(MPI_Win_free(&win));
    }
    CHECK(blocks_of_all() < before + 5 * windows);
}

int main(int argc, char** argv) {
    start(&rank, &size, MPI_THREAD_SINGLE);
    accesses();
    of_two_kinds();
    freed_before_the_window();
    memory_comes_back();
    many_windows(argc > 1 ? atoi(argv[1]) : 10000);
    MPI_Finalize();
    return 0;
}
