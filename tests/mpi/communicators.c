/* SPDX-License-Identifier: BSD-3-Clause */
/* Making, comparing, naming and freeing communicators (MPI 5.0, 7.4). */
#include "check.h"

static int rank, size;

/* Sends each rank around its communicator: the context works and is its own. */
static void ring(MPI_Comm comm) {
    int me, n, got = -1;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 3, &got, 1, MPI_INT, (me + n - 1) % n, 3, comm,
                    MPI_STATUS_IGNORE));
    CHECK(got == (me + n - 1) % n);
}

static int relation(MPI_Comm a, MPI_Comm b) {
    int result = -1;
    OK(MPI_Comm_compare(a, b, &result));
    return result;
}

static void duplicates(void) {
    MPI_Comm one, two;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &one));
    OK(MPI_Comm_dup(one, &two));
    CHECK(relation(one, one) == MPI_IDENT);
    CHECK(relation(one, two) == MPI_CONGRUENT);
    CHECK(relation(one, MPI_COMM_WORLD) == MPI_CONGRUENT);
    CHECK(relation(one, MPI_COMM_SELF) == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
    ring(one);
    ring(two);
    /* A message in one communicator is not seen in the other, with the same tag. */
    int in_one = 1, in_two = 2, got = 0;
    MPI_Request requests[2];
    OK(MPI_Isend(&in_one, 1, MPI_INT, rank, 7, one, &requests[0]));
    OK(MPI_Isend(&in_two, 1, MPI_INT, rank, 7, two, &requests[1]));
    OK(MPI_Recv(&got, 1, MPI_INT, rank, 7, two, MPI_STATUS_IGNORE));
    CHECK(got == 2);
    OK(MPI_Recv(&got, 1, MPI_INT, rank, 7, one, MPI_STATUS_IGNORE));
    CHECK(got == 1);
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Comm_free(&one));
    CHECK(one == MPI_COMM_NULL);
    ring(two);
    OK(MPI_Comm_free(&two));
}

static void nonblocking_duplicates(void) {
    enum { COUNT = 5 };
    MPI_Comm made[COUNT], blocking;
    MPI_Request requests[COUNT];
    for (int i = 0; i < COUNT; ++i) OK(MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &requests[i]));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &blocking));
    MPI_Status statuses[COUNT];
    OK(MPI_Waitall(COUNT, requests, statuses));
    for (int i = 0; i < COUNT; ++i) {
        CHECK(statuses[i].MPI_SOURCE == MPI_ANY_SOURCE && statuses[i].MPI_TAG == MPI_ANY_TAG);
        ring(made[i]);
        OK(MPI_Comm_free(&made[i]));
    }
    ring(blocking);
    OK(MPI_Comm_free(&blocking));
}

static void splits(void) {
    MPI_Comm part;
    int me, n;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part));
    OK(MPI_Comm_rank(part, &me));
    OK(MPI_Comm_size(part, &n));
    CHECK(n == (size + 1 - rank % 2) / 2);
    CHECK(me == n - 1 - rank / 2); /* the keys reverse the order */
    ring(part);
    OK(MPI_Comm_free(&part));

    OK(MPI_Comm_split(MPI_COMM_WORLD, 4, 0, &part)); /* equal keys: the order stays */
    CHECK(relation(part, MPI_COMM_WORLD) == MPI_CONGRUENT);
    OK(MPI_Comm_free(&part));

    OK(MPI_Comm_split(MPI_COMM_WORLD, 4, rank == 0 ? 1 : 0, &part));
    CHECK(relation(part, MPI_COMM_WORLD) == (size == 1 ? MPI_CONGRUENT : MPI_SIMILAR));
    ring(part);
    OK(MPI_Comm_free(&part));

    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &part));
    CHECK((part == MPI_COMM_NULL) == (rank == 0));
    if (part != MPI_COMM_NULL) {
        ring(part);
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
    CHECK(relation(part, MPI_COMM_WORLD) == MPI_CONGRUENT);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &part));
    CHECK(part == MPI_COMM_NULL);
    FAILS(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &part), MPI_ERR_ARG);
    FAILS(MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &part), MPI_ERR_ARG);
}

static void by_groups(void) {
    MPI_Group world, last_first, odd;
    MPI_Comm made;
    int range[1][3] = {{size - 1, 0, -1}};
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_range_incl(world, 1, range, &last_first));
    OK(MPI_Comm_create(MPI_COMM_WORLD, last_first, &made));
    int me;
    OK(MPI_Comm_rank(made, &me));
    CHECK(me == size - 1 - rank);
    ring(made);
    OK(MPI_Comm_free(&made));

    /* Only the members call it. */
    int odd_range[1][3] = {{1, size - 1, 2}};
    OK(MPI_Group_range_incl(world, size > 1, odd_range, &odd));
    if (rank % 2 == 1) {
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, odd, 0x7ffffffe, &made));
        ring(made);
        OK(MPI_Comm_free(&made));
    }
    OK(MPI_Comm_create(MPI_COMM_WORLD, odd, &made));
    CHECK((made == MPI_COMM_NULL) == (rank % 2 == 0));
    if (made != MPI_COMM_NULL) OK(MPI_Comm_free(&made));
    if (size > 1) FAILS(MPI_Comm_create(MPI_COMM_SELF, world, &made), MPI_ERR_GROUP);
    FAILS(MPI_Comm_create(MPI_COMM_SELF, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
    OK(MPI_Group_free(&odd));
    OK(MPI_Group_free(&last_first));
    OK(MPI_Group_free(&world));
}

static void names(void) {
    char name[MPI_MAX_OBJECT_NAME];
    char longest[2 * MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm made;
    OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14);
    OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &length));
    CHECK(strcmp(name, "MPI_COMM_NULL") == 0 && length == 13);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &made));
    OK(MPI_Comm_get_name(made, name, &length));
    CHECK(length == 0 && name[0] == '\0');
    OK(MPI_Comm_set_name(made, "halo"));
    OK(MPI_Comm_get_name(made, name, &length));
    CHECK(strcmp(name, "halo") == 0 && length == 4);
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    OK(MPI_Comm_set_name(made, longest));
    OK(MPI_Comm_get_name(made, name, &length));
    CHECK(length == MPI_MAX_OBJECT_NAME - 1 && name[length] == '\0');
    OK(MPI_Comm_free(&made));
}

static int hint(MPI_Comm comm, const char* key) {
    MPI_Info info;
    char value[16] = "";
    int flag = 0, length = sizeof value;
    OK(MPI_Comm_get_info(comm, &info));
    OK(MPI_Info_get_string(info, key, &length, value, &flag));
    CHECK(flag);
    OK(MPI_Info_free(&info));
    return strcmp(value, "true") == 0;
}

static void hints(void) {
    MPI_Info info;
    MPI_Comm made, copy;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(MPI_Info_set(info, "mpi_assert_no_any_source", "perhaps"));
    OK(MPI_Info_set(info, "somebody_elses_hint", "true"));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &made));
    CHECK(hint(made, "mpi_assert_no_any_tag"));
    CHECK(!hint(made, "mpi_assert_no_any_source"));
    CHECK(!hint(made, "mpi_assert_allow_overtaking"));
    int number;
    MPI_Request request;
    FAILS(MPI_Irecv(&number, 1, MPI_INT, rank, MPI_ANY_TAG, made, &request), MPI_ERR_TAG);
    OK(MPI_Comm_dup(made, &copy)); /* the copy has no hints */
    CHECK(!hint(copy, "mpi_assert_no_any_tag"));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
    OK(MPI_Info_set(info, "mpi_assert_no_any_source", "true"));
    OK(MPI_Comm_set_info(made, info));
    CHECK(!hint(made, "mpi_assert_no_any_tag"));
    FAILS(MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 1, made, &request), MPI_ERR_RANK);
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(&made));
}

static void wrong(void) {
    MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF, null = MPI_COMM_NULL, made, stale;
    int number;
    FAILS(MPI_Comm_free(&world), MPI_ERR_COMM);
    FAILS(MPI_Comm_free(&self), MPI_ERR_COMM);
    FAILS(MPI_Comm_free(&null), MPI_ERR_COMM);
    FAILS(MPI_Comm_free(NULL), MPI_ERR_ARG);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &made));
    stale = made;
    OK(MPI_Comm_free(&made));
    FAILS(MPI_Comm_rank(stale, &number), MPI_ERR_COMM);
    FAILS(MPI_Comm_free(&stale), MPI_ERR_COMM);
    FAILS(MPI_Comm_size(MPI_COMM_NULL, &number), MPI_ERR_COMM);
    FAILS(MPI_Comm_size(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    FAILS(MPI_Comm_remote_size(MPI_COMM_WORLD, &number), MPI_ERR_COMM);
    FAILS(MPI_Comm_set_name(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    OK(MPI_Comm_test_inter(MPI_COMM_WORLD, &number));
    CHECK(number == 0);
    OK(MPI_Comm_get_parent(&made));
    CHECK(made == MPI_COMM_NULL);
}

/* An operation that was started before its communicator is freed still completes. */
static void freed_with_pending(void) {
    MPI_Comm made;
    int out = 41 + rank, in = -1;
    MPI_Request requests[2];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
    OK(MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 0, made, &requests[0]));
    OK(MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 0, made, &requests[1]));
    OK(MPI_Comm_free(&made));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(in == 41 + (rank + size - 1) % size);
}

int main(void) {
    start(&rank, &size, MPI_THREAD_SINGLE);
    duplicates();
    nonblocking_duplicates();
    splits();
    by_groups();
    names();
    hints();
    wrong();
    freed_with_pending();
    MPI_Finalize();
    return 0;
}
