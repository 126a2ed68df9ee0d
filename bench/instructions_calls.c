/* SPDX-License-Identifier: BSD-3-Clause */

/* Driver for counting the instructions of calls in one run, under MPI_THREAD_MULTIPLE: 0 bytes for
 * messages, 8 for MPI_Put. instructions_faces.sh runs rank 0 under callgrind, which counts inside
 * functions named count_X. Each makes WINDOW calls, ROUNDS times. MPI_Wait and MPI_Test find
 * messages that have arrived. The source is plain MPI, for any ABI. */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { WINDOW = 100, ROUNDS = 20, WARM = 2, DATA = 1, CONTROL = 2 };

static char byte;
static int64_t value = 1;
static MPI_Request requests[WINDOW];
static MPI_Status statuses[WINDOW];
static MPI_Win win;

/* Each loop has two names. In the one not counted the loader binds symbols and the library fills
 * its pools. */
#define LOOP(name, call)                                    \
    __attribute__((noinline)) void count_##name(int peer) { \
        int flag;                                           \
        (void)peer, (void)flag;                             \
        for (int k = 0; k < WINDOW; ++k) call;              \
    }                                                       \
    __attribute__((noinline)) void warm_##name(int peer) {  \
        int flag;                                           \
        (void)peer, (void)flag;                             \
        for (int k = 0; k < WINDOW; ++k) call;              \
    }
LOOP(send, MPI_Send(&byte, 0, MPI_CHAR, peer, DATA, MPI_COMM_WORLD))
LOOP(isend, MPI_Isend(&byte, 0, MPI_CHAR, peer, DATA, MPI_COMM_WORLD, &requests[k]))
LOOP(irecv, MPI_Irecv(&byte, 0, MPI_CHAR, peer, DATA, MPI_COMM_WORLD, &requests[k]))
LOOP(wait, MPI_Wait(&requests[k], MPI_STATUS_IGNORE))
LOOP(wait_status, MPI_Wait(&requests[k], &statuses[k]))
LOOP(test, MPI_Test(&requests[k], &flag, MPI_STATUS_IGNORE))
LOOP(test_status, MPI_Test(&requests[k], &flag, &statuses[k]))
LOOP(put, MPI_Put(&value, 8, MPI_BYTE, peer, 0, 8, MPI_BYTE, win))
#define PICK(name, counted) ((counted) ? count_##name : warm_##name)

/* Sends a message in each direction. Receives posted before are then posted on both sides. */
static void meet(int peer) {
    MPI_Sendrecv(&byte, 0, MPI_CHAR, peer, CONTROL, &byte, 0, MPI_CHAR, peer, CONTROL,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Sends messages from rank `sender` to the other rank, which completes them by `finish`. */
static void window(int me, int sender, void (*start)(int), void (*irecv)(int),
                   void (*finish)(int)) {
    const int peer = 1 - me;
    if (me != sender) irecv(peer);
    meet(peer);
    if (me == sender) start(peer);
    if (me == sender && start != count_send && start != warm_send) {
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    } else if (me != sender) {
        for (int k = 0, there = 0; k < WINDOW; k += there)
            MPI_Request_get_status(requests[k], &there, MPI_STATUS_IGNORE);
        finish(peer);
    }
    meet(peer);
}

int main(int argc, char** argv) {
    int level, me;
    void* memory;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int k = -WARM; k < ROUNDS; ++k) {
        const int counted = k >= 0;
        window(me, 0, PICK(isend, counted), warm_irecv, warm_wait);
        window(me, 0, PICK(send, counted), warm_irecv, warm_wait);
        window(me, 1, warm_isend, PICK(irecv, counted), PICK(wait, counted));
        window(me, 1, warm_isend, warm_irecv, PICK(wait_status, counted));
        window(me, 1, warm_isend, warm_irecv, PICK(test, counted));
        window(me, 1, warm_isend, warm_irecv, PICK(test_status, counted));
        if (me == 0) {
            MPI_Win_lock_all(0, win);
            PICK(put, counted)(1);
            MPI_Win_unlock_all(win);
        }
    }
    if (me == 0)
        printf("calls=%d level=%d counted=isend,send,irecv,wait,wait_status,test,test_status,put\n",
               ROUNDS * WINDOW, level);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
