/* SPDX-License-Identifier: BSD-3-Clause */
/* Does what a launcher must support, as the first argument says. If one rank ends early, the others
   wait.
     hello       all threads' level, a sum, "rank R of N", with MPI_Init_thread.
     sessions    the same with a session.
     abort CODE  the last rank calls MPI_Abort.
     told CODE   every rank says "waiting", and calls MPI_Abort when it gets SIGUSR1.
     die         the last rank is killed.
     exit CODE   all end with MPI_Finalize, the last one answers CODE.
     wait        every rank says "waiting", and waits for ever. */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(MPI_Comm comm) {
    int rank = -1, size = -1, sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != size * (size - 1) / 2) MPI_Abort(comm, 1);
    printf("rank %d of %d\n", rank, size);
}

static int with_session(void) {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "hello", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    say(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    return MPI_Session_finalize(&session);
}

/* Waits for a message that no rank sends. */
static void wait_in_vain(int from) {
    int nothing = 0;
    MPI_Recv(&nothing, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    int level = 0, rank = -1, size = -1;
    const char* what = argc > 1 ? argv[1] : "hello";
    const int code = argc > 2 ? atoi(argv[2]) : 0;
    sigset_t told;
    sigemptyset(&told);
    sigaddset(&told, SIGUSR1);
    if (strcmp(what, "told") == 0)
        sigprocmask(SIG_BLOCK, &told, NULL); /* threads of the library inherit it */
    if (strcmp(what, "sessions") == 0) return with_session();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int last = rank == size - 1;
    if (strcmp(what, "hello") == 0) say(MPI_COMM_WORLD);
    if (strcmp(what, "abort") == 0) {
        if (last) MPI_Abort(MPI_COMM_WORLD, code);
        wait_in_vain(size - 1);
    }
    if (strcmp(what, "told") == 0) {
        int signal = 0;
        printf("waiting\n");
        fflush(stdout);
        sigwait(&told, &signal);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    if (strcmp(what, "die") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (last) kill(getpid(), SIGKILL);
        wait_in_vain(size - 1);
    }
    if (strcmp(what, "wait") == 0) {
        printf("waiting\n");
        fflush(stdout);
        wait_in_vain(size > 1 ? (rank + 1) % size : 0);
    }
    MPI_Finalize();
    return strcmp(what, "exit") == 0 && last ? code : 0;
}
