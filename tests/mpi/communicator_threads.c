/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads make communicators at once, on parents of their own with overlapping processes. Their
 * order differs between the processes. No thread waits for another, and no context is used
 * twice. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 25 };

static int rank, size;
static MPI_Comm parents[THREADS];

/* Exchanges messages of the same tag in all that exist at once: a context used twice would mix
 * them. */
static void exchange(MPI_Comm comm, int what) {
    int me, n, got = -1;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Sendrecv(&what, 1, MPI_INT, (me + 1) % n, 0, &got, 1, MPI_INT, (me + n - 1) % n, 0, comm,
                    MPI_STATUS_IGNORE));
    CHECK(got == what);
}

static void* work(void* argument) {
    const int number = (int)(long)argument;
    MPI_Comm mine = parents[number];
    MPI_Comm kept[ROUNDS];
    for (int i = 0; i < ROUNDS; ++i) {
        MPI_Comm part;
        OK(MPI_Comm_dup(mine, &kept[i]));
        OK(MPI_Comm_split(mine, rank % 2, 0, &part));
        exchange(part, 1000 * number + 2 * i + rank % 2);
        exchange(kept[i], 1000 * number + i);
        OK(MPI_Comm_free(&part));
        MPI_Request request;
        OK(MPI_Comm_idup(kept[i], &part, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        exchange(part, 1000 * number + i);
        OK(MPI_Comm_free(&part));
    }
    for (int i = 0; i < ROUNDS; ++i) {
        exchange(kept[i], 1000 * number + i);
        OK(MPI_Comm_free(&kept[i]));
    }
    return NULL;
}

/* Makes communicators on one parent, told apart by tag. */
static void* work_with_tag(void* argument) {
    const int number = (int)(long)argument;
    MPI_Group group;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    for (int i = 0; i < ROUNDS; ++i) {
        MPI_Comm made;
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, number, &made));
        exchange(made, 1000 * number + i);
        OK(MPI_Comm_free(&made));
    }
    OK(MPI_Group_free(&group));
    return NULL;
}

static void on_threads(void* (*function)(void*)) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        const int number = (i + rank) % THREADS; /* in another order on each process */
        CHECK(pthread_create(&threads[i], NULL, function, (void*)(long)number) == 0);
    }
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
}

int main(void) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; ++i) {
        /* All ranks take part, in another order each time: other first members. */
        OK(MPI_Comm_split(MPI_COMM_WORLD, 0, (rank + i) % size, &parents[i]));
    }
    on_threads(work);
    on_threads(work_with_tag);
    for (int i = 0; i < THREADS; ++i) OK(MPI_Comm_free(&parents[i]));
    MPI_Finalize();
    return 0;
}
