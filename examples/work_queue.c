/* SPDX-License-Identifier: BSD-3-Clause */

/* A queue of work without a master. A rank that has time draws the next number by MPI_Fetch_and_op.
 * The counter lies with rank 0, which computes like all others. Ranks add results up at their
 * owners, by MPI_Accumulate. The work: how many steps numbers take to 1, halved when even, tripled
 * and one more when odd. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNK = 500, LIMIT = 200000, LONGEST = 512 };

static int steps_of(long long number) {
    int steps = 0;
    for (; number != 1; ++steps) number = number % 2 == 0 ? number / 2 : 3 * number + 1;
    return steps < LONGEST ? steps : LONGEST - 1;
}

/* Counts numbers by steps; of a chunk, or of all without a queue. */
static void count(long long begin, long long end, long long* numbers) {
    for (long long number = begin; number < end; ++number) ++numbers[steps_of(number)];
}

int main(int argc, char** argv) {
    int rank;
    MPI_Win queue, results;
    long long *next, *numbers, chunks = 0;
    const long long one = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const MPI_Aint here = rank == 0 ? 1 : 0;
    MPI_Win_allocate(here * (MPI_Aint)sizeof *next, sizeof *next, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &next, &queue);
    MPI_Win_allocate(here * LONGEST * (MPI_Aint)sizeof *numbers, sizeof *numbers, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &numbers, &results);
    MPI_Win_lock_all(0, queue);
    MPI_Win_lock_all(0, results);
    for (;; ++chunks) {
        long long chunk, mine[LONGEST] = {0};
        MPI_Fetch_and_op(&one, &chunk, MPI_LONG_LONG, 0, 0, MPI_SUM, queue);
        MPI_Win_flush(0, queue);
        const long long begin = 1 + chunk * CHUNK;
        if (begin >= LIMIT) break;
        count(begin, begin + CHUNK < LIMIT ? begin + CHUNK : LIMIT, mine);
        MPI_Accumulate(mine, LONGEST, MPI_LONG_LONG, 0, 0, LONGEST, MPI_LONG_LONG, MPI_SUM,
                       results);
    }
    MPI_Win_unlock_all(results);
    MPI_Win_unlock_all(queue);
    printf("rank %d: %lld chunks\n", rank, chunks);
    MPI_Barrier(MPI_COMM_WORLD);
    int wrong = 0;
    if (rank == 0) {
        long long expected[LONGEST] = {0};
        count(1, LIMIT, expected);
        for (int steps = 0; steps < LONGEST; ++steps) wrong += numbers[steps] != expected[steps];
        printf("work_queue: numbers up to %d counted, %s\n", LIMIT - 1,
               wrong != 0 ? "WRONG" : "correct");
    }
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Win_free(&results);
    MPI_Win_free(&queue);
    MPI_Finalize();
    return wrong != 0;
}
