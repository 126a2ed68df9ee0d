// SPDX-License-Identifier: BSD-3-Clause
// Measures a step of a halo exchange: eight messages with four neighbours, rows and columns, and a
// 5-point stencil.
//
//   halo [CELLS [STEPS [persistent]]]
//
// Each rank has CELLS x CELLS cells of a torus, in double precision. With `persistent`, the
// requests are made once. The program prints the median of repetitions of STEPS steps.
// check_cost.sh compares it with and without mpiexec --check.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { repetitions = 15, messages = 8 };

typedef struct {
    int cells, neighbours[4]; /* above, below, left, right */
    double *now, *next;       /* with a rim of one cell */
    MPI_Comm torus;
    MPI_Datatype column;
    MPI_Request made[2][messages]; /* persistent ones, of both fields */
} field;

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double* at(const field* f, double* cells, int row, int column) {
    return cells + (size_t)row * (size_t)(f->cells + 2) + column;
}

typedef int begin(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
static int begin_send(void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
    return MPI_Isend(b, n, t, to, tag, c, r);
}
static int make_send(void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
    return MPI_Send_init(b, n, t, to, tag, c, r);
}

/* Exchanges the rims of a field: data from above goes into row 0, and so on. A tag is a
 * direction. */
static void exchange(const field* f, double* cells, begin* receive, begin* send,
                     MPI_Request* requests) {
    const int n = f->cells;
    const int* to = f->neighbours;
    receive(at(f, cells, 0, 1), n, MPI_DOUBLE, to[0], 1, f->torus, &requests[0]);
    receive(at(f, cells, n + 1, 1), n, MPI_DOUBLE, to[1], 0, f->torus, &requests[1]);
    receive(at(f, cells, 1, 0), 1, f->column, to[2], 3, f->torus, &requests[2]);
    receive(at(f, cells, 1, n + 1), 1, f->column, to[3], 2, f->torus, &requests[3]);
    send(at(f, cells, 1, 1), n, MPI_DOUBLE, to[0], 0, f->torus, &requests[4]);
    send(at(f, cells, n, 1), n, MPI_DOUBLE, to[1], 1, f->torus, &requests[5]);
    send(at(f, cells, 1, 1), 1, f->column, to[2], 2, f->torus, &requests[6]);
    send(at(f, cells, 1, n), 1, f->column, to[3], 3, f->torus, &requests[7]);
}

static void compute(field* f) {
    for (int row = 1; row <= f->cells; ++row) {
        const double *above = at(f, f->now, row - 1, 0), *here = at(f, f->now, row, 0),
                     *below = at(f, f->now, row + 1, 0);
        double* out = at(f, f->next, row, 0);
        for (int i = 1; i <= f->cells; ++i)
            out[i] = 0.2 * (here[i] + here[i - 1] + here[i + 1] + above[i] + below[i]);
    }
    double* old = f->now;
    f->now = f->next;
    f->next = old;
}

static void step(field* f, int persistent, int odd) {
    MPI_Request requests[messages], *used = persistent ? f->made[odd] : requests;
    if (persistent)
        MPI_Startall(messages, used);
    else
        exchange(f, f->now, MPI_Irecv, begin_send, used);
    MPI_Waitall(messages, used, MPI_STATUSES_IGNORE);
    compute(f);
}

static void make(field* f) {
    const size_t cells = (size_t)(f->cells + 2) * (size_t)(f->cells + 2);
    int dims[2] = {0, 0}, around[2] = {1, 1}, size, rank;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, around, 0, &f->torus);
    MPI_Cart_shift(f->torus, 0, 1, &f->neighbours[0], &f->neighbours[1]);
    MPI_Cart_shift(f->torus, 1, 1, &f->neighbours[2], &f->neighbours[3]);
    MPI_Comm_rank(f->torus, &rank);
    MPI_Type_vector(f->cells, 1, f->cells + 2, MPI_DOUBLE, &f->column);
    MPI_Type_commit(&f->column);
    f->now = malloc(cells * sizeof(double));
    f->next = malloc(cells * sizeof(double));
    if (f->now == NULL || f->next == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < cells; ++i) f->now[i] = f->next[i] = rank + 1;
    exchange(f, f->now, MPI_Recv_init, make_send, f->made[0]);
    exchange(f, f->next, MPI_Recv_init, make_send, f->made[1]);
}

static void end(field* f) {
    for (int i = 0; i < messages; ++i) {
        MPI_Request_free(&f->made[0][i]);
        MPI_Request_free(&f->made[1][i]);
    }
    free(f->now);
    free(f->next);
    MPI_Type_free(&f->column);
    MPI_Comm_free(&f->torus);
}

/* Returns the sum of all cells of all ranks. The stencil only moves their contents, so the sum
 * stays. */
static double sum_of(field* f) {
    double sum = 0, all = 0;
    for (int row = 1; row <= f->cells; ++row)
        for (int i = 1; i <= f->cells; ++i) sum += *at(f, f->now, row, i);
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, f->torus);
    return all;
}

int main(int argc, char** argv) {
    field f = {.cells = argc > 1 ? atoi(argv[1]) : 32};
    const int steps = argc > 2 ? atoi(argv[2]) / 2 * 2 : 2000;
    const int persistent = argc > 3 && strcmp(argv[3], "persistent") == 0;
    double times[repetitions];
    int rank;
    if (f.cells < 1 || steps < 2) {
        fprintf(stderr, "halo: CELLS and STEPS are positive numbers\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make(&f);
    const double before = sum_of(&f);
    for (int i = -2; i < repetitions; ++i) {
        MPI_Barrier(f.torus);
        const double start = MPI_Wtime();
        for (int s = 0; s < steps; ++s) step(&f, persistent, s % 2);
        if (i >= 0) times[i] = (MPI_Wtime() - start) / steps;
    }
    const double after = sum_of(&f);
    const int right = after > before * 0.999999 && after < before * 1.000001;
    qsort(times, repetitions, sizeof *times, compare);
    if (rank == 0 && right)
        printf("result bench=halo cells=%d step_us=%.3f\n", f.cells, times[repetitions / 2] * 1e6);
    if (!right) fprintf(stderr, "halo: rank %d: cells hold %g, and held %g\n", rank, after, before);
    end(&f);
    MPI_Finalize();
    return !right;
}
