/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests (MPI 5.0, 3.9), generalized requests (13.2), and MPI_Isendrecv. */
#include <pthread.h>

#include "check.h"

enum { BIG = 100000, ROUNDS = 20 };

static int rank, size, next, before;
static char out[BIG], in[BIG], idle_out[BIG], idle_in[BIG];

static void all_modes(void) {
    const int lengths[] = {0, 8, 8193, BIG};
    for (int l = 0; l < 4; ++l) {
        const int n = lengths[l];
        MPI_Request requests[5];
        MPI_Status statuses[5];
        OK(MPI_Recv_init(in, n, MPI_CHAR, before, 1, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Send_init(out, n, MPI_CHAR, next, 1, MPI_COMM_WORLD, &requests[1]));
        for (int round = 0; round < ROUNDS; ++round) {
            memset(out, rank + round, (size_t)n);
            memset(in, 99, (size_t)n);
            OK(MPI_Startall(2, requests));
            OK(MPI_Waitall(2, requests, statuses));
            CHECK(statuses[0].MPI_SOURCE == before && statuses[0].MPI_TAG == 1);
            int count;
            OK(MPI_Get_count(&statuses[0], MPI_CHAR, &count));
            CHECK(count == n);
            for (int i = 0; i < n; ++i) CHECK(in[i] == (char)(before + round));
        }
        OK(MPI_Request_free(&requests[0]));
        OK(MPI_Request_free(&requests[1]));
        CHECK(requests[0] == MPI_REQUEST_NULL);

        OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
        OK(MPI_Recv_init(in, n, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                         &requests[0]));
        OK(MPI_Ssend_init(out, n, MPI_CHAR, next, 2, MPI_COMM_WORLD, &requests[1]));
        OK(MPI_Bsend_init(out, n, MPI_CHAR, next, 3, MPI_COMM_WORLD, &requests[2]));
        for (int mode = 1; mode <= 2; ++mode) {
            OK(MPI_Start(&requests[0]));
            OK(MPI_Start(&requests[mode]));
            OK(MPI_Wait(&requests[0], &statuses[0]));
            CHECK(statuses[0].MPI_TAG == mode + 1);
            OK(MPI_Wait(&requests[mode], MPI_STATUS_IGNORE));
            int flag = 0; /* inactive again: complete, with an empty status */
            OK(MPI_Test(&requests[0], &flag, &statuses[0]));
            CHECK(flag && statuses[0].MPI_SOURCE == MPI_ANY_SOURCE);
            CHECK(requests[0] != MPI_REQUEST_NULL);
        }
        for (int i = 0; i < 3; ++i) OK(MPI_Request_free(&requests[i]));
        void* buffer;
        int buffer_size;
        OK(MPI_Buffer_detach(&buffer, &buffer_size));
    }
}

static void null_processes(void) {
    MPI_Request requests[2];
    MPI_Status status;
    OK(MPI_Recv_init(in, 1, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Send_init(out, 1, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]));
    for (int i = 0; i < 3; ++i) {
        OK(MPI_Startall(2, requests));
        OK(MPI_Wait(&requests[0], &status));
        CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
        OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

/* Requests are freed while active, and started although their communicator has been freed. */
static void freed(void) {
    MPI_Comm comm;
    MPI_Request send, receive;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Send_init(out, 10, MPI_CHAR, next, 4, comm, &send));
    OK(MPI_Recv_init(in, 10, MPI_CHAR, before, 4, comm, &receive));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Start(&receive));
    OK(MPI_Start(&send));
    OK(MPI_Request_free(&send));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&receive));
}

static void cancelled(void) {
    MPI_Request receive;
    MPI_Status status;
    int flag = 0;
    OK(MPI_Recv_init(in, 10, MPI_CHAR, before, 5, MPI_COMM_WORLD, &receive));
    for (int i = 0; i < 2; ++i) {
        OK(MPI_Start(&receive));
        OK(MPI_Cancel(&receive));
        OK(MPI_Wait(&receive, &status));
        OK(MPI_Test_cancelled(&status, &flag));
        CHECK(flag);
    }
    OK(MPI_Request_free(&receive));
}

static void wrong(void) {
    MPI_Request request = MPI_REQUEST_NULL, other;
    FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
    OK(MPI_Irecv(in, 1, MPI_CHAR, rank, 6, MPI_COMM_WORLD, &request));
    FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Recv_init(in, 1, MPI_CHAR, rank, 6, MPI_COMM_WORLD, &request));
    OK(MPI_Start(&request));
    FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    other = request;
    OK(MPI_Request_free(&request));
    FAILS(MPI_Start(&other), MPI_ERR_REQUEST);
    FAILS(MPI_Startall(-1, &other), MPI_ERR_COUNT);
    FAILS(MPI_Bsend_init(NULL, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request), MPI_ERR_BUFFER);
    OK(MPI_Bsend_init(out, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request));
    FAILS(MPI_Start(&request), MPI_ERR_BUFFER); /* no buffer is attached */
    OK(MPI_Request_free(&request));
}

/* --- MPI_Isendrecv --- */

static void isendrecv(void) {
    const int lengths[] = {0, 4, 8193, BIG};
    for (int l = 0; l < 4; ++l) {
        const int n = lengths[l];
        MPI_Request request;
        MPI_Status status;
        int count;
        memset(out, rank + 1, BIG);
        OK(MPI_Isendrecv(out, n, MPI_CHAR, next, 7, in, BIG, MPI_CHAR, before, 7, MPI_COMM_WORLD,
                         &request));
        OK(MPI_Wait(&request, &status));
        OK(MPI_Get_count(&status, MPI_CHAR, &count));
        CHECK(request == MPI_REQUEST_NULL && status.MPI_SOURCE == before && count == n);
        CHECK(n == 0 || (in[0] == before + 1 && in[n - 1] == before + 1));

        OK(MPI_Isendrecv_replace(out, n, MPI_CHAR, next, 8, before, 8, MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, &status));
        CHECK(status.MPI_SOURCE == before && status.MPI_TAG == 8);
        CHECK(n == 0 || (out[0] == before + 1 && out[n - 1] == before + 1));

        OK(MPI_Isendrecv(out, n, MPI_CHAR, MPI_PROC_NULL, 7, in, 1, MPI_CHAR, MPI_PROC_NULL, 7,
                         MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, &status));
        CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
        /* The request is freed without waiting; the other side's messages are matched all the
         * same. */
        OK(MPI_Isendrecv(idle_out, n, MPI_CHAR, next, 9, idle_in, BIG, MPI_CHAR, before, 9,
                         MPI_COMM_WORLD, &request));
        OK(MPI_Request_free(&request));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    /* The message is too long: a part of it comes, and the error. It goes to the rank itself, so
     * that both halves take the long path. */
    MPI_Request request;
    memset(out, 3, BIG);
    OK(MPI_Isendrecv(out, BIG, MPI_CHAR, rank, 7, in, 10, MPI_CHAR, rank, 7, MPI_COMM_WORLD,
                     &request));
    FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
}

/* --- generalized requests --- */

static int queried, freed_states;
static int query(void* state, MPI_Status* status) {
    ++queried;
    status->MPI_SOURCE = *(int*)state;
    status->MPI_TAG = 12;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int release(void* state) {
    freed_states += *(int*)state;
    return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}
static void* complete(void* request) {
    OK(MPI_Grequest_complete(*(MPI_Request*)request));
    return NULL;
}

static void generalized(void) {
    int state = 5, count = 0, flag = -1;
    MPI_Request request, copy;
    MPI_Status status;
    pthread_t thread;
    OK(MPI_Grequest_start(query, release, cancel, &state, &request));
    OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag);
    copy = request;
    CHECK(pthread_create(&thread, NULL, complete, &copy) == 0);
    OK(MPI_Wait(&request, &status));
    pthread_join(thread, NULL);
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(status.MPI_SOURCE == 5 && status.MPI_TAG == 12 && count == 3);
    CHECK(queried == 1 && freed_states == 5 && request == MPI_REQUEST_NULL);

    OK(MPI_Grequest_start(query, release, cancel, &state, &request));
    copy = request;
    OK(MPI_Request_free(&request)); /* the state is needed until it is complete */
    CHECK(freed_states == 5);
    OK(MPI_Grequest_complete(copy));
    CHECK(freed_states == 10);
    OK(MPI_Grequest_start(query, release, cancel, &state, &request));
    OK(MPI_Grequest_complete(request));
    FAILS(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    OK(MPI_Request_free(&request));
    CHECK(freed_states == 15 && queried == 1);
    OK(MPI_Irecv(in, 1, MPI_CHAR, rank, 6, MPI_COMM_WORLD, &request));
    FAILS(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(void) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    all_modes();
    null_processes();
    freed();
    cancelled();
    wrong();
    isendrecv();
    generalized();
    MPI_Finalize();
    return 0;
}
