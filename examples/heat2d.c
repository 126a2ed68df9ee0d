/* SPDX-License-Identifier: BSD-3-Clause */

/* Heat on a plate: the 5-point stencil on a 2-D grid, cut into blocks over the ranks. In each rank
 * OpenMP threads share the block, and each thread exchanges its own part of the halo: some rows of
 * the west and east sides and some columns of the north and south sides. All threads do so at the
 * same time on MPI_COMM_WORLD. The tag names direction and thread. At the end rank 0 collects the
 * plate and compares it with the answer of one thread alone. */

#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NORTH, SOUTH, WEST, EAST, SIDES };

typedef struct {
    int rows, columns, steps, threads; /* of the whole plate; threads in each rank */
} Plan;

/* This rank's part of the plate, with a frame of one cell around it. There are two grids: a step
 * reads one and writes the other. */
typedef struct {
    int rows, columns, first_row, first_column, stride;
    int neighbour[SIDES];
    double *now, *next;
} Block;

/* Returns the first index of thread or rank `i` of `n` in [0, length). */
static int begin_of(int length, int i, int n) { return (int)((long long)length * i / n); }

static void fail(const char* reason) {
    fprintf(stderr, "heat2d: %s\n", reason);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void* allocate(size_t bytes) {
    void* memory = calloc(1, bytes);
    if (!memory) fail("out of memory");
    return memory;
}

static double* cell(const Block* block, double* grid, int row, int column) {
    return grid + (size_t)(row + 1) * block->stride + column + 1;
}

/* Returns the first temperature of a cell: the disc is warm, the north edge hot, the others
 * cold. */
static double temperature_at_start(const Plan* plan, int row, int column) {
    const double y = (row + 0.5) / plan->rows - 0.5, x = (column + 0.5) / plan->columns - 0.5;
    if (row < 0) return 1.0;
    if (row >= plan->rows || column < 0 || column >= plan->columns) return 0.0;
    return x * x + y * y < 0.05 ? 0.5 : 0.0;
}

static void fill(const Plan* plan, Block* block) {
    const size_t cells = (size_t)(block->rows + 2) * block->stride;
    block->now = allocate(cells * sizeof(double));
    block->next = allocate(cells * sizeof(double));
    for (int r = -1; r <= block->rows; ++r)
        for (int c = -1; c <= block->columns; ++c)
            *cell(block, block->now, r, c) = *cell(block, block->next, r, c) =
                temperature_at_start(plan, block->first_row + r, block->first_column + c);
}

/* Returns the rows of a grid of ranks that is as square as their number allows. */
static int rank_rows(int ranks) {
    int rows = (int)sqrt((double)ranks);
    while (ranks % rows) --rows;
    return rows;
}

static Block cut(const Plan* plan, int rank, int ranks) {
    const int down = rank_rows(ranks), across = ranks / down;
    const int y = rank / across, x = rank % across;
    Block block = {0};
    block.first_row = begin_of(plan->rows, y, down);
    block.rows = begin_of(plan->rows, y + 1, down) - block.first_row;
    block.first_column = begin_of(plan->columns, x, across);
    block.columns = begin_of(plan->columns, x + 1, across) - block.first_column;
    block.stride = block.columns + 2;
    block.neighbour[NORTH] = y > 0 ? rank - across : MPI_PROC_NULL;
    block.neighbour[SOUTH] = y + 1 < down ? rank + across : MPI_PROC_NULL;
    block.neighbour[WEST] = x > 0 ? rank - 1 : MPI_PROC_NULL;
    block.neighbour[EAST] = x + 1 < across ? rank + 1 : MPI_PROC_NULL;
    return block;
}

/* Computes the parallel and the serial answer alike, so that they agree to the bit. */
static void relax_rows(const Block* block, int from, int to) {
    for (int r = from; r < to; ++r) {
        const double* here = cell(block, block->now, r, 0);
        const double *above = here - block->stride, *below = here + block->stride;
        double* out = cell(block, block->next, r, 0);
        for (int c = 0; c < block->columns; ++c)
            out[c] =
                here[c] + 0.2 * (above[c] + below[c] + here[c - 1] + here[c + 1] - 4.0 * here[c]);
    }
}

/* One thread's part of each side, gathered: a side of a column is not contiguous in the grid. */
typedef struct {
    int thread, threads;
    double *out[SIDES], *in[SIDES];
} Halo;

static int side_length(const Block* block, int side) {
    return side == NORTH || side == SOUTH ? block->columns : block->rows;
}

static int part_begin(const Block* block, const Halo* halo, int side) {
    return begin_of(side_length(block, side), halo->thread, halo->threads);
}

static int part_length(const Block* block, const Halo* halo, int side) {
    return begin_of(side_length(block, side), halo->thread + 1, halo->threads) -
        part_begin(block, halo, side);
}

/* Returns cell `k` of a side: its outermost own cell (depth 0), or the halo cell beyond it (depth
 * 1). */
static double* side_cell(const Block* block, int side, int k, int depth) {
    switch (side) {
        case NORTH: return cell(block, block->now, -depth, k);
        case SOUTH: return cell(block, block->now, block->rows - 1 + depth, k);
        case WEST: return cell(block, block->now, k, -depth);
        default: return cell(block, block->now, k, block->columns - 1 + depth);
    }
}

static Halo make_halo(const Block* block, int thread, int threads) {
    Halo halo = {.thread = thread, .threads = threads};
    for (int side = 0; side < SIDES; ++side) {
        const size_t bytes = (size_t)(part_length(block, &halo, side) + 1) * sizeof(double);
        halo.out[side] = allocate(bytes);
        halo.in[side] = allocate(bytes);
    }
    return halo;
}

static void free_halo(Halo* halo) {
    for (int side = 0; side < SIDES; ++side) {
        free(halo->out[side]);
        free(halo->in[side]);
    }
}

/* Returns the opposite side: the northern neighbour receives from its south what this rank sends
 * north. */
static int opposite(int side) { return side ^ 1; }

static int tag_of(int side, const Halo* halo) { return side * halo->threads + halo->thread; }

static void exchange(const Block* block, Halo* halo) {
    MPI_Request requests[2 * SIDES];
    for (int side = 0; side < SIDES; ++side)
        MPI_Irecv(halo->in[side], part_length(block, halo, side), MPI_DOUBLE,
                  block->neighbour[side], tag_of(opposite(side), halo), MPI_COMM_WORLD,
                  &requests[side]);
    for (int side = 0; side < SIDES; ++side) {
        const int begin = part_begin(block, halo, side), length = part_length(block, halo, side);
        for (int k = 0; k < length; ++k) halo->out[side][k] = *side_cell(block, side, begin + k, 0);
        MPI_Isend(halo->out[side], length, MPI_DOUBLE, block->neighbour[side], tag_of(side, halo),
                  MPI_COMM_WORLD, &requests[SIDES + side]);
    }
    MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < SIDES; ++side) {
        const int begin = part_begin(block, halo, side), length = part_length(block, halo, side);
        if (block->neighbour[side] == MPI_PROC_NULL) continue; /* the edge stays as it is */
        for (int k = 0; k < length; ++k) *side_cell(block, side, begin + k, 1) = halo->in[side][k];
    }
}

static void swap(Block* block) {
    double* old = block->now;
    block->now = block->next;
    block->next = old;
}

static void run(const Plan* plan, Block* block) {
#pragma omp parallel num_threads(plan->threads)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        Halo halo = make_halo(block, thread, threads);
        for (int step = 0; step < plan->steps; ++step) {
            exchange(block, &halo);
#pragma omp barrier /* the whole halo has arrived */
            relax_rows(block, begin_of(block->rows, thread, threads),
                       begin_of(block->rows, thread + 1, threads));
#pragma omp barrier /* the whole block is computed */
#pragma omp single
            swap(block);
        }
        free_halo(&halo);
    }
}

static void pack(const Block* block, double* out) {
    for (int r = 0; r < block->rows; ++r)
        memcpy(out + (size_t)r * block->columns, cell(block, block->now, r, 0),
               (size_t)block->columns * sizeof(double));
}

static double difference(const Block* part, const double* packed, const Block* whole) {
    double worst = 0;
    for (int r = 0; r < part->rows; ++r)
        for (int c = 0; c < part->columns; ++c) {
            const double right =
                *cell(whole, whole->now, part->first_row + r, part->first_column + c);
            const double apart = fabs(packed[(size_t)r * part->columns + c] - right);
            if (!(apart <= worst)) worst = apart; /* this condition is also true for a NaN */
        }
    return worst;
}

/* Computes the whole plate by one thread of one rank. */
static Block serial_answer(const Plan* plan) {
    Block whole = cut(plan, 0, 1);
    fill(plan, &whole);
    for (int step = 0; step < plan->steps; ++step) {
        relax_rows(&whole, 0, whole.rows);
        swap(&whole);
    }
    return whole;
}

/* Returns, on rank 0, the largest difference of the ranks' blocks from the serial answer. */
static double check(const Plan* plan, const Block* mine, int rank, int ranks) {
    const int tag = SIDES * plan->threads;
    const size_t most = (size_t)plan->rows * plan->columns;
    double* packed = allocate((rank ? (size_t)mine->rows * mine->columns : most) * sizeof(double));
    double worst = 0;
    pack(mine, packed);
    if (rank != 0) {
        MPI_Send(packed, mine->rows * mine->columns, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
    } else {
        Block whole = serial_answer(plan);
        worst = difference(mine, packed, &whole);
        for (int from = 1; from < ranks; ++from) {
            const Block part = cut(plan, from, ranks);
            MPI_Recv(packed, part.rows * part.columns, MPI_DOUBLE, from, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            const double apart = difference(&part, packed, &whole);
            if (!(apart <= worst)) worst = apart;
        }
        free(whole.now);
        free(whole.next);
    }
    free(packed);
    return worst;
}

static void usage(int code) {
    fprintf(code ? stderr : stdout, "heat2d [--rows N] [--columns N] [--steps N] [--threads N]\n");
    exit(code);
}

static Plan read_plan(int argc, char** argv) {
    Plan plan = {.rows = 512, .columns = 512, .steps = 400, .threads = omp_get_max_threads()};
    const struct {
        const char* name;
        int* value;
    } options[] = {{"--rows", &plan.rows},
                   {"--columns", &plan.columns},
                   {"--steps", &plan.steps},
                   {"--threads", &plan.threads}};
    for (int i = 1; i < argc; i += 2) {
        int* value = NULL;
        char* end = NULL;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) usage(0);
        for (size_t k = 0; k < sizeof options / sizeof *options; ++k)
            if (strcmp(argv[i], options[k].name) == 0) value = options[k].value;
        if (!value || i + 1 == argc) usage(2);
        *value = (int)strtol(argv[i + 1], &end, 10);
        if (*end || *value < 1 || *value > 1 << 15) usage(2);
    }
    return plan;
}

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    int level, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE) fail("this MPI gives no MPI_THREAD_MULTIPLE");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Block block = cut(&plan, rank, ranks);
    fill(&plan, &block);

    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    run(&plan, &block);
    double mine = MPI_Wtime() - start, seconds = 0;
    MPI_Reduce(&mine, &seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    const double worst = check(&plan, &block, rank, ranks);
    int wrong = rank == 0 && !(worst <= 1e-12);
    if (rank == 0) {
        printf("heat2d: %d x %d cells, %d steps, %d ranks x %d threads: %.3f s, %.1f us a step\n",
               plan.rows, plan.columns, plan.steps, ranks, plan.threads, seconds,
               seconds / plan.steps * 1e6);
        printf("heat2d: %s (largest difference from the serial answer %g)\n",
               wrong ? "WRONG" : "correct", worst);
    }
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(block.now);
    free(block.next);
    MPI_Finalize();
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
