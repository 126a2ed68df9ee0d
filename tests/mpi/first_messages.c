/* SPDX-License-Identifier: BSD-3-Clause */
/* The first messages of 4 KiB between two ranks find their pages. The memory does not grow by
 * megabytes for some hundreds of them. */

#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>

enum { BYTES = 4096, BEFORE = 40, MESSAGES = 600, MOST_FAULTS = 150 };

static char out[BYTES], in[BYTES];

static void exchange(int rank, int times) {
    for (int i = 0; i < times; ++i) {
        if (rank == 0) MPI_Send(out, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(in, BYTES, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(out, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
}

static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

int main(int argc, char** argv) {
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    exchange(rank,
             /* Needed once by any long conversation: rings, and both ranks' knowledge of them. */
             BEFORE);
    const long before = faults();
    exchange(rank, MESSAGES);
    const long during = faults() - before;
    if (during > MOST_FAULTS) {
        fprintf(stderr, "rank %d: %ld page faults with %d messages of %d bytes\n", rank, during,
                MESSAGES, BYTES);
        wrong = 1;
    }
    MPI_Finalize();
    return wrong;
}
