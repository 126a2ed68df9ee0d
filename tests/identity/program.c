/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that tells its rank as its first argument says:
       hello      "rank R of N", after a barrier
       start      the same; before the barrier each rank starts this program, by three methods
       files      with no free file descriptor */
#include <mpi.h>

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void fail(const char* what) {
    fprintf(stderr, "program: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void end_well(int status) {
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail("what a rank has started did not end well");
}

static void start_programs(char* self) {
    char command[4096];
    char* words[] = {self, (char*)"hello", NULL};
    int status = 0;
    pid_t pid = 0;
    snprintf(command, sizeof command, "'%s' hello", self);
    fflush(stdout);
    end_well(system(command));
    if (posix_spawn(&pid, self, NULL, NULL, words, environ) != 0) fail("posix_spawn");
    waitpid(pid, &status, 0);
    end_well(status);
    pid = fork();
    if (pid == 0) {
        execv(self, words);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    end_well(status);
}

int main(int argc, char** argv) {
    int rank = -1, size = -1, sum = 0;
    const char* what = argc > 1 ? argv[1] : "hello";
    if (strcmp(what, "files") == 0) {
        const struct rlimit few = {3, 3};
        setrlimit(RLIMIT_NOFILE, &few);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "start") == 0) start_programs(argv[0]);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2) fail("wrong sum of ranks");
    printf("rank %d of %d\n", rank, size);
    return MPI_Finalize();
}
