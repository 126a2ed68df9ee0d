/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize with operations that the program no longer waits for. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { count = 60, bytes = 40000 };

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    char* out = calloc(count, bytes);
    char* in = calloc(count, bytes);
    MPI_Request request, receives[count];

    /* The sends are freed at once; their receiver takes its time, but takes them all. */
    for (int i = 0; i < count; ++i) {
        MPI_Isend(out + i * bytes, bytes, MPI_CHAR, next, i, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    for (int i = 0; i < count; ++i)
        MPI_Irecv(in + i * bytes, bytes, MPI_CHAR, before, i, MPI_COMM_WORLD, &receives[i]);
    MPI_Waitall(count, receives, MPI_STATUSES_IGNORE);

    /* No rank receives these messages. They are small, and more than a ring holds. */
    for (int i = 0; i < 2000; ++i) {
        MPI_Isend(&rank, 1, MPI_INT, next, 1000, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    /* The receive gets no message. */
    MPI_Irecv(in, 1, MPI_CHAR, before, 2000, MPI_COMM_WORLD, &request);
    MPI_Finalize();
    free(in);
    free(out);
    return 0;
}
