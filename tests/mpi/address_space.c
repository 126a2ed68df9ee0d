/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI takes little address space and memory at first, more when it is used. MPI_Finalize gives
   nearly all of it back. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { requests = 40000, messages = 100000, elements = 1 << 19, megabyte = 1024 };

static int rank = -1, failed;

/* Returns a line of /proc/self/status, in kilobytes. */
static long now(const char* name) {
    char line[256];
    long value = -1;
    FILE* file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0) value = atol(strchr(line, ':') + 1);
    if (file != NULL) fclose(file);
    return value;
}

static void at_most(const char* when, const char* name, long kilobytes) {
    const long value = now(name);
    if (value >= 0 && value <= kilobytes) return;
    fprintf(stderr, "rank %d, %s: %s is %ld kB, not at most %ld kB\n", rank, when, name, value,
            kilobytes);
    failed = 1;
}

/* Sends many messages, some of which are never received, and has many requests at once. */
static void many(int peer) {
    static MPI_Request all[requests];
    static char from[requests], to[requests];
    char payload[40] = "payload";
    for (int i = 0; i < messages; ++i)
        MPI_Send(payload, sizeof payload, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < requests; ++i)
        MPI_Irecv(&to[i], 1, MPI_CHAR, peer, 2, MPI_COMM_WORLD, &all[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < requests; ++i) from[i] = (char)i;
    for (int i = 0; i < requests; ++i) MPI_Send(&from[i], 1, MPI_CHAR, peer, 2, MPI_COMM_WORLD);
    /* The order is backwards and handles are copies, so that each is looked up among many. */
    for (int i = requests; i-- > 0;) MPI_Wait(&all[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < requests; ++i) failed |= to[i] != (char)i;
    for (int i = 0; i < messages / 2; ++i)
        MPI_Recv(payload, sizeof payload, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void large(int peer) {
    double* in = malloc(elements * sizeof *in);
    double* out = malloc(elements * sizeof *out);
    for (int i = 0; i < elements; ++i) in[i] = i;
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(in, out, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < elements; i += 1001) failed |= out[i] != (double)i * size;
    MPI_Sendrecv(in, elements, MPI_DOUBLE, peer, 3, out, elements, MPI_DOUBLE, peer, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    failed |= memcmp(in, out, elements * sizeof *in) != 0;
    free(in);
    free(out);
}

int main(int argc, char** argv) {
    const long bare = now("VmSize"), bare_memory = now("VmRSS");
    MPI_Init(&argc, &argv);
    int size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    at_most("after MPI_Init", "VmSize", 256 * megabyte);
    MPI_Barrier(MPI_COMM_WORLD);
    at_most("after the first barrier", "VmSize", 256 * megabyte);
    if (size % 2 == 0) {
        many(rank ^ 1);
        large(rank ^ 1);
    }
    MPI_Finalize();
    at_most("after MPI_Finalize", "VmSize", bare + 96 * megabyte);
    at_most("after MPI_Finalize", "VmRSS", bare_memory + 8 * megabyte);
    int over = 0;
    MPI_Finalized(&over);
    return failed || !over;
}
