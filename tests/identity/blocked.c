/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads wait for messages, while membarrier is refused to some ranks (refuse.c). With an error's
   name as its argument, it is refused from the middle on. Every message arrives. Threads that wait
   for only one message, which comes late, are not woken in vain all the time. */
#include "refuse.h"

#include "../mpi/check.h"
#include "../mpi/counter.h"

#include <pthread.h>
#include <time.h>

enum { threads = 16, messages = 300 };

static int rank, size;

static double now(void) { return MPI_Wtime(); }

static void pass_time(double seconds) {
    const struct timespec time = {(time_t)seconds,
                                  (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/* Exchanges messages with a partner in the next rank and one in the rank before. */
static void* talk(void* number) {
    const int tag = (int)(size_t)number;
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < messages; ++i) {
        int sent = rank * messages + i, got = -1;
        MPI_Request request;
        OK(MPI_Irecv(&got, 1, MPI_INT, before, tag, MPI_COMM_WORLD, &request));
        if (i % 50 == tag % 50) pass_time(0.003); /* long enough for the other threads to sleep */
        OK(MPI_Send(&sent, 1, MPI_INT, next, tag, MPI_COMM_WORLD));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(got == before * messages + i);
    }
    return NULL;
}

/* Reduces. Collectives advance by completion: their stages have listeners, no waiting thread. */
static void* reduce(void* communicator) {
    for (int i = 0; i < 40; ++i) {
        int sum = 0;
        MPI_Request request;
        OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, *(MPI_Comm*)communicator, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(sum == size * (size - 1) / 2);
    }
    return NULL;
}

static void* wait_for_the_late_one(void* number) {
    int got = -1;
    OK(MPI_Recv(&got, 1, MPI_INT, 0, 1000 + (int)(size_t)number, MPI_COMM_WORLD,
                MPI_STATUS_IGNORE));
    CHECK(got == 7);
    return NULL;
}

static void in_threads(void* (*body)(void*)) {
    pthread_t all[threads];
    for (size_t i = 0; i < threads; ++i) CHECK(pthread_create(&all[i], NULL, body, (void*)i) == 0);
    for (size_t i = 0; i < threads; ++i) pthread_join(all[i], NULL);
}

static void talk_and_reduce(MPI_Comm communicator) {
    pthread_t other;
    CHECK(pthread_create(&other, NULL, reduce, &communicator) == 0);
    in_threads(talk);
    pthread_join(other, NULL);
}

/* Lets rank 0 sleep for a while and then send. The waiting ranks measure the time. */
static void wait_for_long(void) {
    const int seven = 7;
    const double begin = now();
    const unsigned long long before = counter("wakeups");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        pass_time(2);
        for (int to = 1; to < size; ++to)
            for (int i = 0; i < threads; ++i)
                OK(MPI_Send(&seven, 1, MPI_INT, to, 1000 + i, MPI_COMM_WORLD));
    } else {
        in_threads(wait_for_the_late_one);
        const double each = (double)(counter("wakeups") - before) / threads;
        const double a_second = each / (now() - begin);
        if (a_second > 100) {
            fprintf(stderr, "rank %d: each thread that waits is woken %.0f times in a second\n",
                    rank, a_second);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
    MPI_Comm communicator;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &communicator));
    if (argc > 1) talk_and_reduce(communicator);
    if (argc > 1 && refuse(SYS_membarrier, error_named(argv[1])) != 0) {
        fprintf(stderr, "filters are forbidden here\n");
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
    talk_and_reduce(communicator);
    wait_for_long();
    OK(MPI_Comm_free(&communicator));
    return MPI_Finalize();
}
