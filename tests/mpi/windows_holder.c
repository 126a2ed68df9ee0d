/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 locks target 0 or, told "of_all" as well, all targets, and is killed while it holds the lock (killed) or never
   lets go of it (hangs). The others wait for it. */
#include "check.h"

#include <signal.h>

int main(int argc, char** argv) {
    int rank, size, told = 0;
    MPI_Win win;
    void* memory;
    CHECK(argc == 2 || argc == 3);
    start(&rank, &size, MPI_THREAD_SINGLE);
    OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    OK(MPI_Win_set_name(win, "cells"));
    if (rank == 0) {
        if (argc == 3)
            OK(MPI_Win_lock_all(0, win));
        else
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        OK(MPI_Bcast(&told, 1, MPI_INT, 0, MPI_COMM_WORLD));
        if (strcmp(argv[1], "killed") == 0) raise(SIGKILL);
        OK(MPI_Recv(&told, 1, MPI_INT, 1, 9, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE)); /* nobody sends it */
    }
    OK(MPI_Bcast(&told, 1, MPI_INT, 0, MPI_COMM_WORLD));
    const int shared = rank % 2 && argc == 2;
    OK(MPI_Win_lock(shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win));
    CHECK(!"the lock was to be had");
    return 1;
}
