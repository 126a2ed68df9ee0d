/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators (MPI 5.0, 7.6): the even ranks of the world on one side, the odd ones on the
 * other. */
#include <pthread.h>

#include "check.h"

static int rank, size;
static MPI_Comm local, inter;
static int side, my_rank, mine, theirs; /* mine, theirs: sizes of both groups */

/* Returns the world rank of a process of a side. */
static int world_rank(int of_side, int number) { return 2 * number + of_side; }

static int relation(MPI_Comm a, MPI_Comm b) {
    int result = -1;
    OK(MPI_Comm_compare(a, b, &result));
    return result;
}

/* Each rank sends to each rank of the other side, which receives from any source. `base` is the
 * world rank of rank 0 of the other side, `step` the distance of two ranks. */
static void cross(MPI_Comm comm, int remote, int base, int step) {
    MPI_Request requests[64];
    int out = rank;
    CHECK(remote <= 64);
    for (int i = 0; i < remote; ++i) OK(MPI_Isend(&out, 1, MPI_INT, i, 5, comm, &requests[i]));
    for (int i = 0; i < remote; ++i) {
        int in = -1;
        MPI_Status status;
        OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, i % 2 ? MPI_ANY_TAG : 5, comm, &status));
        CHECK(in == base + step * status.MPI_SOURCE);
        CHECK(status.MPI_TAG == 5);
    }
    OK(MPI_Waitall(remote, requests, MPI_STATUSES_IGNORE));
}

static void looks_right(MPI_Comm comm) {
    int flag, n, me;
    OK(MPI_Comm_test_inter(comm, &flag));
    CHECK(flag);
    OK(MPI_Comm_size(comm, &n));
    CHECK(n == mine);
    OK(MPI_Comm_remote_size(comm, &n));
    CHECK(n == theirs);
    OK(MPI_Comm_rank(comm, &me));
    CHECK(me == my_rank);
    MPI_Group group, world;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Comm_remote_group(comm, &group));
    for (int i = 0; i < theirs; ++i) {
        int translated;
        OK(MPI_Group_translate_ranks(group, 1, &i, world, &translated));
        CHECK(translated == world_rank(!side, i));
    }
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_group(comm, &group));
    int result;
    MPI_Group of_local;
    OK(MPI_Comm_group(local, &of_local));
    OK(MPI_Group_compare(group, of_local, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Group_free(&of_local));
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
    cross(comm, theirs, !side, 2);
    /* MPI_ANY_TAG must not receive later messages. */
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Sends large messages and synchronous ones, by rank, and messages in the local group at the same
 * time. */
static void messages(void) {
    enum { MANY = 100000 };
    int* data = malloc(MANY * sizeof *data);
    int* got = malloc(MANY * sizeof *got);
    for (int i = 0; i < MANY; ++i) data[i] = rank + i;
    if (my_rank < theirs && my_rank < mine) {
        MPI_Request send;
        MPI_Status status;
        int count;
        OK(MPI_Issend(data, MANY, MPI_INT, my_rank, 1, inter, &send));
        OK(MPI_Probe(my_rank, 1, inter, &status));
        OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK(count == MANY && status.MPI_SOURCE == my_rank);
        OK(MPI_Recv(got, MANY, MPI_INT, my_rank, 1, inter, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        for (int i = 0; i < MANY; ++i) CHECK(got[i] == world_rank(!side, my_rank) + i);
    }
    int out = rank, in = -1;
    OK(MPI_Sendrecv(&out, 1, MPI_INT, (my_rank + 1) % mine, 1, &in, 1, MPI_INT,
                    (my_rank + mine - 1) % mine, 1, local, MPI_STATUS_IGNORE));
    CHECK(in == world_rank(side, (my_rank + mine - 1) % mine));
    free(data);
    free(got);
}

static void copies(void) {
    MPI_Comm made, other;
    MPI_Request request;
    MPI_Info info;
    OK(MPI_Comm_dup(inter, &made));
    looks_right(made);
    CHECK(relation(made, inter) == MPI_CONGRUENT);
    CHECK(relation(made, made) == MPI_IDENT);
    CHECK(relation(made, local) == MPI_UNEQUAL);
    CHECK(relation(local, made) == MPI_UNEQUAL);
    /* A message in one communicator is not seen in the other. */
    if (my_rank == 0) {
        int one = 1, two = 2, got = 0;
        OK(MPI_Send(&one, 1, MPI_INT, 0, 9, inter));
        OK(MPI_Send(&two, 1, MPI_INT, 0, 9, made));
        OK(MPI_Recv(&got, 1, MPI_INT, 0, 9, made, MPI_STATUS_IGNORE));
        CHECK(got == 2);
        OK(MPI_Recv(&got, 1, MPI_INT, 0, 9, inter, MPI_STATUS_IGNORE));
        CHECK(got == 1);
    }
    OK(MPI_Comm_idup(made, &other, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&made));
    looks_right(other);
    OK(MPI_Comm_free(&other));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(MPI_Comm_dup_with_info(inter, info, &made));
    int number;
    FAILS(MPI_Recv(&number, 1, MPI_INT, 0, MPI_ANY_TAG, made, MPI_STATUS_IGNORE), MPI_ERR_TAG);
    OK(MPI_Comm_free(&made));
    OK(MPI_Info_free(&info));
}

static void merges(void) {
    MPI_Comm made;
    int me, n;
    OK(MPI_Intercomm_merge(inter, side == 0, &made)); /* the odd ranks first */
    OK(MPI_Comm_rank(made, &me));
    OK(MPI_Comm_size(made, &n));
    CHECK(n == size && me == (side == 1 ? my_rank : theirs + my_rank));
    OK(MPI_Comm_test_inter(made, &n));
    CHECK(!n);
    int in = -1;
    OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % size, 0, &in, 1, MPI_INT, (me + size - 1) % size, 0,
                    made, MPI_STATUS_IGNORE));
    CHECK(in == (me + size - 1) % size);
    OK(MPI_Comm_free(&made));
    OK(MPI_Intercomm_merge(inter, side == 1, &made)); /* the even ranks first */
    OK(MPI_Comm_rank(made, &me));
    CHECK(me == (side == 0 ? my_rank : theirs + my_rank));
    OK(MPI_Comm_free(&made));
    for (int high = 0; high < 2; ++high) { /* either order, the same on all ranks */
        OK(MPI_Intercomm_merge(inter, high, &made));
        OK(MPI_Comm_rank(made, &me));
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, (me + 1) % size, 0, &in, 1, MPI_INT,
                        (me + size - 1) % size, 0, made, MPI_STATUS_IGNORE));
        OK(MPI_Comm_free(&made));
    }
}

static void splits(void) {
    MPI_Comm part;
    int n;
    /* Makes pairs of the same rank. A rank without a partner is alone, and gets nothing. */
    OK(MPI_Comm_split(inter, my_rank, 0, &part));
    const int has_partner = my_rank < theirs;
    CHECK((part != MPI_COMM_NULL) == has_partner);
    if (has_partner) {
        OK(MPI_Comm_remote_size(part, &n));
        CHECK(n == 1);
        cross(part, 1, world_rank(!side, my_rank), 0);
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Comm_split(inter, 3, -my_rank, &part)); /* both groups reversed */
    OK(MPI_Comm_rank(part, &n));
    CHECK(n == mine - 1 - my_rank);
    CHECK(relation(part, inter) == (mine > 1 || theirs > 1 ? MPI_SIMILAR : MPI_CONGRUENT));
    cross(part, theirs, world_rank(!side, theirs - 1), -2);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split(inter, side == 0 ? MPI_UNDEFINED : 1, 0, &part));
    CHECK(part == MPI_COMM_NULL);
    OK(MPI_Comm_split(inter, side, 0, &part)); /* no color on both sides */
    CHECK(part == MPI_COMM_NULL);
}

/* Both sides get the same communicator on any machine, and no rank waits alone. */
static void by_hardware(void) {
    MPI_Comm part;
    OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
    CHECK(relation(part, inter) == MPI_CONGRUENT);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part));
    if (part != MPI_COMM_NULL) OK(MPI_Comm_free(&part));
}

static void by_groups(void) {
    MPI_Comm made;
    MPI_Group group, part;
    const int last = mine - 1;
    OK(MPI_Comm_group(inter, &group));
    OK(MPI_Group_incl(group, 1, &last, &part)); /* the last rank of each side */
    OK(MPI_Comm_create(inter, part, &made));
    CHECK((made != MPI_COMM_NULL) == (my_rank == last));
    if (made != MPI_COMM_NULL) {
        cross(made, 1, world_rank(!side, theirs - 1), 0);
        OK(MPI_Comm_free(&made));
    }
    OK(MPI_Comm_create(inter, side == 0 ? MPI_GROUP_EMPTY : group, &made));
    CHECK(made == MPI_COMM_NULL);
    FAILS(MPI_Comm_create_group(inter, group, 0, &made), MPI_ERR_COMM);
    OK(MPI_Group_free(&part));
    OK(MPI_Comm_remote_group(inter, &part));
    FAILS(MPI_Comm_create(inter, part, &made), MPI_ERR_GROUP);
    OK(MPI_Group_free(&part));
    OK(MPI_Group_free(&group));
}

/* Makes an intercommunicator, with another one as the path between the leaders. */
static void by_intercommunicator(void) {
    MPI_Comm made;
    OK(MPI_Intercomm_create(local, mine - 1, inter, theirs - 1, 7, &made));
    looks_right(made);
    OK(MPI_Comm_free(&made));
}

static void wrong(void) {
    MPI_Comm made;
    int number;
    FAILS(MPI_Intercomm_merge(local, 0, &made), MPI_ERR_COMM);
    FAILS(MPI_Intercomm_merge(MPI_COMM_NULL, 0, &made), MPI_ERR_COMM);
    FAILS(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &made), MPI_ERR_COMM);
    FAILS(MPI_Intercomm_create(MPI_COMM_NULL, 0, MPI_COMM_WORLD, 0, 0, &made), MPI_ERR_COMM);
    FAILS(MPI_Intercomm_create(local, mine, MPI_COMM_WORLD, 0, 0, &made), MPI_ERR_RANK);
    FAILS(MPI_Intercomm_create(local, MPI_PROC_NULL, MPI_COMM_WORLD, 0, 0, &made), MPI_ERR_RANK);
    FAILS(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 0, -1, &made), MPI_ERR_TAG);
    FAILS(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 0, 0, NULL), MPI_ERR_ARG);
    FAILS(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, size, 0, &made), MPI_ERR_RANK);
    FAILS(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_NULL, 0, 0, &made), MPI_ERR_COMM);
    FAILS(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, rank, 0, &made), MPI_ERR_RANK);
    /* The whole group gets an error that only the leader can see. */
    FAILS(MPI_Intercomm_create(local, 0, MPI_COMM_NULL, 0, 0, &made), MPI_ERR_COMM);
    CHECK(made == MPI_COMM_NULL);
    /* Ranks are those of the other group. */
    FAILS(MPI_Send(NULL, 0, MPI_INT, theirs, 0, inter), MPI_ERR_RANK);
    FAILS(MPI_Recv(NULL, 0, MPI_INT, theirs, 0, inter, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    FAILS(MPI_Comm_split(inter, -3, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Comm_remote_size(local, &number), MPI_ERR_COMM);
}

/* If a leader's arguments are wrong, its group fails, and may call again. Until then the other
   group, which did nothing wrong, waits as for any call that is not made yet. */
static void second_try(void) {
    MPI_Comm made;
    if (side == 0) {
        FAILS(MPI_Intercomm_create(local, 0, MPI_COMM_NULL, 0, 21, &made), MPI_ERR_COMM);
        FAILS(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, size, 21, &made), MPI_ERR_RANK);
    }
    OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, !side, 21, &made));
    looks_right(made);
    OK(MPI_Comm_free(&made));
}

/* The groups share a process, which is in both calls at once by two threads: all ranks get the
 * error. */
static void* join_from_other_side(void* argument) {
    MPI_Comm made;
    FAILS(MPI_Intercomm_create(*(MPI_Comm*)argument, 0, MPI_COMM_WORLD, 0, 3, &made),
          MPI_ERR_GROUP);
    CHECK(made == MPI_COMM_NULL);
    return NULL;
}

static void overlapping(void) {
    MPI_Comm first, both, made;
    pthread_t thread;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : MPI_UNDEFINED, 0, &first));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, -rank, &both)); /* ranks 1, 0 */
    if (rank < 2) {
        CHECK(pthread_create(&thread, NULL, join_from_other_side, &both) == 0);
        if (rank == 0) {
            FAILS(MPI_Intercomm_create(first, 0, MPI_COMM_WORLD, 1, 3, &made), MPI_ERR_GROUP);
            CHECK(made == MPI_COMM_NULL);
            OK(MPI_Comm_free(&first));
        }
        pthread_join(thread, NULL);
        OK(MPI_Comm_free(&both));
    }
}

int main(void) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    CHECK(size > 1);
    side = rank % 2;
    my_rank = rank / 2;
    mine = (size + 1 - side) / 2;
    theirs = size - mine;
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local));
    OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, !side, 11, &inter));
    looks_right(inter);
    messages();
    copies();
    merges();
    splits();
    by_groups();
    by_hardware();
    by_intercommunicator();
    wrong();
    second_try();
    overlapping();
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&local));
    MPI_Finalize();
    return 0;
}
