/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking calls in opposite order from two threads of each of two processes. A thread in a
 * blocking call holds up no other one, in whatever order they come. Sources: "Fine-Grained
 * Multithreading Support for Hybrid Threaded MPI Programming", figure 1; MPI 5.0, 11.6.1. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 2, ROUNDS = 150, LARGE = 100000, LONGEST_SPIN = 1 << 18 };

typedef int Send(const void*, int, MPI_Datatype, int, int, MPI_Comm);

typedef struct {
    int bytes;
    Send* send;
} Case;

static const Case cases[] = {
    {0, MPI_Send}, {64, MPI_Send}, {LARGE, MPI_Send}, {64, MPI_Ssend}, {LARGE, MPI_Ssend}};
enum { CASES = sizeof cases / sizeof cases[0] };

static int rank, size;
static pthread_barrier_t both;

/* The data of one thread. The last byte of a message says its round and direction. */
typedef struct {
    int number;
    unsigned random;
    char out[LARGE], in[LARGE];
} Thread;
static Thread threads[THREADS];

/* The threads meet, and go on after different times: one may find the other blocked, or asleep. */
static void meet(Thread* me) {
    pthread_barrier_wait(&both);
    me->random = me->random * 1664525u + 1013904223u;
    const unsigned shift = me->random >> 28; /* short times as often as long ones */
    for (volatile unsigned spins = (me->random % LONGEST_SPIN) >> shift; spins > 0; --spins) {}
}

static void send_one(Thread* me, const Case* it, int tag, int round) {
    if (it->bytes > 0) me->out[it->bytes - 1] = (char)(round + 10 * rank);
    OK(it->send(me->out, it->bytes, MPI_CHAR, 1 - rank, tag, MPI_COMM_WORLD));
}

static void receive_one(Thread* me, const Case* it, int tag, int round) {
    MPI_Status status;
    int count = -1;
    OK(MPI_Recv(me->in, LARGE, MPI_CHAR, 1 - rank, tag, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_CHAR, &count));
    CHECK(count == it->bytes);
    CHECK(count == 0 || me->in[count - 1] == (char)(round + 10 * (1 - rank)));
}

/* The figure: thread 0 receives from the other process, thread 1 sends to it. */
static void one_call_each(Thread* me, const Case* it, int round) {
    if (me->number == 0)
        receive_one(me, it, 0, round);
    else
        send_one(me, it, 0, round);
}

/* Thread 0 answers the message of thread 1 of the other process. */
static void two_calls_each(Thread* me, const Case* it, int round) {
    if (me->number == 0) {
        receive_one(me, it, 0, round);
        send_one(me, it, 1, round);
    } else {
        send_one(me, it, 0, round);
        receive_one(me, it, 1, round);
    }
}

static void* work(void* argument) {
    Thread* me = argument;
    for (int i = 0; i < CASES; ++i) {
        for (int round = 0; round < ROUNDS; ++round) {
            meet(me);
            one_call_each(me, &cases[i], round);
            meet(me);
            two_calls_each(me, &cases[i], round);
        }
    }
    return NULL;
}

int main(void) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    CHECK(size == 2);
    CHECK(pthread_barrier_init(&both, NULL, THREADS) == 0);
    pthread_t others[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        threads[i].number = i;
        threads[i].random = (unsigned)(2 * rank + i);
        CHECK(pthread_create(&others[i], NULL, work, &threads[i]) == 0);
    }
    for (int i = 0; i < THREADS; ++i) pthread_join(others[i], NULL);
    pthread_barrier_destroy(&both);
    MPI_Finalize();
    return 0;
}
