// SPDX-License-Identifier: BSD-3-Clause
// Measures the calls of a message that a rank sends to itself: traced or not (trace_cost.sh
// compares).
//
//   trace_cost [MESSAGES]
//
// A message is seven events in a trace: begin and end of MPI_Irecv, MPI_Send and MPI_Wait, and the
// receipt. The median of repetitions counts.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { repetitions = 21, events = 7 };

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

int main(int argc, char** argv) {
    const int messages = argc > 1 ? atoi(argv[1]) : 20000;
    double times[repetitions];
    MPI_Init(&argc, &argv);
    for (int i = -1; i < repetitions; ++i) {
        const double begin = MPI_Wtime();
        for (int m = 0; m < messages; ++m) {
            MPI_Request request;
            int sent = m, received = -1;
            MPI_Irecv(&received, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
            MPI_Send(&sent, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            if (received != m) MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (i >= 0) times[i] = (MPI_Wtime() - begin) / messages;
    }
    qsort(times, repetitions, sizeof *times, compare);
    printf("message_ns=%.1f events=%d\n", times[repetitions / 2] * 1e9, events);
    MPI_Finalize();
    return 0;
}
