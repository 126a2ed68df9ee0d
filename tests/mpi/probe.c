/* SPDX-License-Identifier: BSD-3-Clause */
/* Probing and matched receives (MPI 5.0, 3.8). */
#include <pthread.h>

#include "check.h"

enum { BIG = 50000 };
static int rank, size, next, before;
static char out[BIG], in[BIG];

/* The tag of this round: a neighbour may be a round ahead. */
static int sent_tag;

static void blocking(int n, int source, int wanted) {
    const int tag = wanted == MPI_ANY_TAG ? MPI_ANY_TAG : ++sent_tag;
    MPI_Status status;
    MPI_Request request;
    int count, flag;
    OK(MPI_Isend(out, n, MPI_CHAR, next, sent_tag, MPI_COMM_WORLD, &request));
    OK(MPI_Probe(source, tag, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_CHAR, &count));
    CHECK(status.MPI_SOURCE == before && status.MPI_TAG == sent_tag && count == n);
    OK(MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &status)); /* the message is still there */
    CHECK(flag);
    OK(MPI_Recv(in, n, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                MPI_STATUS_IGNORE));
    OK(MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &status));
    CHECK(!flag);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void matched(int n, int source, int wanted) {
    const int tag = wanted == MPI_ANY_TAG ? MPI_ANY_TAG : ++sent_tag;
    MPI_Status status;
    MPI_Message message, second, stale;
    MPI_Request requests[3];
    int flag = 0, count;
    memset(out, rank + 1, (size_t)n);
    OK(MPI_Issend(out, n, MPI_CHAR, next, sent_tag, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(out, n, MPI_CHAR, next, sent_tag, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, &status));
    OK(MPI_Get_count(&status, MPI_CHAR, &count));
    CHECK(status.MPI_SOURCE == before && count == n);
    while (!flag) OK(MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &second, &status));
    CHECK(message != second);
    OK(MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &stale, &status));
    CHECK(!flag);
    memset(in, 0, (size_t)n);
    OK(MPI_Imrecv(in, n, MPI_CHAR, &second, &requests[2]));
    CHECK(second == MPI_MESSAGE_NULL);
    OK(MPI_Wait(&requests[2], &status));
    CHECK(n == 0 || in[n - 1] == before + 1);
    stale = message;
    OK(MPI_Mrecv(in, n, MPI_CHAR, &message, &status));
    OK(MPI_Get_count(&status, MPI_CHAR, &count));
    CHECK(message == MPI_MESSAGE_NULL && count == n && status.MPI_TAG == sent_tag);
    FAILS(MPI_Mrecv(in, n, MPI_CHAR, &stale, &status), MPI_ERR_REQUEST);
    FAILS(MPI_Mrecv(in, n, MPI_CHAR, &message, &status), MPI_ERR_REQUEST);
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

static void too_short(void) {
    MPI_Message message;
    OK(MPI_Send(out, 100, MPI_CHAR, rank, 1, MPI_COMM_WORLD));
    OK(MPI_Mprobe(rank, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    FAILS(MPI_Mrecv(in, 10, MPI_CHAR, &message, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK(message == MPI_MESSAGE_NULL);
}

static void null_process(void) {
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int flag = 0;
    OK(MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    OK(MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &status));
    CHECK(flag);
    OK(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Mrecv(in, 1, MPI_CHAR, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &message, &status));
    CHECK(flag && message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Imrecv(in, 1, MPI_CHAR, &message, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

/* Threads probe for any message, and each message goes to one of them. */
enum { MESSAGES = 200, PROBERS = 3 };
static int received[PROBERS];

static void* take(void* argument) {
    const int number = (int)(long)argument;
    for (;;) {
        MPI_Message message;
        int value;
        OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
        OK(MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        if (value < 0) return NULL;
        ++received[number];
    }
}

static void threads_share(void) {
    pthread_t threads[PROBERS];
    for (int i = 0; i < PROBERS; ++i)
        CHECK(pthread_create(&threads[i], NULL, take, (void*)(long)i) == 0);
    for (int i = 0; i < MESSAGES; ++i) OK(MPI_Send(&i, 1, MPI_INT, next, i % 5, MPI_COMM_WORLD));
    const int stop = -1;
    for (int i = 0; i < PROBERS; ++i) OK(MPI_Send(&stop, 1, MPI_INT, next, 9, MPI_COMM_WORLD));
    int sum = 0;
    for (int i = 0; i < PROBERS; ++i) {
        pthread_join(threads[i], NULL);
        sum += received[i];
    }
    CHECK(sum == MESSAGES);
}

int main(void) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    const int lengths[] = {0, 10, 8193, BIG};
    for (int l = 0; l < 4; ++l) {
        blocking(lengths[l], before, 0);
        blocking(lengths[l], MPI_ANY_SOURCE, 0);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        blocking(lengths[l], before, MPI_ANY_TAG);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        matched(lengths[l], before, 0);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        matched(lengths[l], MPI_ANY_SOURCE, MPI_ANY_TAG);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    too_short();
    null_process();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    threads_share();
    MPI_Finalize();
    return 0;
}
