/* SPDX-License-Identifier: BSD-3-Clause */

/* Prints the resident memory of a rank, from /proc/self/status after MPI_Init_thread. With `talk
 * [ROUNDS [SECONDS]]` every rank first exchanges ROUNDS messages (1) with every other rank. It then
 * waits SECONDS (0) for a message of rank 0. The growth per rank comes from runs with different
 * numbers of ranks (startup.py). */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOTAL, ANON, FILES, SHARED, KINDS };

static void resident(long kib[KINDS]) {
    static const char* const names[KINDS] = {"VmRSS:", "RssAnon:", "RssFile:", "RssShmem:"};
    char line[256];
    FILE* status = fopen("/proc/self/status", "r");
    memset(kib, 0, KINDS * sizeof *kib);
    if (!status) return;
    while (fgets(line, sizeof line, status))
        for (int k = 0; k < KINDS; ++k)
            if (strncmp(line, names[k], strlen(names[k])) == 0)
                kib[k] = strtol(line + strlen(names[k]), NULL, 10);
    fclose(status);
}

static void talk(int me, int ranks, int rounds) {
    char out = 0, in = 0;
    for (int round = 0; round < rounds; ++round)
        for (int k = 1; k < ranks; ++k)
            MPI_Sendrecv(&out, 1, MPI_CHAR, (me + k) % ranks, 0, &in, 1, MPI_CHAR,
                         (me + ranks - k) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Waits for SECONDS for a message of rank 0. Rank 0 does not wait; one of many, it does not count
 * much. */
static void rest(int me, int ranks, int seconds) {
    char word = 0;
    if (me != 0) {
        MPI_Recv(&word, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    sleep((unsigned)seconds);
    for (int to = 1; to < ranks; ++to) MPI_Send(&word, 1, MPI_CHAR, to, 1, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    int level, me, ranks;
    long mine[KINDS], most[KINDS], sum[KINDS];
    const int talks = argc > 1 && strcmp(argv[1], "talk") == 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int rounds = talks && argc > 2 ? atoi(argv[2]) : talks;
    const int seconds = talks && argc > 3 ? atoi(argv[3]) : 0;
    talk(me, ranks, rounds);
    if (seconds > 0) rest(me, ranks, seconds);
    resident(mine);
    if (argc > 1 && strcmp(argv[1], "alone") == 0) {
        printf("result bench=memory ranks=%d rss_kib=%ld anon_kib=%ld file_kib=%ld shmem_kib=%ld\n",
               ranks, mine[TOTAL], mine[ANON], mine[FILES], mine[SHARED]);
        fflush(stdout);
        _exit(0); /* MPI_Finalize would wait for the others */
    }
    MPI_Reduce(mine, most, KINDS, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(mine, sum, KINDS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf(
            "result bench=memory ranks=%d talk=%d rest_s=%d rss_kib=%ld anon_kib=%ld file_kib=%ld "
            "shmem_kib=%ld rss_kib_max=%ld\n",
            ranks, rounds, seconds, sum[TOTAL] / ranks, sum[ANON] / ranks, sum[FILES] / ranks,
            sum[SHARED] / ranks, most[TOTAL]);
    MPI_Finalize();
    return 0;
}
