/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function of one-sided communication does what the standard says, in windows of every
 * kind. */
#include "check.h"

enum { CELLS = 64 };

static int rank, size, one_host;

/* A window of CELLS ints for each process, and the function that made it. */
struct Made {
    MPI_Win win;
    int* memory;
    int flavor;
    MPI_Aint base; /* displacements begin here: an address in a dynamic window, 0 in others */
    MPI_Aint* bases;
};

static const int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED,
                              MPI_WIN_FLAVOR_DYNAMIC};

static struct Made make(int flavor) {
    struct Made made = {.flavor = flavor};
    const MPI_Aint bytes = CELLS * (MPI_Aint)sizeof(int);
    made.bases = calloc((size_t)size, sizeof(MPI_Aint));
    switch (flavor) {
        case MPI_WIN_FLAVOR_CREATE:
            made.memory = malloc((size_t)bytes);
            OK(MPI_Win_create(made.memory, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                              &made.win));
            break;
        case MPI_WIN_FLAVOR_ALLOCATE:
            OK(MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &made.memory,
                                &made.win));
            break;
        case MPI_WIN_FLAVOR_SHARED:
            OK(MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                                       &made.memory, &made.win));
            break;
        default:
            made.memory = malloc((size_t)bytes);
            OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &made.win));
            OK(MPI_Win_attach(made.win, made.memory, bytes));
            OK(MPI_Get_address(made.memory, &made.base));
    }
    OK(MPI_Allgather(&made.base, 1, MPI_AINT, made.bases, 1, MPI_AINT, MPI_COMM_WORLD));
    for (int i = 0; i < CELLS; ++i) made.memory[i] = 1000 * rank + i;
    MPI_Barrier(MPI_COMM_WORLD);
    return made;
}

static void destroy(struct Made* made) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (made->flavor == MPI_WIN_FLAVOR_DYNAMIC) OK(MPI_Win_detach(made->win, made->memory));
    OK(MPI_Win_free(&made->win));
    CHECK(made->win == MPI_WIN_NULL);
    if (made->flavor == MPI_WIN_FLAVOR_CREATE || made->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        free(made->memory);
    free(made->bases);
}

/* Returns the displacement of a cell. */
static MPI_Aint at(const struct Made* made, int target, int cell) {
    return made->flavor == MPI_WIN_FLAVOR_DYNAMIC
        ? made->bases[target] + cell * (MPI_Aint)sizeof(int)
        : cell;
}

static void attributes(const struct Made* made) {
    void* value;
    int flag;
    OK(MPI_Win_get_attr(made->win, MPI_WIN_CREATE_FLAVOR, &value, &flag));
    CHECK(flag && *(int*)value == made->flavor);
    OK(MPI_Win_get_attr(made->win, MPI_WIN_MODEL, &value, &flag));
    CHECK(flag && *(int*)value == MPI_WIN_UNIFIED);
    OK(MPI_Win_get_attr(made->win, MPI_WIN_BASE, &value, &flag));
    CHECK(flag &&
          (made->flavor == MPI_WIN_FLAVOR_DYNAMIC ? value == MPI_BOTTOM : value == made->memory));
    OK(MPI_Win_get_attr(made->win, MPI_WIN_SIZE, &value, &flag));
    CHECK(flag &&
          *(MPI_Aint*)value ==
              (made->flavor == MPI_WIN_FLAVOR_DYNAMIC ? 0 : CELLS * (MPI_Aint)sizeof(int)));
    OK(MPI_Win_get_attr(made->win, MPI_WIN_DISP_UNIT, &value, &flag));
    CHECK(flag && *(int*)value == (made->flavor == MPI_WIN_FLAVOR_DYNAMIC ? 1 : (int)sizeof(int)));
}

static void fences(const struct Made* made) {
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int out[2] = {-rank, rank + 7}, in = -1;
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, made->win));
    OK(MPI_Put(out, 2, MPI_INT, next, at(made, next, 3), 2, MPI_INT, made->win));
    OK(MPI_Win_fence(0, made->win));
    CHECK(made->memory[3] == -before && made->memory[4] == before + 7);
    OK(MPI_Get(&in, 1, MPI_INT, next, at(made, next, 4), 1, MPI_INT, made->win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, made->win));
    CHECK(in == rank + 7);
}

/* Each rank exposes memory to its neighbours, and accesses theirs. */
static void groups(const struct Made* made) {
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Group world, to, from;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &next, &to));
    OK(MPI_Group_incl(world, 1, &before, &from));
    for (int round = 0; round < 20; ++round) {
        const int value = 100 * rank + round;
        int flag = 0;
        OK(MPI_Win_post(from, 0, made->win));
        OK(MPI_Win_start(to, 0, made->win));
        OK(MPI_Put(&value, 1, MPI_INT, next, at(made, next, 9), 1, MPI_INT, made->win));
        OK(MPI_Win_complete(made->win));
        if (round % 2 == 0)
            OK(MPI_Win_wait(made->win));
        else
            while (!flag) OK(MPI_Win_test(made->win, &flag));
        CHECK(made->memory[9] == 100 * before + round);
    }
    OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, made->win));
    OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, made->win));
    OK(MPI_Win_complete(made->win));
    OK(MPI_Win_wait(made->win));
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    MPI_Group_free(&world);
}

static void locks(const struct Made* made) {
    /* A counter that is read and written under an exclusive lock loses no step. */
    if (rank == 0) made->memory[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 100; ++round) {
        int value = -1;
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, made->win));
        OK(MPI_Get(&value, 1, MPI_INT, 0, at(made, 0, 0), 1, MPI_INT, made->win));
        OK(MPI_Win_flush(0, made->win));
        ++value;
        OK(MPI_Put(&value, 1, MPI_INT, 0, at(made, 0, 0), 1, MPI_INT, made->win));
        OK(MPI_Win_unlock(0, made->win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int value = -1;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, made->win));
    OK(MPI_Get(&value, 1, MPI_INT, 0, at(made, 0, 0), 1, MPI_INT, made->win));
    OK(MPI_Win_flush_local(0, made->win));
    CHECK(value == 100 * size);
    OK(MPI_Win_unlock(0, made->win));
    OK(MPI_Win_lock_all(0, made->win));
    for (int target = 0; target < size; ++target)
        OK(MPI_Put(&rank, 1, MPI_INT, target, at(made, target, 16 + rank), 1, MPI_INT, made->win));
    OK(MPI_Win_flush_local_all(made->win));
    OK(MPI_Win_flush_all(made->win));
    OK(MPI_Win_sync(made->win));
    OK(MPI_Win_unlock_all(made->win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int other = 0; other < size; ++other) CHECK(made->memory[16 + other] == other);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, MPI_MODE_NOCHECK, made->win));
    OK(MPI_Win_unlock(rank, made->win));
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, made->win));
    OK(MPI_Win_unlock_all(made->win));
}

static void accumulates(const struct Made* made) {
    enum { ROUNDS = 200 };
    const int one = 1;
    if (rank == 0) memset(made->memory, 0, CELLS * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, made->win));
    int seen = -1, ones[4] = {1, 1, 1, 1}, olds[4];
    for (int round = 0; round < ROUNDS; ++round) {
        int old = -1;
        OK(MPI_Accumulate(ones, 4, MPI_INT, 0, at(made, 0, 4), 4, MPI_INT, MPI_SUM, made->win));
        OK(MPI_Fetch_and_op(&one, &old, MPI_INT, 0, at(made, 0, 4), MPI_SUM, made->win));
        OK(MPI_Win_flush_local(0, made->win));
        CHECK(old > seen);
        seen = old;
        OK(MPI_Get_accumulate(ones, 4, MPI_INT, olds, 4, MPI_INT, 0, at(made, 0, 5), 4, MPI_INT,
                              MPI_SUM, made->win));
        OK(MPI_Win_flush_local(0, made->win));
        CHECK(olds[0] >= 2 * round + 1);
        /* Takes a step by compare and swap. */
        for (int expected = 0;;) {
            const int wanted = expected + 1;
            OK(MPI_Compare_and_swap(&wanted, &expected, &old, MPI_INT, 0, at(made, 0, 20),
                                    made->win));
            OK(MPI_Win_flush_local(0, made->win));
            if (old == expected) break;
            expected = old;
        }
    }
    OK(MPI_Win_flush_all(made->win));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, olds, 4, MPI_INT, 0, at(made, 0, 4), 4,
                          MPI_INT, MPI_NO_OP, made->win));
    int old = -1, other = -1;
    OK(MPI_Fetch_and_op(NULL, &old, MPI_INT, 0, at(made, 0, 8), MPI_NO_OP, made->win));
    OK(MPI_Fetch_and_op(NULL, &other, MPI_INT, 0, at(made, 0, 20), MPI_NO_OP, made->win));
    OK(MPI_Win_flush(0, made->win));
    for (int i = 0; i < 4; ++i) CHECK(olds[i] == 2 * ROUNDS * size);
    CHECK(old == ROUNDS * size && other == ROUNDS * size);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Fetch_and_op(&rank, &old, MPI_INT, 0, at(made, 0, 30 + rank), MPI_REPLACE, made->win));
    OK(MPI_Fetch_and_op(NULL, &other, MPI_INT, 0, at(made, 0, 30 + rank), MPI_NO_OP, made->win));
    OK(MPI_Win_flush_local(0, made->win));
    CHECK(old == 0 && other == rank);
    OK(MPI_Win_unlock_all(made->win));
    MPI_Barrier(MPI_COMM_WORLD); /* the next part begins with zeroes */
}

/* Tests pairs and long doubles, which are larger than the processor changes at once. */
static void wide_elements(const struct Made* made) {
    struct {
        double value;
        int index;
    } mine = {rank, rank}, best = {-1, -1};
    if (rank == 0) memset(made->memory, 0, CELLS * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, made->win));
    const long double step = 0.5L;
    for (int round = 0; round < 50; ++round) {
        OK(MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, 0, at(made, 0, 0), 1, MPI_DOUBLE_INT,
                          MPI_MAXLOC, made->win));
        OK(MPI_Accumulate(&step, 1, MPI_LONG_DOUBLE, 0, at(made, 0, 8), 1, MPI_LONG_DOUBLE, MPI_SUM,
                          made->win));
    }
    OK(MPI_Win_flush_all(made->win));
    MPI_Barrier(MPI_COMM_WORLD);
    long double sum = 0;
    OK(MPI_Get(&best, 1, MPI_DOUBLE_INT, 0, at(made, 0, 0), 1, MPI_DOUBLE_INT, made->win));
    OK(MPI_Get(&sum, 1, MPI_LONG_DOUBLE, 0, at(made, 0, 8), 1, MPI_LONG_DOUBLE, made->win));
    OK(MPI_Win_flush_local_all(made->win));
    CHECK(best.value == size - 1 && best.index == size - 1);
    CHECK(sum == 25.0L * size);
    OK(MPI_Win_unlock_all(made->win));
}

/* A type that ends in padding ends at its last data, in a window that has no more. */
static void padding(void) {
    struct {
        double value;
        int index, beyond;
    } memory = {1, 2, 33}, greater = {5, 6, 44}, old = {0, 0, 55};
    MPI_Win win;
    OK(MPI_Win_create(&memory, 12, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    OK(MPI_Get_accumulate(&greater, 1, MPI_DOUBLE_INT, &old, 1, MPI_DOUBLE_INT, 0, 0, 1,
                          MPI_DOUBLE_INT, MPI_MAXLOC, win));
    OK(MPI_Win_unlock(0, win));
    CHECK(memory.value == 5 && memory.index == 6 && memory.beyond == 33);
    CHECK(old.value == 1 && old.index == 2 && old.beyond == 55);
    OK(MPI_Win_free(&win));
}

static void requests(const struct Made* made) {
    MPI_Request all[4];
    MPI_Status statuses[4];
    const int mine = 40 + rank;
    int got = -1, old = -1, flag = 0, one = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, made->win));
    OK(MPI_Rput(&mine, 1, MPI_INT, 0, at(made, 0, 2), 1, MPI_INT, made->win, &all[0]));
    OK(MPI_Win_flush(0, made->win));
    OK(MPI_Rget(&got, 1, MPI_INT, 0, at(made, 0, 2), 1, MPI_INT, made->win, &all[1]));
    OK(MPI_Win_flush(0, made->win));
    OK(MPI_Raccumulate(&one, 1, MPI_INT, 0, at(made, 0, 2), 1, MPI_INT, MPI_SUM, made->win,
                       &all[2]));
    OK(MPI_Rget_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, 0, at(made, 0, 2), 1, MPI_INT,
                           MPI_SUM, made->win, &all[3]));
    OK(MPI_Waitall(4, all, statuses));
    CHECK(got == mine && old == mine + 1 && all[3] == MPI_REQUEST_NULL);
    OK(MPI_Win_flush(0, made->win));
    OK(MPI_Rget(&got, 1, MPI_INT, 0, at(made, 0, 2), 1, MPI_INT, made->win, &all[0]));
    while (!flag) OK(MPI_Test(&all[0], &flag, MPI_STATUS_IGNORE));
    CHECK(got == mine + 2);
    OK(MPI_Rput(&mine, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, made->win, &all[0]));
    OK(MPI_Wait(&all[0], MPI_STATUS_IGNORE));
    OK(MPI_Win_unlock(0, made->win));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Tests gaps on both sides, of different shapes. The elements between stay as they are. */
static void layouts(const struct Made* made) {
    MPI_Datatype every_second, pairs;
    OK(MPI_Type_vector(6, 1, 2, MPI_INT, &every_second));
    OK(MPI_Type_vector(3, 2, 5, MPI_INT, &pairs));
    OK(MPI_Type_commit(&every_second));
    OK(MPI_Type_commit(&pairs));
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int out[11], in[13];
    for (int i = 0; i < 11; ++i) out[i] = 500 + 100 * rank + i;
    for (int i = 0; i < CELLS; ++i) made->memory[i] = -1;
    OK(MPI_Win_fence(0, made->win));
    OK(MPI_Put(out, 1, every_second, next, at(made, next, 10), 1, pairs, made->win));
    OK(MPI_Win_fence(0, made->win));
    for (int i = 0; i < 15; ++i) {
        const int value = i % 5 < 2 ? 500 + 100 * before + 2 * (2 * (i / 5) + i % 5) : -1;
        CHECK(made->memory[10 + i] == value);
    }
    for (int i = 0; i < 13; ++i) in[i] = -7;
    OK(MPI_Get(in, 1, pairs, next, at(made, next, 10), 1, pairs, made->win));
    OK(MPI_Win_fence(0, made->win));
    for (int i = 0; i < 13; ++i)
        CHECK(in[i] == (i % 5 < 2 ? 500 + 100 * rank + 2 * (2 * (i / 5) + i % 5) : -7));
    OK(MPI_Accumulate(out, 1, every_second, next, at(made, next, 10), 1, pairs, MPI_SUM,
                      made->win));
    OK(MPI_Win_fence(0, made->win));
    for (int i = 0; i < 15; ++i) {
        const int value = i % 5 < 2 ? 2 * (500 + 100 * before + 2 * (2 * (i / 5) + i % 5)) : -1;
        CHECK(made->memory[10 + i] == value);
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, made->win));
    MPI_Type_free(&pairs);
    MPI_Type_free(&every_second);
}

/* Tests data larger than one piece of any path. */
static void large(void) {
    enum { BYTES = 3 << 20 };
    char *memory, *mine = malloc(BYTES);
    MPI_Win win;
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int made = 0; made < 2; ++made) {
        memory = malloc(BYTES);
        char* to_free = memory;
        if (made == 0)
            OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        else
            OK(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
        for (int i = 0; i < BYTES; ++i) mine[i] = (char)(rank + i % 251);
        OK(MPI_Win_fence(0, win));
        OK(MPI_Put_c(mine, BYTES, MPI_BYTE, next, 0, BYTES, MPI_BYTE, win));
        OK(MPI_Win_fence(0, win));
        for (int i = 0; i < BYTES; ++i) CHECK(memory[i] == (char)(before + i % 251));
        memset(mine, 0, BYTES);
        OK(MPI_Get_c(mine, BYTES, MPI_BYTE, next, 0, BYTES, MPI_BYTE, win));
        OK(MPI_Win_fence(0, win));
        for (int i = 0; i < BYTES; ++i) CHECK(mine[i] == (char)(rank + i % 251));
        OK(MPI_Win_free(&win));
        free(to_free);
    }
    free(mine);
}

/* Makes parts of different sizes, side by side. All ranks read and write them as memory. */
static void shared(void) {
    int *mine, *theirs, unit;
    MPI_Aint bytes;
    MPI_Win win;
    const MPI_Aint my_bytes = (rank % 3) * (MPI_Aint)sizeof(int);
    OK(MPI_Win_allocate_shared(my_bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
    int* expected = NULL;
    for (int other = 0; other < size; ++other) {
        OK(MPI_Win_shared_query(win, other, &bytes, &unit, &theirs));
        CHECK(bytes == (other % 3) * (MPI_Aint)sizeof(int) && unit == sizeof(int));
        CHECK((theirs == NULL) == (bytes == 0));
        if (bytes == 0) continue;
        if (expected != NULL) CHECK(theirs == expected);
        expected = (int*)((char*)theirs + bytes);
    }
    OK(MPI_Win_fence(0, win));
    if (rank % 3 != 0) mine[0] = 70 + rank;
    OK(MPI_Win_fence(0, win));
    const int next = (rank + 1) % size;
    MPI_Aint unit_c;
    OK(MPI_Win_shared_query_c(win, next, &bytes, &unit_c, &theirs));
    CHECK(unit_c == sizeof(int));
    if (bytes != 0) CHECK(theirs[0] == 70 + next);
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &theirs));
    CHECK(bytes == (size > 1 ? (MPI_Aint)sizeof(int) : 0));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
}

/* Memory is shared within a host only. */
static void shared_between_hosts(void) {
    int *mine, *theirs, unit;
    MPI_Aint bytes;
    MPI_Win win;
    FAILS(MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win),
          MPI_ERR_RMA_SHARED);
    MPI_Comm here;
    int me, count, first_here;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here));
    OK(MPI_Comm_rank(here, &me));
    OK(MPI_Comm_size(here, &count));
    OK(MPI_Allreduce(&rank, &first_here, 1, MPI_INT, MPI_MIN, here));
    OK(MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, here, &mine, &win));
    OK(MPI_Win_fence(0, win));
    *mine = 90 + rank;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_shared_query(win, (me + 1) % count, &bytes, &unit, &theirs));
    CHECK(bytes == 4 && *theirs >= 90 && *theirs < 90 + size);
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&here));
    /* A window on several hosts shares memory on this one. MPI_PROC_NULL means the first rank with
     * any. */
    OK(MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
    int seen = 0;
    for (int other = 0; other < size; ++other) {
        OK(MPI_Win_shared_query(win, other, &bytes, &unit, &theirs));
        CHECK((bytes == 4) == (theirs != NULL) && unit == 4);
        seen += bytes == 4;
    }
    CHECK(seen == count);
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &theirs));
    OK(MPI_Win_fence(0, win));
    *mine = rank;
    OK(MPI_Win_fence(0, win));
    CHECK(first_here == 0 ? bytes == 4 && *theirs == 0 : bytes == 0 && theirs == NULL);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
}

static int deleted;
static int delete_function(MPI_Win win, int keyval, void* value, void* extra) {
    (void)keyval;
    CHECK(win != MPI_WIN_NULL && value == &deleted && extra == &rank);
    ++deleted;
    return MPI_SUCCESS;
}

static void objects(void) {
    MPI_Win win;
    MPI_Info hints, used;
    MPI_Group group, world;
    void* memory;
    char name[MPI_MAX_OBJECT_NAME], value[MPI_MAX_INFO_VAL];
    int length, flag, key, result;
    OK(MPI_Info_create(&hints));
    OK(MPI_Info_set(hints, "alloc_shared_noncontig", "true"));
    OK(MPI_Info_set(hints, "accumulate_ordering", "none"));
    OK(MPI_Info_set(hints, "mpi_minimum_memory_alignment", "1000"));
    if (one_host)
        OK(MPI_Win_allocate_shared_c(rank % 2 ? 100 : 0, 4, hints, MPI_COMM_WORLD, &memory, &win));
    else
        OK(MPI_Win_allocate_c(rank % 2 ? 100 : 0, 4, hints, MPI_COMM_WORLD, &memory, &win));
    CHECK((size_t)memory % 1024 == 0);
    OK(MPI_Win_get_info(win, &used));
    OK(MPI_Info_get(used, "alloc_shared_noncontig", MPI_MAX_INFO_VAL - 1, value, &flag));
    CHECK(flag && strcmp(value, "true") == 0);
    OK(MPI_Info_get(used, "accumulate_ordering", MPI_MAX_INFO_VAL - 1, value, &flag));
    CHECK(flag && strcmp(value, "none") == 0);
    OK(MPI_Info_get(used, "no_locks", MPI_MAX_INFO_VAL - 1, value, &flag));
    CHECK(flag && strcmp(value, "false") == 0);
    OK(MPI_Info_set(hints, "same_size", "true"));
    OK(MPI_Win_set_info(win, hints));
    MPI_Info_free(&used);
    OK(MPI_Win_get_info(win, &used));
    OK(MPI_Info_get(used, "same_size", MPI_MAX_INFO_VAL - 1, value, &flag));
    CHECK(flag && strcmp(value, "true") == 0);
    MPI_Info_free(&used);
    MPI_Info_free(&hints);

    OK(MPI_Win_get_name(win, name, &length));
    CHECK(length == 0);
    OK(MPI_Win_set_name(win, "cells"));
    OK(MPI_Win_get_name(win, name, &length));
    CHECK(length == 5 && strcmp(name, "cells") == 0);
    OK(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
    CHECK(strcmp(name, "MPI_WIN_NULL") == 0);

    OK(MPI_Win_get_group(win, &group));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_compare(group, world, &result));
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);

    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_function, &key, &rank));
    OK(MPI_Win_set_attr(win, key, &deleted));
    OK(MPI_Win_get_attr(win, key, &memory, &flag));
    CHECK(flag && memory == &deleted);
    OK(MPI_Win_delete_attr(win, key));
    OK(MPI_Win_get_attr(win, key, &memory, &flag));
    CHECK(!flag && deleted == 1);
    OK(MPI_Win_set_attr(win, key, &deleted));
    OK(MPI_Win_free_keyval(&key));
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
    CHECK(MPI_Win_toint(MPI_WIN_NULL) == 0x110 && MPI_Win_fromint(0x110) == MPI_WIN_NULL);
    OK(MPI_Win_free(&win));
    CHECK(deleted == 2);
}

/* Windows give memory and handles back. */
static void many(int windows) {
    for (int i = 0; i < windows; ++i) {
        char* memory;
        MPI_Win win;
        OK(MPI_Win_allocate(1 << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
        CHECK(memory[0] == 0 && memory[(1 << 20) - 1] == 0);
        memory[0] = memory[(1 << 20) - 1] = 1;
        OK(MPI_Win_free(&win));
    }
}

int main(int argc, char** argv) {
    start(&rank, &size, MPI_THREAD_SINGLE);
    one_host = on_one_host(size);
    for (size_t i = 0; i < sizeof flavors / sizeof flavors[0]; ++i) {
        if (flavors[i] == MPI_WIN_FLAVOR_SHARED && !one_host) continue;
        struct Made made = make(flavors[i]);
        attributes(&made);
        fences(&made);
        groups(&made);
        locks(&made);
        accumulates(&made);
        wide_elements(&made);
        requests(&made);
        layouts(&made);
        destroy(&made);
    }
    padding();
    large();
    if (one_host)
        shared();
    else
        shared_between_hosts();
    objects();
    many(argc > 1 ? atoi(argv[1]) : 300);
    MPI_Finalize();
    return 0;
}
