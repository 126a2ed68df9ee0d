/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators made from groups and a string (MPI 5.0, 7.4.2 and 7.6.2), by several threads at
 * once, too. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 20 };

static int rank, size;
static MPI_Group world, mine, theirs; /* all ranks; those of this rank's parity; the others */

static void ring(MPI_Comm comm, int what) {
    int me, n, got = -1;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Sendrecv(&what, 1, MPI_INT, (me + 1) % n, 0, &got, 1, MPI_INT, (me + n - 1) % n, 0, comm,
                    MPI_STATUS_IGNORE));
    CHECK(got == what);
}

static int calls;
static void note(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    ++calls;
}

static void one_by_one(void) {
    MPI_Comm made;
    MPI_Info info;
    MPI_Errhandler handler;
    int result;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(MPI_Comm_create_errhandler(note, &handler));
    OK(MPI_Comm_create_from_group(world, "everybody", info, handler, &made));
    OK(MPI_Comm_compare(made, MPI_COMM_WORLD, &result));
    CHECK(result == MPI_CONGRUENT);
    ring(made, 1);
    /* Hints and error handler are as requested. */
    CHECK(MPI_Recv(NULL, 0, MPI_INT, 0, MPI_ANY_TAG, made, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK(calls == 1);
    OK(MPI_Comm_free(&made));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_create_from_group(mine, "parity", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    ring(made, rank % 2);
    OK(MPI_Comm_free(&made));
    OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "nobody", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                  &made));
    CHECK(made == MPI_COMM_NULL);
}

static void inter(void) {
    MPI_Comm made;
    int n, others, in = -1;
    if (size == 1) return;
    OK(MPI_Group_size(theirs, &others));
    OK(MPI_Group_size(mine, &n));
    /* Only the leader's remote group counts. */
    const int leader = n - 1;
    OK(MPI_Intercomm_create_from_groups(mine, leader, rank / 2 == leader ? theirs : MPI_GROUP_NULL,
                                        others - 1, "both", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                        &made));
    OK(MPI_Comm_remote_size(made, &n));
    CHECK(n == others);
    if (rank / 2 < others) {
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, rank / 2, 0, &in, 1, MPI_INT, rank / 2, 0, made,
                        MPI_STATUS_IGNORE));
        CHECK(in == (rank ^ 1));
    }
    OK(MPI_Comm_free(&made));
}

static void wrong(void) {
    MPI_Comm made;
    char longest[MPI_MAX_STRINGTAG_LEN + 1];
    memset(longest, 'x', sizeof longest);
    longest[MPI_MAX_STRINGTAG_LEN] = '\0';
    FAILS(MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made),
          MPI_ERR_GROUP);
    if (size > 1)
        FAILS(MPI_Comm_create_from_group(theirs, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made),
              MPI_ERR_GROUP);
    FAILS(MPI_Comm_create_from_group(world, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made),
          MPI_ERR_ARG);
    FAILS(MPI_Comm_create_from_group(world, longest, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made),
          MPI_ERR_ARG);
    FAILS(MPI_Comm_create_from_group(world, "x", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &made),
          MPI_ERR_ERRHANDLER);
    FAILS(MPI_Comm_create_from_group(world, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL),
          MPI_ERR_ARG);
    FAILS(MPI_Intercomm_create_from_groups(mine, -1, theirs, 0, "x", MPI_INFO_NULL,
                                           MPI_ERRORS_RETURN, &made),
          MPI_ERR_RANK);
    /* The whole group gets an error that only the leader can see. */
    FAILS(MPI_Intercomm_create_from_groups(mine, 0, theirs, size, "x", MPI_INFO_NULL,
                                           MPI_ERRORS_RETURN, &made),
          MPI_ERR_RANK);
    FAILS(MPI_Intercomm_create_from_groups(mine, 0, world, 0, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                           &made),
          MPI_ERR_GROUP);
    FAILS(MPI_Intercomm_create_from_groups(mine, 0, MPI_GROUP_NULL, 0, "x", MPI_INFO_NULL,
                                           MPI_ERRORS_RETURN, &made),
          MPI_ERR_GROUP);
}

/* Makes communicators in threads with strings of their own. Their order differs between the
 * processes. Intercommunicators have parents of their own, which share their leaders'
 * communicator. */
static void* work(void* argument) {
    const int number = (int)(long)argument;
    char string[32];
    snprintf(string, sizeof string, "thread %d", number);
    MPI_Comm local, both, merged;
    OK(MPI_Comm_create_from_group(mine, string, MPI_INFO_NULL, MPI_ERRORS_RETURN, &local));
    for (int i = 0; i < ROUNDS; ++i) {
        MPI_Comm made;
        OK(MPI_Comm_create_from_group(world, string, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
        ring(made, number * 1000 + i);
        OK(MPI_Comm_free(&made));
        if (size == 1) continue;
        if (i % 2 == 0)
            OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, !(rank % 2), number, &both));
        else
            OK(MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, string, MPI_INFO_NULL,
                                                MPI_ERRORS_RETURN, &both));
        OK(MPI_Intercomm_merge(both, rank % 2, &merged));
        ring(merged, number * 1000 + i);
        OK(MPI_Comm_free(&merged));
        OK(MPI_Comm_free(&both));
    }
    OK(MPI_Comm_free(&local));
    return NULL;
}

int main(void) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    int range[1][3] = {{rank % 2, size - 1, 2}};
    OK(MPI_Group_range_incl(world, 1, range, &mine));
    OK(MPI_Group_difference(world, mine, &theirs));
    one_by_one();
    inter();
    wrong();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        const int number = (i + rank) % THREADS;
        CHECK(pthread_create(&threads[i], NULL, work, (void*)(long)number) == 0);
    }
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    if (theirs != MPI_GROUP_EMPTY) OK(MPI_Group_free(&theirs));
    OK(MPI_Group_free(&mine));
    OK(MPI_Group_free(&world));
    MPI_Finalize();
    return 0;
}
