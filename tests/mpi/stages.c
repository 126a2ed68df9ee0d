/* SPDX-License-Identifier: BSD-3-Clause */
/* Large MPI_Allreduce in memory that the ranks of a communicator share. Calls come one after
   another, longer than the shared memory, and in place. There are more communicators than can have
   such memory, and some come after others were freed. The bits of the result are the same on all
   ranks, in every call, and on every communicator. */
#include <stdint.h>

#include "check.h"

enum { communicators = 70, most = 300000 };

static int rank, size;
static double *in, *out, *first;

/* Returns an operand. Sums of operands depend on the order. */
static double operand(int of, int i, int call) {
    return (double)((of + 3) * (i % 1009 + 1)) / (7.0 + call) + 1e-9 * of;
}

static void fill(double* data, int count, int call) {
    for (int i = 0; i < count; ++i) data[i] = operand(rank, i, call);
}

static void about_right(int count, int call) {
    for (int i = 0; i < count; i += 97) {
        double sum = 0;
        for (int r = 0; r < size; ++r) sum += operand(r, i, call);
        CHECK(out[i] > sum * (1 - 1e-12) && out[i] < sum * (1 + 1e-12));
    }
}

static void same_everywhere(int count) {
    uint64_t hash = 1, all[2], mine[2];
    for (int i = 0; i < count; ++i) {
        uint64_t bits;
        memcpy(&bits, &out[i], sizeof bits);
        hash = hash * 1000003 + bits;
    }
    mine[0] = hash;
    mine[1] = ~hash;
    OK(MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD));
    CHECK(all[0] == hash && all[1] == ~hash);
}

static void sizes_and_calls(void) {
    const int counts[] = {1100, 4001, 8192, 131072, 131073, most};
    for (int k = 0; k < 6; ++k)
        for (int call = 0; call < 4; ++call) {
            fill(in, counts[k], call);
            memset(out, 0xff, (size_t)counts[k] * sizeof *out);
            OK(MPI_Allreduce(in, out, counts[k], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
            about_right(counts[k], call);
            same_everywhere(counts[k]);
            memcpy(first, out, (size_t)counts[k] * sizeof *out);
            fill(out, counts[k], call);
            OK(MPI_Allreduce(MPI_IN_PLACE, out, counts[k], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
            CHECK(memcmp(first, out, (size_t)counts[k] * sizeof *out) == 0);
        }
}

/* No rank waits between calls: a rank that is ahead must not disturb one that is behind. */
static void in_quick_succession(void) {
    enum { count = 20000, calls = 60 };
    int* number = malloc(count * sizeof *number);
    int* sum = malloc(count * sizeof *sum);
    for (int call = 0; call < calls; ++call) {
        for (int i = 0; i < count; ++i) number[i] = rank * call + i;
        OK(MPI_Allreduce(number, sum, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        for (int i = 0; i < count; ++i) CHECK(sum[i] == size * (size - 1) / 2 * call + size * i);
    }
    free(sum);
    free(number);
}

static void many_communicators(void) {
    static MPI_Comm comms[communicators];
    const int count = 140000; /* longer than the shared memory */
    fill(in, count, 5);
    OK(MPI_Allreduce(in, first, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    for (int k = 0; k < communicators; ++k) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]));
        OK(MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comms[k]));
        CHECK(memcmp(first, out, (size_t)count * sizeof *out) == 0);
    }
    for (int k = 0; k < communicators; ++k) OK(MPI_Comm_free(&comms[k]));
    for (int k = 0; k < 2 * communicators; ++k) { /* memory of freed communicators is used again */
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
        OK(MPI_Allreduce(in, out, 9000, MPI_DOUBLE, MPI_SUM, comms[0]));
        OK(MPI_Comm_free(&comms[0]));
    }
}

/* Tests some of the ranks, in another order. */
static void parts(void) {
    MPI_Comm part;
    int number;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part));
    OK(MPI_Comm_size(part, &number));
    for (int i = 0; i < 50000; ++i) in[i] = rank % 2;
    OK(MPI_Allreduce(in, out, 50000, MPI_DOUBLE, MPI_SUM, part));
    for (int i = 0; i < 50000; ++i) CHECK(out[i] == (double)(number * (rank % 2)));
    OK(MPI_Comm_free(&part));
}

int main(void) {
    start(&rank, &size, MPI_THREAD_SINGLE);
    in = malloc(most * sizeof *in);
    out = malloc(most * sizeof *out);
    first = malloc(most * sizeof *first);
    sizes_and_calls();
    in_quick_succession();
    many_communicators();
    parts();
    MPI_Finalize();
    free(first);
    free(out);
    free(in);
    return 0;
}
