/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of all targets beside exclusive locks. Those are of one target, or of two that a process
   takes in falling order, the first shared or exclusive. No rank waits for ever, and readers of all
   are never in with a writer. Each target counts the readers of all and the writers inside, in
   words that only accumulates change. */
#include "check.h"

enum { readers, writers, words };

static MPI_Win win;
static int rank, size;

static long change(int target, int word, long by) {
    long before = -1;
    OK(MPI_Fetch_and_op(&by, &before, MPI_LONG, target, word, MPI_SUM, win));
    OK(MPI_Win_flush(target, win));
    return before;
}

static void be_alone(int target) {
    CHECK(change(target, writers, 1) == 0);
    CHECK(change(target, readers, 0) == 0);
    CHECK(change(target, writers, -1) == 1);
}

static void read_all(void) {
    OK(MPI_Win_lock_all(0, win));
    for (int target = 0; target < size; ++target) change(target, readers, 1);
    for (int target = 0; target < size; ++target) CHECK(change(target, writers, 0) == 0);
    for (int target = 0; target < size; ++target) change(target, readers, -1);
    OK(MPI_Win_unlock_all(win));
}

static void write_one(int target) {
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    be_alone(target);
    OK(MPI_Win_unlock(target, win));
}

static void write_two(int first, int second, int how) {
    OK(MPI_Win_lock(how, first, 0, win));
    if (how == MPI_LOCK_EXCLUSIVE) be_alone(first);
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, second, 0, win));
    be_alone(second);
    OK(MPI_Win_unlock(second, win));
    OK(MPI_Win_unlock(first, win));
}

/* Some ranks read all, others write one, and the last one two. */
static void mix(int rounds) {
    for (int i = 0; i < rounds; ++i) {
        if (rank % 2 == 0 && rank != size - 1)
            read_all();
        else if (rank != size - 1 || size == 1)
            write_one((i + rank) % size);
        else
            write_two(size - 1, i % (size - 1), i % 3 == 0 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE);
    }
}

/* Locks without anything in between, so that all ranks meet at the locks. */
static void only_lock(int rounds) {
    for (int i = 0; i < rounds; ++i) {
        const int target = (i + rank) % size;
        if (rank % 2 == 0) {
            OK(MPI_Win_lock_all(0, win));
            OK(MPI_Win_unlock_all(win));
        } else if (i % 2 == 0 || target == 0) {
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
            OK(MPI_Win_unlock(target, win));
        } else {
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
            OK(MPI_Win_unlock(target, win));
            OK(MPI_Win_unlock(0, win));
        }
    }
}

/* The second window takes the place of the first one in the library. */
static void lock_a_window(int rounds) {
    long* memory;
    OK(MPI_Win_allocate(words * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                        &win));
    for (int i = 0; i < words; ++i) memory[i] = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    mix(rounds);
    only_lock(rounds);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_free(&win));
}

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 2000;
    start(&rank, &size, MPI_THREAD_SINGLE);
    for (int window = 0; window < 2; ++window) lock_a_window(rounds);
    OK(MPI_Finalize());
    return 0;
}
