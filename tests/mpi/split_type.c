/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits by hardware (MPI 5.0, 7.4.2). The test does not know the machine: it checks the rules. */
#include "check.h"

static int rank, size;

static int size_of(MPI_Comm comm) {
    int n = 0;
    if (comm != MPI_COMM_NULL) OK(MPI_Comm_size(comm, &n));
    return n;
}

static MPI_Comm guided(int how, const char* key, const char* value) {
    MPI_Comm made;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    if (key != NULL) OK(MPI_Info_set(info, key, value));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, how, -rank, info, &made));
    OK(MPI_Info_free(&info));
    if (made != MPI_COMM_NULL) {
        int me, n = size_of(made), got = -1;
        OK(MPI_Comm_rank(made, &me));
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, (me + 1) % n, 0, &got, 1, MPI_INT, (me + n - 1) % n, 0,
                        made, MPI_STATUS_IGNORE));
        CHECK(n == 1 || got > rank || me == 0); /* the keys reverse the order */
    }
    return made;
}

static void drop(MPI_Comm comm) {
    if (comm != MPI_COMM_NULL) OK(MPI_Comm_free(&comm));
}

/* Splits by name, one after the other: a larger part contains the smaller ones. */
static void by_name(void) {
    static const char* const kinds[] = {"Machine", "hwloc://Package", "Core", "hwloc://PU"};
    int before = size;
    for (int i = 0; i < 4; ++i) {
        MPI_Comm made = guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", kinds[i]);
        CHECK(size_of(made) <= before);
        if (i == 0) CHECK(size_of(made) == size);
        before = size_of(made);
        drop(made);
    }
    MPI_Comm made = guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory");
    CHECK(size_of(made) == size);
    drop(made);
    CHECK(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "no such thing") ==
          MPI_COMM_NULL);
    CHECK(guided(MPI_COMM_TYPE_HW_GUIDED, NULL, NULL) == MPI_COMM_NULL);
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &made));
    CHECK(made == MPI_COMM_NULL);
    made = guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD");
    CHECK(size_of(made) == size);
    drop(made);
    made = guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF");
    CHECK(size_of(made) == 1);
    drop(made);
    CHECK(guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://NOBODY") == MPI_COMM_NULL);
}

/* Splits again and again, until no part can be divided. */
static void unguided(void) {
    MPI_Comm now;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &now));
    for (;;) {
        MPI_Comm part;
        MPI_Info info;
        char value[MPI_MAX_INFO_VAL];
        int flag, length = sizeof value;
        OK(MPI_Info_create(&info));
        OK(MPI_Comm_split_type(now, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part));
        OK(MPI_Info_get_string(info, "mpi_hw_resource_type", &length, value, &flag));
        CHECK(flag == (part != MPI_COMM_NULL));
        OK(MPI_Info_free(&info));
        if (part == MPI_COMM_NULL) break;
        CHECK(size_of(part) < size_of(now));
        OK(MPI_Comm_free(&now));
        now = part;
    }
    OK(MPI_Comm_free(&now));
}

/* A resource that a process is restricted to, as the library says, is a kind to split by. */
static void kinds(void) {
    MPI_Info info;
    int n;
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get_nkeys(info, &n));
    CHECK(n > 1);
    for (int i = 0; i < n; ++i) {
        char key[MPI_MAX_INFO_KEY], value[8];
        int flag, length = sizeof value;
        OK(MPI_Info_get_nthkey(info, i, key));
        OK(MPI_Info_get_string(info, key, &length, value, &flag));
        MPI_Comm made = guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", key);
        CHECK((made != MPI_COMM_NULL) == (strcmp(value, "true") == 0));
        drop(made);
    }
    OK(MPI_Info_free(&info));
}

int main(void) {
    start(&rank, &size, MPI_THREAD_SINGLE);
    by_name();
    unguided();
    kinds();
    MPI_Finalize();
    return 0;
}
