/* SPDX-License-Identifier: BSD-3-Clause */
/* More communicators have messages without room in a ring than there are places to name them.
 * Receives with MPI_ANY_TAG get the messages of each communicator in the order of sending. */
#include "check.h"

enum { communicators = 24, messages = 700, rounds = 12, usual_tag = 5 };

static MPI_Comm comms[communicators];

static int tag_of(int message) { return message % 7 == 0 ? 1000 + message : usual_tag; }

static void send_round(int round) {
    static int data[communicators][messages];
    static MPI_Request requests[communicators * messages];
    int count = 0;
    for (int k = 0; k < messages; ++k)
        for (int i = 0; i < communicators; ++i) {
            data[i][k] = k;
            OK(MPI_Isend(&data[i][k], 1, MPI_INT, 1, tag_of(k), comms[i], &requests[count++]));
        }
    const double start_of_work = MPI_Wtime();
    while (MPI_Wtime() - start_of_work < 0.002 * (round % 3)) {}
    OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
}

static void receive_round(void) {
    for (int k = 0; k < messages; ++k)
        for (int i = communicators; i-- > 0;) {
            int value = -1, flag;
            MPI_Status status;
            if ((k + i) % 11 == 0) OK(MPI_Iprobe(0, usual_tag, comms[i], &flag, MPI_STATUS_IGNORE));
            OK(MPI_Recv(&value, 1, MPI_INT, k % 2 == 0 ? MPI_ANY_SOURCE : 0, MPI_ANY_TAG, comms[i],
                        &status));
            CHECK(value == k && status.MPI_TAG == tag_of(k));
        }
}

int main(void) {
    int rank, size;
    start(&rank, &size, MPI_THREAD_SINGLE);
    for (int i = 0; i < communicators; ++i) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int round = 0; round < rounds; ++round) {
        if (rank == 0)
            send_round(round);
        else if (rank == 1)
            receive_round();
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    for (int i = 0; i < communicators; ++i) OK(MPI_Comm_free(&comms[i]));
    MPI_Finalize();
    return 0;
}
