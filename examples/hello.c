/* SPDX-License-Identifier: BSD-3-Clause */

/* Every thread of every rank greets the same thread of the next rank, all at once, on one
 * communicator. The tag says for which thread a message is. */

#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int level, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "hello: this MPI gives no MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

#pragma omp parallel
    {
        const int thread = omp_get_thread_num();
        const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
        char out[64], in[64];
        snprintf(out, sizeof out, "thread %d of rank %d", thread, rank);
        MPI_Sendrecv(out, sizeof out, MPI_CHAR, next, thread, in, sizeof in, MPI_CHAR, before,
                     thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("rank %d of %d, thread %d of %d: greeted by %s\n", rank, ranks, thread,
               omp_get_num_threads(), in);
    }
    MPI_Finalize();
    return 0;
}
