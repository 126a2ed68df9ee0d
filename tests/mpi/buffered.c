/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends (MPI 5.0, 3.6): attached to the process, to a communicator, and automatic. A
 * buffer may be full, messages are longer than any ring, and flush and detach come while messages
 * wait. */
#include <pthread.h>

#include "check.h"

enum { BIG = 300000 };

static int rank, size;
static char out[BIG], in[BIG];

static void fill(char* data, int bytes, int seed) {
    for (int i = 0; i < bytes; ++i) data[i] = (char)(i * 7 + seed);
}
static int filled(const char* data, int bytes, int seed) {
    for (int i = 0; i < bytes; ++i)
        if (data[i] != (char)(i * 7 + seed)) return 0;
    return 1;
}

/* Sends to the rank itself, with no receive posted. The call returns, and the data may be
 * overwritten. */
static void send_before_receive(MPI_Comm comm, int bytes) {
    fill(out, bytes, bytes);
    OK(MPI_Bsend(out, bytes, MPI_CHAR, rank, 1, comm));
    MPI_Request request;
    OK(MPI_Ibsend(out, bytes, MPI_CHAR, rank, 2, comm, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    memset(out, 0, (size_t)bytes);
    OK(MPI_Recv(in, bytes, MPI_CHAR, rank, 2, comm, MPI_STATUS_IGNORE));
    CHECK(filled(in, bytes, bytes));
    OK(MPI_Recv(in, bytes, MPI_CHAR, rank, 1, comm, MPI_STATUS_IGNORE));
    CHECK(filled(in, bytes, bytes));
}

static void all_sizes(MPI_Comm comm) {
    const int sizes[] = {0, 1, 63, 64, 8192, 8193, BIG};
    for (int i = 0; i < 7; ++i) send_before_receive(comm, sizes[i]);
}

/* Sends to both neighbours before any rank receives. */
static void around(MPI_Comm comm, int bytes) {
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    fill(out, bytes, rank);
    OK(MPI_Bsend(out, bytes, MPI_CHAR, next, 3, comm));
    memset(out, 0, (size_t)bytes);
    OK(MPI_Recv(in, bytes, MPI_CHAR, before, 3, comm, MPI_STATUS_IGNORE));
    CHECK(filled(in, bytes, before));
    /* All ranks have received: the buffer is free again, whichever rank looks. */
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void attached_to_process(void) {
    const int room = 2 * (BIG + MPI_BSEND_OVERHEAD);
    char* buffer = malloc((size_t)room);
    void* back = NULL;
    int back_size = 0;
    OK(MPI_Buffer_attach(buffer, room));
    FAILS(MPI_Buffer_attach(buffer, room), MPI_ERR_BUFFER);
    all_sizes(MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) around(MPI_COMM_WORLD, BIG);
    around(MPI_COMM_WORLD, 100);
    OK(MPI_Buffer_detach(&back, &back_size));
    CHECK(back == buffer && back_size == room);
    FAILS(MPI_Buffer_detach(&back, &back_size), MPI_ERR_BUFFER);
    FAILS(MPI_Bsend(out, 1, MPI_CHAR, rank, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    free(buffer);
}

static void attached_to_communicator(void) {
    char buffer[4000], *back = NULL;
    MPI_Count back_size = 0;
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_attach_buffer(comm, buffer, sizeof buffer));
    send_before_receive(comm, 1000);
    FAILS(MPI_Bsend(out, 5000, MPI_CHAR, rank, 0, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Bsend(out, 10, MPI_CHAR, rank, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    OK(MPI_Comm_flush_buffer(comm));
    OK(MPI_Comm_detach_buffer_c(comm, &back, &back_size));
    CHECK(back == buffer && back_size == sizeof buffer);
    OK(MPI_Comm_attach_buffer(comm, buffer, sizeof buffer));
    OK(MPI_Comm_free(&comm)); /* detaches */
}

static void automatic(void) {
    void* back = NULL;
    int back_size = -1;
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    all_sizes(MPI_COMM_WORLD);
    for (int i = 0; i < 20; ++i) around(MPI_COMM_WORLD, i * 1000);
    OK(MPI_Buffer_flush());
    OK(MPI_Buffer_detach(&back, &back_size));
    CHECK(back == MPI_BUFFER_AUTOMATIC);
}

/* Pieces of a buffer become free when their messages are received, in another order than they were
 * sent. */
static void full_and_free_again(void) {
    const int piece = 20000;
    char* buffer = malloc(3 * (size_t)piece);
    void* back;
    int back_size;
    OK(MPI_Buffer_attach(buffer, 3 * piece));
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 3; ++i) {
            fill(out, piece, i);
            OK(MPI_Bsend(out, piece, MPI_CHAR, rank, i, MPI_COMM_WORLD));
        }
        FAILS(MPI_Bsend(out, piece, MPI_CHAR, rank, 9, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        OK(MPI_Recv(in, piece, MPI_CHAR, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(filled(in, piece, 1));
        fill(out, piece, 7);
        OK(MPI_Bsend(out, piece, MPI_CHAR, rank, 7, MPI_COMM_WORLD));
        const int rest[] = {7, 0, 2};
        for (int i = 0; i < 3; ++i) {
            OK(MPI_Recv(in, piece, MPI_CHAR, rank, rest[i], MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(filled(in, piece, rest[i]));
        }
    }
    OK(MPI_Buffer_detach(&back, &back_size));
    free(buffer);
}

static void* flush(void* argument) {
    (void)argument;
    OK(MPI_Buffer_flush());
    return NULL;
}

/* Several threads flush, and requests are pending, until the messages are received. */
static void flushes_wait(void) {
    void* back;
    int back_size, flag = -1;
    pthread_t threads[3];
    MPI_Request requests[2];
    MPI_Request nothing;
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    OK(MPI_Buffer_iflush(&nothing));
    OK(MPI_Wait(&nothing, MPI_STATUS_IGNORE));
    fill(out, BIG, 5);
    OK(MPI_Bsend(out, BIG, MPI_CHAR, rank, 1, MPI_COMM_WORLD));
    OK(MPI_Buffer_iflush(&requests[0]));
    OK(MPI_Bsend(out, BIG, MPI_CHAR, rank, 2, MPI_COMM_WORLD));
    OK(MPI_Buffer_iflush(&requests[1]));
    for (int i = 0; i < 3; ++i) CHECK(pthread_create(&threads[i], NULL, flush, NULL) == 0);
    OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Recv(in, BIG, MPI_CHAR, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Recv(in, BIG, MPI_CHAR, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(filled(in, BIG, 5));
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    OK(MPI_Buffer_detach(&back, &back_size));
}

static void wrong(void) {
    char buffer[10];
    MPI_Request request;
    FAILS(MPI_Buffer_attach(buffer, -1), MPI_ERR_ARG);
    FAILS(MPI_Buffer_attach(NULL, 10), MPI_ERR_BUFFER);
    FAILS(MPI_Ibsend(buffer, 1, MPI_CHAR, rank, 0, MPI_COMM_WORLD, &request), MPI_ERR_BUFFER);
    FAILS(MPI_Bsend(buffer, 1, MPI_CHAR, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    OK(MPI_Bsend(buffer, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
}

int main(void) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    attached_to_process();
    attached_to_communicator();
    automatic();
    full_and_free_again();
    flushes_wait();
    wrong();
    MPI_Finalize();
    return 0;
}
