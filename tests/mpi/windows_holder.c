/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 locks target 0 or, told "of_all" as well, all targets. It is killed while it holds the
   lock (killed) or never releases it (hangs). The others wait for it.

   Or rank 0 never comes to MPI. The others wait for it in a put (asked), in MPI_Win_start (start)
   or in MPI_Win_wait (wait). Or it is killed while the others put into its memory (gone). */
#include "check.h"

#include <signal.h>
#include <unistd.h>

/* Leaves a file as a sign, since no process reads output while the job ends. */
static void be_blamed(void) {
    const char* name = getenv("BLAMED");
    FILE* file = fopen(name == NULL ? "/dev/null" : name, "w");
    CHECK(file != NULL && fclose(file) == 0);
    CHECK(!"a put failed");
}

/* Dies, which the keeper of the ranks sees a second later than the other ranks could. */
static void die_unnoticed(void) {
    const pid_t keeper = getppid();
    if (fork() == 0) {
        sleep(1);
        kill(keeper, SIGCONT);
        _exit(0);
    }
    kill(keeper, SIGSTOP);
    raise(SIGKILL);
}

static void wait_for_rank_0(const char* how, int rank) {
    MPI_Win win;
    MPI_Group world, others;
    const int first = 0;
    static int memory;
    OK(MPI_Win_create(&memory, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_name(win, "cells"));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &first, &others));
    if (rank == 0 && strcmp(how, "gone") == 0) {
        while (*(volatile int*)&memory == 0) {} /* until a rank has put */
        die_unnoticed();
    }
    while (rank == 0) pause();
    if (strcmp(how, "start") == 0) OK(MPI_Win_start(others, 0, win));
    if (strcmp(how, "wait") == 0) {
        OK(MPI_Win_post(others, 0, win));
        OK(MPI_Win_wait(win));
    }
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (;;) /* rank 0 answers as long as it has not left MPI_Win_create */
        if (MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win) != MPI_SUCCESS) be_blamed();
}

int main(int argc, char** argv) {
    int rank, size, told = 0;
    MPI_Win win;
    void* memory;
    CHECK(argc == 2 || argc == 3);
    start(&rank, &size, MPI_THREAD_SINGLE);
    if (strcmp(argv[1], "killed") != 0 && strcmp(argv[1], "hangs") != 0)
        wait_for_rank_0(argv[1], rank);
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
                    MPI_STATUS_IGNORE)); /* no rank sends it */
    }
    OK(MPI_Bcast(&told, 1, MPI_INT, 0, MPI_COMM_WORLD));
    const int shared = rank % 2 && argc == 2;
    OK(MPI_Win_lock(shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win));
    CHECK(!"the lock was to be had");
    return 1;
}
