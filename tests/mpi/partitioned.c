/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned communication: a thread per partition, both sides cut differently, several at
 * once. */

#include <pthread.h>

#include "check.h"

enum { threads = 8, transfers = 20 };

static int rank, ranks, to, from;

struct part {
    MPI_Request request;
    int number;
    int* data;
    int length;
    int value;
};

static void* contribute(void* argument) {
    struct part* part = argument;
    for (int i = 0; i < part->length; ++i)
        part->data[part->number * part->length + i] = part->value + i;
    OK(MPI_Pready(part->number, part->request));
    return NULL;
}

/* Each of 8 threads contributes a partition of `length` ints. The receiver has `cuts`
 * partitions. */
static void by_threads(int length, int cuts) {
    const int total = threads * length;
    int *out = calloc(total, sizeof *out), *in = calloc(total, sizeof *in);
    MPI_Request send, receive;
    OK(MPI_Psend_init(out, threads, length, MPI_INT, to, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(in, cuts, total / cuts, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &receive));
    for (int transfer = 0; transfer < transfers; ++transfer) {
        struct part parts[threads];
        pthread_t workers[threads];
        OK(MPI_Start(&receive));
        OK(MPI_Start(&send));
        for (int i = 0; i < threads; ++i) {
            parts[i] = (struct part){send, i, out, length, rank * 100000 + transfer * 1000 + i};
            CHECK(pthread_create(&workers[i], NULL, contribute, &parts[i]) == 0);
        }
        for (int cut = 0; cut < cuts; ++cut)
            for (int flag = 0; !flag;) OK(MPI_Parrived(receive, cut, &flag));
        for (int i = 0; i < threads; ++i) pthread_join(workers[i], NULL);
        MPI_Status status;
        OK(MPI_Wait(&receive, &status));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        int count;
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == total && status.MPI_SOURCE == from && status.MPI_TAG == 7);
        for (int i = 0; i < threads; ++i)
            for (int k = 0; k < length; ++k)
                CHECK(in[i * length + k] == from * 100000 + transfer * 1000 + i + k);
        int flag = 0;
        OK(MPI_Parrived(receive, 0, &flag));
        CHECK(flag == 1);
    }
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
    free(out), free(in);
}

/* Several requests of the same tag pair in the order in which they were made; partitions in any
 * order. */
static void in_order(void) {
    enum { several = 5, partitions = 6 };
    int out[several][partitions], in[several][partitions];
    MPI_Request requests[2 * several];
    for (int i = 0; i < several; ++i)
        OK(MPI_Psend_init(out[i], partitions, 1, MPI_INT, to, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &requests[several + i]));
    for (int i = 0; i < several; ++i)
        OK(MPI_Precv_init(in[i], 1, partitions, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &requests[i]));
    for (int transfer = 0; transfer < 3; ++transfer) {
        OK(MPI_Startall(2 * several, requests));
        for (int i = several - 1; i >= 0; --i) {
            for (int k = 0; k < partitions; ++k) out[i][k] = rank * 100 + i * 10 + k + transfer;
            const int list[] = {5, 0};
            OK(MPI_Pready_list(2, list, requests[several + i]));
            OK(MPI_Pready_range(1, 4, requests[several + i]));
        }
        OK(MPI_Waitall(2 * several, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < several; ++i)
            for (int k = 0; k < partitions; ++k)
                CHECK(in[i][k] == from * 100 + i * 10 + k + transfer);
    }
    for (int i = 0; i < 2 * several; ++i) OK(MPI_Request_free(&requests[i]));
}

/* Empty partitions arrive, too, and not before they are ready. */
static void empty(void) {
    MPI_Request send, receive;
    int flag;
    OK(MPI_Psend_init(NULL, 3, 0, MPI_INT, to, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(NULL, 3, 0, MPI_INT, from, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    OK(MPI_Start(&receive));
    for (int i = 0; i < 3; ++i) {
        OK(MPI_Parrived(receive, i, &flag));
        CHECK(flag == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Start(&send));
    OK(MPI_Pready_range(0, 2, send));
    for (int i = 0; i < 3; ++i)
        for (flag = 0; !flag;) OK(MPI_Parrived(receive, i, &flag));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
}

/* Tests layouts on either side, also if the sender's cuts fall into elements of the receiver. */
static void laid_out(int count, int partitions) {
    MPI_Datatype pairs, triples;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pairs));
    OK(MPI_Type_create_resized(pairs, 0, 16, &triples)); /* two of four ints */
    OK(MPI_Type_commit(&triples));
    MPI_Type_free(&pairs);
    const int elements = count * partitions;
    int *out = malloc(elements * 8), *in = malloc(elements * 16);
    for (int i = 0; i < 2 * elements; ++i) out[i] = rank * 1000 + i;
    for (int i = 0; i < 4 * elements; ++i) in[i] = -1;
    MPI_Request requests[2];
    /* Ints are sent in up to three partitions, and received as elements of two. */
    const int sent = 2 * elements % 3 == 0 ? 3 : 1;
    OK(MPI_Precv_init(in, partitions, count, triples, from, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[0]));
    OK(MPI_Psend_init(out, sent, 2 * elements / sent, MPI_INT, to, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[1]));
    MPI_Type_free(&triples);
    OK(MPI_Startall(2, requests));
    OK(MPI_Pready_range(0, sent - 1, requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < elements; ++i) {
        CHECK(in[4 * i] == from * 1000 + 2 * i && in[4 * i + 2] == from * 1000 + 2 * i + 1);
        CHECK(in[4 * i + 1] == -1 && in[4 * i + 3] == -1);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    free(out), free(in);
}

static void wrong_calls(void) {
    int data[4] = {0}, flag;
    MPI_Request send, receive, plain;
    FAILS(MPI_Psend_init(data, 0, 1, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send),
          MPI_ERR_ARG);
    FAILS(MPI_Psend_init(data, 2, -1, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send),
          MPI_ERR_COUNT);
    FAILS(MPI_Psend_init(data, 2, 1, MPI_INT, ranks, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send),
          MPI_ERR_RANK);
    FAILS(MPI_Precv_init(data, 2, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &receive),
          MPI_ERR_RANK);
    FAILS(MPI_Precv_init(data, 2, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &receive),
          MPI_ERR_TAG);
    OK(MPI_Psend_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    FAILS(MPI_Pready(0, send), MPI_ERR_REQUEST);
    OK(MPI_Start(&send));
    OK(MPI_Pready_range(0, 3, send));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&send));
    OK(MPI_Irecv(data, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &plain));
    FAILS(MPI_Pready(0, plain), MPI_ERR_REQUEST);
    OK(MPI_Cancel(&plain));
    OK(MPI_Wait(&plain, MPI_STATUS_IGNORE));

    int in[4];
    OK(MPI_Psend_init(data, 4, 1, MPI_INT, to, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(in, 4, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    OK(MPI_Start(&send));
    OK(MPI_Start(&receive));
    FAILS(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST);
    FAILS(MPI_Pready(0, receive), MPI_ERR_REQUEST);
    FAILS(MPI_Pready(4, send), MPI_ERR_ARG);
    FAILS(MPI_Parrived(receive, -1, &flag), MPI_ERR_ARG);
    OK(MPI_Pready(1, send));
    FAILS(MPI_Pready(1, send), MPI_ERR_ARG);
    OK(MPI_Pready(0, send));
    OK(MPI_Pready_range(2, 3, send));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
}

int main(void) {
    start(&rank, &ranks, MPI_THREAD_MULTIPLE);
    to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    by_threads(1, 8);
    by_threads(3, 4);
    by_threads(20000, 1);
    by_threads(600, 32);
    in_order();
    empty();
    laid_out(3, 2);
    laid_out(300, 5);
    laid_out(4, 1);
    wrong_calls();
    MPI_Finalize();
    return 0;
}
