/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that waits for a deferred message sleeps. Rank 0 has a message that no ring has room
 * for, and computes. Rank 1 waits for any tag, and may spend a small part of that time on it. */
#include <time.h>

#include "check.h"

enum { many = 600, stuck = 1, later = 2, seconds = 2 };

static double cpu_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void) {
    int rank, size, value = -1;
    MPI_Request requests[many + 1];
    MPI_Status status;
    start(&rank, &size, MPI_THREAD_SINGLE);
    if (rank == 0) {
        /* The ring of one tag is full; a later message goes through the ring of another tag. */
        static int data[many + 1];
        for (int i = 0; i <= many; ++i) {
            data[i] = i;
            OK(MPI_Isend(&data[i], 1, MPI_INT, 1, i < many ? stuck : later, MPI_COMM_WORLD,
                         &requests[i]));
        }
        const double start_of_work = MPI_Wtime();
        while (MPI_Wtime() - start_of_work < seconds) {}
        OK(MPI_Waitall(many + 1, requests, MPI_STATUSES_IGNORE));
    } else if (rank == 1) {
        const double before = cpu_time(), start_of_wait = MPI_Wtime();
        for (int i = 0; i <= many; ++i) {
            OK(MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            CHECK(value == i && status.MPI_TAG == (i < many ? stuck : later));
        }
        const double spent = cpu_time() - before, waited = MPI_Wtime() - start_of_wait;
        if (waited > 0.5 * seconds && spent > 0.1 * waited) {
            fprintf(stderr, "waited %.2f s and took %.2f s of a core for it\n", waited, spent);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_Finalize();
    return 0;
}
