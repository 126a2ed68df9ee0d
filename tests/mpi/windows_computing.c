/* SPDX-License-Identifier: BSD-3-Clause */
/* No rank waits for a target that computes. The target leaves no loop, and calls no function of
   MPI, until all others have finished with its memory. */
#include "check.h"

#include <stdatomic.h>
#include <stdint.h>

enum { CELLS = 4096, ROUNDS = 5 };

static int rank, size;

struct Made {
    MPI_Win win;
    int64_t* memory;
    MPI_Aint base; /* of the target's memory: displacements begin here */
    int unit;
};

static struct Made make(int flavor) {
    struct Made made = {.unit = flavor == MPI_WIN_FLAVOR_DYNAMIC ? 8 : 1};
    const MPI_Aint bytes = CELLS * 8;
    if (flavor == MPI_WIN_FLAVOR_ALLOCATE) {
        OK(MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &made.memory, &made.win));
    } else {
        made.memory = malloc((size_t)bytes);
        if (flavor == MPI_WIN_FLAVOR_CREATE) {
            OK(MPI_Win_create(made.memory, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &made.win));
        } else {
            OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &made.win));
            OK(MPI_Win_attach(made.win, made.memory, bytes));
            OK(MPI_Get_address(made.memory, &made.base));
        }
    }
    OK(MPI_Bcast(&made.base, 1, MPI_AINT, 0, MPI_COMM_WORLD));
    memset(made.memory, 0, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    return made;
}

static MPI_Aint at(const struct Made* made, int cell) { return made->base + cell * made->unit; }

/* Accesses a target. Target 0 counts in cell 0 the ranks that have finished; cells from 8 on are
 * their own. */
static void access_target(const struct Made* made) {
    const int mine = 8 + rank, room = (CELLS - 64) / size, large = 64 + rank * room;
    int64_t one = 1, value = -1, *many = malloc((size_t)room * 8);
    for (int round = 0; round < ROUNDS; ++round) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, made->win));
        OK(MPI_Get(&value, 1, MPI_INT64_T, 0, at(made, 1), 1, MPI_INT64_T, made->win));
        OK(MPI_Win_flush(0, made->win));
        ++value;
        OK(MPI_Put(&value, 1, MPI_INT64_T, 0, at(made, 1), 1, MPI_INT64_T, made->win));
        OK(MPI_Win_unlock(0, made->win));
        OK(MPI_Win_lock_all(0, made->win));
        const int64_t sent = 1000 * rank + round, zero = 0;
        OK(MPI_Put(&sent, 1, MPI_INT64_T, 0, at(made, mine), 1, MPI_INT64_T, made->win));
        OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, at(made, 2), 1, MPI_INT64_T, MPI_SUM,
                          made->win));
        OK(MPI_Win_flush(0, made->win));
        OK(MPI_Compare_and_swap(&zero, &sent, &value, MPI_INT64_T, 0, at(made, mine), made->win));
        OK(MPI_Win_flush_local(0, made->win));
        CHECK(value == sent);
        for (int i = 0; i < room; ++i) many[i] = sent + i;
        OK(MPI_Put(many, room, MPI_INT64_T, 0, at(made, large), room, MPI_INT64_T, made->win));
        OK(MPI_Win_flush(0, made->win));
        memset(many, 0, (size_t)room * 8);
        OK(MPI_Get(many, room, MPI_INT64_T, 0, at(made, large), room, MPI_INT64_T, made->win));
        OK(MPI_Win_unlock_all(made->win));
        for (int i = 0; i < room; ++i) CHECK(many[i] == sent + i);
    }
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, made->win));
    OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, at(made, 0), 1, MPI_INT64_T, MPI_SUM, made->win));
    OK(MPI_Win_unlock(0, made->win));
    free(many);
}

/* Computes without a call of MPI. */
static void compute(const struct Made* made) {
    const _Atomic int64_t* finished = (const _Atomic int64_t*)made->memory;
    while (atomic_load(finished) != size - 1) {}
    CHECK(made->memory[1] == (int64_t)ROUNDS * (size - 1));
    CHECK(made->memory[2] == (int64_t)ROUNDS * (size - 1));
}

int main(void) {
    static const int flavors[] = {MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_CREATE,
                                  MPI_WIN_FLAVOR_DYNAMIC};
    start(&rank, &size, MPI_THREAD_SINGLE);
    for (int i = 0; i < 3; ++i) {
        struct Made made = make(flavors[i]);
        if (rank == 0)
            compute(&made);
        else
            access_target(&made);
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_Win_free(&made.win));
        if (flavors[i] != MPI_WIN_FLAVOR_ALLOCATE) free(made.memory);
    }
    MPI_Finalize();
    return 0;
}
