/* SPDX-License-Identifier: BSD-3-Clause */

/* Driver for counting the instructions of calls on a window, 8 bytes, under MPI_THREAD_MULTIPLE:
 * see instructions.c. Rank 0 calls, while rank 1 waits in a barrier. */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { CALLS = 5000, TARGET = 1 };

static MPI_Win win;
static int64_t value = 1, other, result;

static int nothing(const void* buffer, int count, MPI_Datatype type, int peer, MPI_Aint place,
                   int target_count, MPI_Datatype target_type, MPI_Win window) {
    (void)buffer, (void)count, (void)type, (void)peer, (void)place, (void)target_count,
        (void)target_type, (void)window;
    return MPI_SUCCESS;
}

/* Volatile, so that the compiler cannot see through the call. */
static int (*volatile nothing_called)(const void*, int, MPI_Datatype, int, MPI_Aint, int,
                                      MPI_Datatype, MPI_Win) = nothing;

#define PUT(call) call(&value, 8, MPI_BYTE, TARGET, 0, 8, MPI_BYTE, win)

/* Each loop has two names: in the one not counted the loader binds symbols and the library
 * connects. */
#define LOOP(name, calls)                               \
    __attribute__((noinline)) void count_##name(void) { \
        for (int k = 0; k < CALLS; ++k) {               \
            calls;                                      \
        }                                               \
    }                                                   \
    static void warm_##name(void) {                     \
        for (int k = 0; k < 10; ++k) {                  \
            calls;                                      \
        }                                               \
    }

LOOP(nothing, PUT(nothing_called))
LOOP(put_flush, PUT(MPI_Put); MPI_Win_flush(TARGET, win))
LOOP(get_flush, PUT(MPI_Get); MPI_Win_flush(TARGET, win))
LOOP(fetch_and_op, MPI_Fetch_and_op(&value, &result, MPI_INT64_T, TARGET, 8, MPI_SUM, win))
LOOP(compare_and_swap, MPI_Compare_and_swap(&value, &other, &result, MPI_INT64_T, TARGET, 16, win))
LOOP(accumulate, MPI_Accumulate(&value, 1, MPI_INT64_T, TARGET, 24, 1, MPI_INT64_T, MPI_SUM, win))
LOOP(lock_put_unlock, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win); PUT(MPI_Put);
     MPI_Win_unlock(TARGET, win))
LOOP(shared_lock_put_unlock, MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win); PUT(MPI_Put);
     MPI_Win_unlock(TARGET, win))
LOOP(lock_all_unlock_all, MPI_Win_lock_all(0, win); MPI_Win_unlock_all(win))

#define BOTH(name) (warm_##name(), count_##name())

int main(int argc, char** argv) {
    int level, me;
    void* memory;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    if (me == 0) {
        BOTH(nothing);
        BOTH(lock_all_unlock_all);
        MPI_Win_lock_all(0, win);
        BOTH(put_flush);
        BOTH(get_flush);
        BOTH(fetch_and_op);
        BOTH(compare_and_swap);
        BOTH(accumulate);
        MPI_Win_unlock_all(win);
        BOTH(lock_put_unlock);
        BOTH(shared_lock_put_unlock);
        printf(
            "calls=%d level=%d "
            "counted=put_flush,get_flush,fetch_and_op,compare_and_swap,accumulate,"
            "lock_put_unlock,shared_lock_put_unlock,lock_all_unlock_all\n",
            CALLS, level);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
