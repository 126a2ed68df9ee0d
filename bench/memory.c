/* SPDX-License-Identifier: BSD-3-Clause */

/* Resident memory of a rank, from /proc/self/status after MPI_Init_thread. With `talk` every rank
 * has exchanged one message with every other before that. The growth per rank comes from runs with
 * different numbers of ranks (startup.py). */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void talk(int me, int ranks) {
    char out = 0, in = 0;
    for (int k = 1; k < ranks; ++k)
        MPI_Sendrecv(&out, 1, MPI_CHAR, (me + k) % ranks, 0, &in, 1, MPI_CHAR,
                     (me + ranks - k) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    int level, me, ranks;
    long mine[KINDS], most[KINDS], sum[KINDS];
    const int talks = argc > 1 && strcmp(argv[1], "talk") == 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (talks) talk(me, ranks);
    resident(mine);
    MPI_Reduce(mine, most, KINDS, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(mine, sum, KINDS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf(
            "result bench=memory ranks=%d talk=%d rss_kib=%ld anon_kib=%ld file_kib=%ld "
            "shmem_kib=%ld rss_kib_max=%ld\n",
            ranks, talks, sum[TOTAL] / ranks, sum[ANON] / ranks, sum[FILES] / ranks,
            sum[SHARED] / ranks, most[TOTAL]);
    MPI_Finalize();
    return 0;
}
