// SPDX-License-Identifier: BSD-3-Clause
/* Starts two children, which run this program, too.
 *   parent work        works with them for ever; says "child PID".
 *   parent wait        waits for them for ever, and they for it; says "child PID".
 *   parent leave FILE  disconnects, and ends; a child writes FILE a while later.
 *   parent stay FILE   the same, but the children stay in a call for ever, and FILE is not written.
 *   parent again N     starts children N times. Says its descriptors, threads and memory before and
 *                      after. */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int entries(const char* folder) {
    int count = 0;
    DIR* open = opendir(folder);
    while (readdir(open) != NULL) ++count;
    closedir(open);
    return count;
}

static long kilobytes(void) {
    char line[256];
    long found = 0;
    FILE* status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0) found = atol(line + 6);
    fclose(status);
    return found;
}

static void child(MPI_Comm parent, char* argv[]) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "work") == 0) {
        int pid = getpid();
        MPI_Send(&pid, 1, MPI_INT, 0, 0, parent);
        for (int value = 0;;) MPI_Bcast(&value, 1, MPI_INT, 0, parent);
    }
    if (strcmp(argv[1], "wait") == 0) {
        int pid = getpid();
        MPI_Send(&pid, 1, MPI_INT, 0, 0, parent);
        MPI_Recv(&pid, 1, MPI_INT, 0, 7, parent, MPI_STATUS_IGNORE);
    }
    MPI_Comm_disconnect(&parent);
    if (strcmp(argv[1], "stay") == 0)
        MPI_Recv(NULL, 0, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "leave") == 0 && rank == 1) {
        usleep(300000);
        fclose(fopen(argv[2], "w"));
    }
}

int main(int argc, char* argv[]) {
    MPI_Init(&argc, &argv);
    MPI_Comm other;
    MPI_Comm_get_parent(&other);
    if (other != MPI_COMM_NULL) {
        child(other, argv);
        MPI_Finalize();
        return 0;
    }
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int rounds = strcmp(argv[1], "again") == 0 ? atoi(argv[2]) : 1;
    int descriptors = 0, threads = 0;
    long memory = 0;
    double first = 0, last = 0;
    for (int round = 0; round < rounds; ++round) {
        const double begin = MPI_Wtime();
        MPI_Comm_spawn(argv[0], argv + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                       MPI_ERRCODES_IGNORE);
        if (strcmp(argv[1], "work") == 0 || strcmp(argv[1], "wait") == 0) {
            for (int i = 0, pid; rank == 0 && i < 2; ++i) {
                MPI_Recv(&pid, 1, MPI_INT, i, 0, other, MPI_STATUS_IGNORE);
                printf("child %d\n", pid);
                fflush(stdout);
            }
            if (strcmp(argv[1], "wait") == 0)
                MPI_Recv(NULL, 0, MPI_INT, 0, 7, other, MPI_STATUS_IGNORE);
            for (int value = 0;;)
                MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, other);
        }
        MPI_Comm_disconnect(&other);
        last = MPI_Wtime() - begin;
        if (round == 4) {
            first = last;
            descriptors = entries("/proc/self/fd");
            threads = entries("/proc/self/task");
            memory = kilobytes();
        }
    }
    if (strcmp(argv[1], "again") == 0)
        printf("descriptors: %d %d\nthreads: %d %d\nkilobytes: %ld %ld\nseconds: %f %f\n",
               descriptors, entries("/proc/self/fd"), threads, entries("/proc/self/task"), memory,
               kilobytes(), first, last);
    MPI_Finalize();
    return 0;
}
