/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulates of pieces with gaps between them, in memory of the program and in memory of the
   library. Pieces have one element, or are many, with long ones among them, by all ranks at once.
   Every element gets each rank's share, and the gaps stay. The fetched values show that no other
   rank was in between. */
#include <stdint.h>

#include "check.h"

enum { most_pieces = 300, rounds = 6 };
static int rank, size;

/* Pieces of 1 to 5 elements, of 70 now and then; elements of the gaps are 1 to 3. */
static int lengths[most_pieces], places[most_pieces];
static int pieces, elements, span;

static void draw(int round) {
    unsigned state = 77u + (unsigned)round;
    pieces = (int[]){1, 3, 64, 65, 130, most_pieces}[round % 6];
    elements = span = 0;
    for (int i = 0; i < pieces; ++i) {
        state = state * 1664525u + 1013904223u;
        lengths[i] = state >> 28 == 0 ? 70 : 1 + (int)(state >> 20) % 5;
        places[i] = span;
        elements += lengths[i];
        span += lengths[i] + 1 + (int)(state >> 16) % 3;
    }
}

static int64_t before(int i) { return 1000 + i; }

static MPI_Win make(int kind, int64_t** memory) {
    const MPI_Aint bytes = span * 8;
    MPI_Win win;
    if (kind == 0) {
        OK(MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, memory, &win));
    } else {
        *memory = malloc((size_t)bytes);
        OK(MPI_Win_create(*memory, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    }
    for (int i = 0; i < span; ++i) (*memory)[i] = before(i);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    return win;
}

/* Adds 1 to each element of each target, and gets the old values. No two ranks get the same
 * number. */
static void add_everywhere(MPI_Win win, MPI_Datatype there, int64_t* got) {
    int64_t* const ones = malloc((size_t)elements * sizeof *ones);
    for (int i = 0; i < elements; ++i) ones[i] = 1;
    OK(MPI_Win_lock_all(0, win));
    for (int step = 0; step < size; ++step) {
        const int target = (rank + step) % size;
        OK(MPI_Get_accumulate(ones, elements, MPI_INT64_T, got + (size_t)target * (size_t)elements,
                              elements, MPI_INT64_T, target, 0, 1, there, MPI_SUM, win));
        OK(MPI_Accumulate(ones, elements, MPI_INT64_T, target, 0, 1, there, MPI_SUM, win));
        OK(MPI_Win_flush(target, win));
    }
    OK(MPI_Win_unlock_all(win));
    free(ones);
}

static void expect(const int64_t* memory) {
    int at = 0;
    for (int i = 0; i < pieces; ++i) {
        for (; at < places[i]; ++at) CHECK(memory[at] == before(at));
        for (; at < places[i] + lengths[i]; ++at) CHECK(memory[at] == before(at) + 2 * size);
    }
    for (; at < span; ++at) CHECK(memory[at] == before(at));
}

/* Checks the numbers that all ranks have fetched of this rank's elements: none comes twice. */
static void expect_fetched(const int64_t* got) {
    int64_t* const all = malloc((size_t)elements * (size_t)size * sizeof *all);
    OK(MPI_Alltoall(got, elements, MPI_INT64_T, all, elements, MPI_INT64_T, MPI_COMM_WORLD));
    for (int i = 0, k = 0; i < pieces; ++i)
        for (int at = places[i]; at < places[i] + lengths[i]; ++at, ++k) {
            char seen[2 * 64] = {0};
            for (int from = 0; from < size; ++from) {
                const int64_t number = all[from * elements + k] - before(at);
                CHECK(number >= 0 && number < 2 * size && !seen[number]);
                seen[number] = 1;
            }
        }
    free(all);
}

int main(void) {
    start(&rank, &size, MPI_THREAD_SINGLE);
    for (int kind = 0; kind < 2; ++kind)
        for (int round = 0; round < rounds; ++round) {
            int64_t* memory = NULL;
            MPI_Datatype there;
            draw(round);
            int64_t* const got = malloc((size_t)elements * (size_t)size * sizeof *got);
            OK(MPI_Type_indexed(pieces, lengths, places, MPI_INT64_T, &there));
            OK(MPI_Type_commit(&there));
            MPI_Win win = make(kind, &memory);
            add_everywhere(win, there, got);
            OK(MPI_Barrier(MPI_COMM_WORLD));
            OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
            expect(memory);
            OK(MPI_Win_unlock(rank, win));
            expect_fetched(got);
            OK(MPI_Win_free(&win));
            if (kind == 1) free(memory);
            OK(MPI_Type_free(&there));
            free(got);
        }
    MPI_Finalize();
    return 0;
}
