/* SPDX-License-Identifier: BSD-3-Clause */
/* Far more communicators than exist at once, so that context ids are used again. Two threads
 * make and free them, free them while receives are pending, and receive with wildcards. Every
 * message says which communicator it was sent for, so that a message of an old communicator
 * would be seen. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 2, ROUNDS = 4000 };

static int rank, size;
static MPI_Comm parents[THREADS];

static void one_round(MPI_Comm parent, int number, int round) {
    MPI_Comm made, inter, half;
    MPI_Request request;
    MPI_Status status;
    int out[3] = {number, round, rank}, in[3] = {-1, -1, -1};
    if (round % 3 == 0)
        OK(MPI_Comm_split(parent, 0, (rank + round) % size, &made));
    else
        OK(MPI_Comm_dup(parent, &made));
    int me;
    OK(MPI_Comm_rank(made, &me));
    /* The receive is still pending when its communicator is freed. */
    OK(MPI_Irecv(in, 3, MPI_INT, MPI_ANY_SOURCE, round % 2 ? MPI_ANY_TAG : round, made, &request));
    OK(MPI_Send(out, 3, MPI_INT, (me + 1) % size, round, made));
    OK(MPI_Comm_free(&made));
    OK(MPI_Wait(&request, &status));
    CHECK(in[0] == number && in[1] == round && status.MPI_TAG == round);
    if (size == 1 || round % 8 != 0) return;
    OK(MPI_Comm_split(parent, rank % 2, 0, &half));
    OK(MPI_Intercomm_create(half, 0, parent, !(rank % 2), round, &inter));
    OK(MPI_Comm_free(&half));
    if (rank < 2) {
        OK(MPI_Send(out, 3, MPI_INT, 0, round, inter));
        OK(MPI_Recv(in, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status));
        CHECK(in[0] == number && in[1] == round && in[2] == !rank);
    }
    OK(MPI_Comm_free(&inter));
}

static void* work(void* argument) {
    const int number = (int)(long)argument;
    for (int round = 0; round < ROUNDS; ++round) one_round(parents[number], number, round);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; ++i) OK(MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]));
    for (long i = 0; i < THREADS; ++i)
        CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; ++i) OK(MPI_Comm_free(&parents[i]));
    MPI_Finalize();
    return 0;
}
