/* SPDX-License-Identifier: BSD-3-Clause */

/* Heat on a torus. MPI lays the ranks out as a periodic 2-D grid (MPI_Cart_create), and datatypes
 * describe the sides of a block. One call exchanges all four sides with the neighbours
 * (MPI_Ineighbor_alltoallw) while the inner cells are computed. The heat begins as a wave. The
 * stencil only damps it, by a known factor, so that every rank can check its own cells. */

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS, COLUMNS, DIMENSIONS };
enum { SIDES = 2 * DIMENSIONS }; /* by dimension: the lower side, the upper side */

static const double pi = 3.14159265358979323846;
static const double conductivity = 0.2; /* of a step */

/* This rank's cells, with a frame of one cell around them. There are two grids: a step reads one
 * and writes the other. */
typedef struct {
    MPI_Comm grid;
    int length;            /* cells along each side of the torus */
    int first[DIMENSIONS]; /* cell of the torus */
    int cells[DIMENSIONS];
    double *now, *next;
} Block;

/* The places of a block's sides in memory: those that are sent, and those in the frame that
 * receive. */
typedef struct {
    int counts[SIDES];
    MPI_Datatype types[SIDES];
    MPI_Aint send[SIDES], receive[SIDES]; /* bytes from the beginning of the grid */
} Sides;

static int begin_of(int length, int i, int n) { return (int)((long long)length * i / n); }

static size_t index_of(const Block* block, int row, int column) {
    return (size_t)(row + 1) * (size_t)(block->cells[COLUMNS] + 2) + (size_t)(column + 1);
}

static double wave(const Block* block, int row, int column) {
    return sin(2 * pi * (block->first[ROWS] + row) / block->length) *
        sin(2 * pi * (block->first[COLUMNS] + column) / block->length);
}

static Block cut(int length) {
    Block block = {.length = length};
    int ranks, dims[DIMENSIONS] = {0, 0}, periods[DIMENSIONS] = {1, 1}, place[DIMENSIONS];
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, DIMENSIONS, dims);
    MPI_Cart_create(MPI_COMM_WORLD, DIMENSIONS, dims, periods, 1, &block.grid);
    MPI_Cart_get(block.grid, DIMENSIONS, dims, periods, place);
    for (int d = 0; d < DIMENSIONS; ++d) {
        block.first[d] = begin_of(length, place[d], dims[d]);
        block.cells[d] = begin_of(length, place[d] + 1, dims[d]) - block.first[d];
    }
    const size_t cells = index_of(&block, block.cells[ROWS] + 1, 0);
    block.now = calloc(cells, sizeof(double));
    block.next = calloc(cells, sizeof(double));
    if (!block.now || !block.next || !block.cells[ROWS] || !block.cells[COLUMNS]) {
        fprintf(stderr, "halo_cart: no memory, or more ranks than cells\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    for (int r = 0; r < block.cells[ROWS]; ++r)
        for (int c = 0; c < block.cells[COLUMNS]; ++c)
            block.now[index_of(&block, r, c)] = wave(&block, r, c);
    return block;
}

static MPI_Aint bytes_to(const Block* block, int row, int column) {
    return (MPI_Aint)(index_of(block, row, column) * sizeof(double));
}

static Sides describe(const Block* block) {
    const int rows = block->cells[ROWS], columns = block->cells[COLUMNS];
    MPI_Datatype row, column;
    MPI_Type_contiguous(columns, MPI_DOUBLE, &row);
    MPI_Type_vector(rows, 1, columns + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&row);
    MPI_Type_commit(&column);
    return (Sides){.counts = {1, 1, 1, 1},
                   .types = {row, row, column, column},
                   .send = {bytes_to(block, 0, 0), bytes_to(block, rows - 1, 0),
                            bytes_to(block, 0, 0), bytes_to(block, 0, columns - 1)},
                   .receive = {bytes_to(block, -1, 0), bytes_to(block, rows, 0),
                               bytes_to(block, 0, -1), bytes_to(block, 0, columns)}};
}

static void update(Block* block, int row, int column) {
    const double* now = block->now;
    const double centre = now[index_of(block, row, column)];
    const double around = now[index_of(block, row - 1, column)] +
        now[index_of(block, row + 1, column)] + now[index_of(block, row, column - 1)] +
        now[index_of(block, row, column + 1)];
    block->next[index_of(block, row, column)] = centre + conductivity * (around - 4 * centre);
}

/* Updates the cells that need the frame, or those that do not. */
static void update_edge(Block* block) {
    const int rows = block->cells[ROWS], columns = block->cells[COLUMNS];
    for (int r = 0; r < rows; ++r) {
        const int whole_row = r == 0 || r == rows - 1;
        const int step = whole_row || columns == 1 ? 1 : columns - 1;
        for (int c = 0; c < columns; c += step) update(block, r, c);
    }
}
static void update_inside(Block* block) {
    for (int r = 1; r < block->cells[ROWS] - 1; ++r)
        for (int c = 1; c < block->cells[COLUMNS] - 1; ++c) update(block, r, c);
}

static void run(Block* block, int steps) {
    Sides sides = describe(block);
    for (int step = 0; step < steps; ++step) {
        MPI_Request request;
        MPI_Ineighbor_alltoallw(block->now, sides.counts, sides.send, sides.types, block->now,
                                sides.counts, sides.receive, sides.types, block->grid, &request);
        update_inside(block);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        update_edge(block);
        double* last = block->now;
        block->now = block->next;
        block->next = last;
    }
    MPI_Type_free(&sides.types[0]);
    MPI_Type_free(&sides.types[2]);
}

/* Returns the largest difference of all ranks from the known answer. */
static double check(const Block* block, int steps) {
    const double factor = pow(1 + 4 * conductivity * (cos(2 * pi / block->length) - 1), steps);
    double worst = 0, worst_of_all = 0;
    for (int r = 0; r < block->cells[ROWS]; ++r)
        for (int c = 0; c < block->cells[COLUMNS]; ++c)
            worst =
                fmax(worst, fabs(block->now[index_of(block, r, c)] - factor * wave(block, r, c)));
    MPI_Allreduce(&worst, &worst_of_all, 1, MPI_DOUBLE, MPI_MAX, block->grid);
    return worst_of_all;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int length = argc > 1 ? atoi(argv[1]) : 256, steps = argc > 2 ? atoi(argv[2]) : 400;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (length < 1 || length > 1 << 14 || steps < 0) {
        if (rank == 0) fprintf(stderr, "halo_cart [CELLS [STEPS]]\n");
        MPI_Finalize();
        return 2;
    }
    Block block = cut(length);
    const double start = MPI_Wtime();
    run(&block, steps);
    const double seconds = MPI_Wtime() - start, worst = check(&block, steps);
    const int correct = worst <= 1e-9;
    if (rank == 0)
        printf("halo_cart: %d x %d cells, %d steps: %.3f s, %s (largest error %g)\n", length,
               length, steps, seconds, correct ? "correct" : "WRONG", worst);
    free(block.now);
    free(block.next);
    MPI_Comm_free(&block.grid);
    MPI_Finalize();
    return correct ? EXIT_SUCCESS : EXIT_FAILURE;
}
