/* SPDX-License-Identifier: BSD-3-Clause */

/* Driver for counting the instructions of MPI_Isend and of a posted MPI_Irecv, 0 bytes, under
 * MPI_THREAD_MULTIPLE. instructions.sh runs rank 0 under callgrind, which counts only inside the
 * function named count_isend, count_irecv or count_nothing. Each makes WINDOW calls, ROUNDS times.
 * count_nothing calls an empty function of the same shape. The difference is therefore the MPI call
 * alone, but for two or three instructions. Rank 1 does the same outside callgrind.
 *
 * With SHORT_WINDOWS, windows have 8 messages and an MPI_Barrier between them. Programs that
 * exchange a few messages in each step do so. Receivers then sleep in barriers, since callgrind is
 * slow, so that senders notify them for some messages.
 *
 * A window precedes the counted ones, in functions of other names. In it the loader binds symbols,
 * and the library connects and fills its pools. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef SHORT_WINDOWS
enum { WINDOW = 8, ROUNDS = 400, DATA = 1 };
#else
enum { WINDOW = 128, ROUNDS = 50, DATA = 1, CONTROL = 2 };
#endif

static char byte;
static MPI_Request requests[WINDOW];

static int nothing(const void* buffer, int count, MPI_Datatype type, int peer, int tag,
                   MPI_Comm comm, MPI_Request* request) {
    (void)buffer, (void)count, (void)type, (void)peer, (void)tag, (void)comm, (void)request;
    return MPI_SUCCESS;
}

/* Volatile, so that the compiler cannot see through the call. */
static int (*volatile nothing_called)(const void*, int, MPI_Datatype, int, int, MPI_Comm,
                                      MPI_Request*) = nothing;

#define LOOP(function, call)                                                    \
    __attribute__((noinline)) void function(int peer) {                         \
        for (int k = 0; k < WINDOW; ++k)                                        \
            call(&byte, 0, MPI_CHAR, peer, DATA, MPI_COMM_WORLD, &requests[k]); \
    }

LOOP(count_isend, MPI_Isend)
LOOP(count_irecv, MPI_Irecv)
LOOP(count_nothing, nothing_called)
LOOP(warm_isend, MPI_Isend)
LOOP(warm_irecv, MPI_Irecv)

/* Sends a 0-byte message in each direction. Receives posted before are then posted on both
 * sides. */
static void meet(int peer) {
#ifdef SHORT_WINDOWS
    (void)peer;
    MPI_Barrier(MPI_COMM_WORLD);
#else
    MPI_Sendrecv(&byte, 0, MPI_CHAR, peer, CONTROL, &byte, 0, MPI_CHAR, peer, CONTROL,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
}

static void window(int me, void (*isend)(int), void (*irecv)(int), int sender) {
    const int peer = 1 - me;
    if (me != sender) irecv(peer);
    meet(peer);
    if (me == sender) isend(peer);
    /* The loop does not block: a sender under callgrind is slow, so that each message would wake a
     * receiver. */
    for (int over = 0; !over;) MPI_Testall(WINDOW, requests, &over, MPI_STATUSES_IGNORE);
    meet(peer);
}

int main(int argc, char** argv) {
    int level, me;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int k = 0; k < 4; ++k) window(me, warm_isend, warm_irecv, k % 2);
    for (int k = 0; k < 2 * ROUNDS; ++k) window(me, count_isend, count_irecv, k % 2);
    for (int k = 0; k < ROUNDS; ++k) count_nothing(1 - me);
    if (me == 0) printf("calls=%d level=%d counted=isend,irecv\n", ROUNDS * WINDOW, level);
    MPI_Finalize();
    return 0;
}
