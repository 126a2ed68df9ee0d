/* SPDX-License-Identifier: BSD-3-Clause */

/* Shows how a shared tag keeps threads from communicating side by side. All threads of a rank send
 * small messages to the next rank, and receive from the one before, on MPI_COMM_WORLD.
 *
 *   shared      every message has tag 0: the standard orders messages between all threads, so that
 *               all go through one queue.
 *   distinct    each thread has a tag of its own: threads have nothing in common.
 *   overtaking  tag 0, on a communicator that promises that order does not matter
 *               (mpi_assert_allow_overtaking).
 *
 * Any thread may receive a message of a shared tag, so that only the sum of all is checked. */

#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, MOST = 1 << 15 };

typedef enum { SHARED, DISTINCT, OVERTAKING, VARIANTS } Variant;
static const char* const variant_names[VARIANTS] = {"shared", "distinct", "overtaking"};

typedef struct {
    Variant variant;
    int threads, windows;
} Plan;

typedef struct {
    MPI_Comm comm;
    int next, before;
} Ring;

static void usage(int code) {
    fprintf(code ? stderr : stdout,
            "shared_tag [--tags shared|distinct|overtaking] [--threads N] [--windows N]\n"
            "numbers from 1 to %d; a window is %d messages of each thread\n",
            MOST, WINDOW);
    exit(code);
}

static int number_of(const char* text) {
    char* end = NULL;
    const long number = strtol(text, &end, 10);
    if (end == text || *end || number < 1 || number > MOST) usage(2);
    return (int)number;
}

static Variant variant_of(const char* text) {
    int i = 0;
    while (i < VARIANTS && strcmp(text, variant_names[i]) != 0) ++i;
    if (i == VARIANTS) usage(2);
    return (Variant)i;
}

static Plan read_plan(int argc, char** argv) {
    Plan plan = {.variant = SHARED, .threads = omp_get_max_threads(), .windows = 1000};
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) usage(0);
        if (i + 1 == argc) usage(2);
        if (strcmp(argv[i], "--tags") == 0)
            plan.variant = variant_of(argv[i + 1]);
        else if (strcmp(argv[i], "--threads") == 0)
            plan.threads = number_of(argv[i + 1]);
        else if (strcmp(argv[i], "--windows") == 0)
            plan.windows = number_of(argv[i + 1]);
        else
            usage(2);
    }
    return plan;
}

static Ring make_ring(Variant variant) {
    Ring ring = {.comm = MPI_COMM_WORLD};
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ring.next = (rank + 1) % ranks;
    ring.before = (rank + ranks - 1) % ranks;
    if (variant == OVERTAKING) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_assert_allow_overtaking", "true");
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &ring.comm);
        MPI_Info_free(&info);
    }
    return ring;
}

/* Exchanges all windows of one thread, which sends `first`, `first` + 1, ... Returns the sum it
 * received. */
static long long exchange(const Ring* ring, int tag, int windows, long long first) {
    long long out[WINDOW], in[WINDOW], sum = 0;
    MPI_Request requests[2 * WINDOW];
    for (int window = 0; window < windows; ++window) {
        for (int i = 0; i < WINDOW; ++i) {
            MPI_Irecv(&in[i], 1, MPI_LONG_LONG, ring->before, tag, ring->comm, &requests[i]);
        }
        for (int i = 0; i < WINDOW; ++i) {
            out[i] = first++;
            MPI_Isend(&out[i], 1, MPI_LONG_LONG, ring->next, tag, ring->comm,
                      &requests[WINDOW + i]);
        }
        MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < WINDOW; ++i) sum += in[i];
    }
    return sum;
}

static long long run(const Plan* plan, const Ring* ring) {
    const long long each = (long long)plan->windows * WINDOW;
    long long sum = 0;
#pragma omp parallel num_threads(plan->threads) reduction(+ : sum)
    {
        const int thread = omp_get_thread_num();
        const int tag = plan->variant == DISTINCT ? thread : 0;
        sum += exchange(ring, tag, plan->windows, thread * each);
    }
    return sum;
}

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    int level, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "shared_tag: this MPI gives no MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Ring ring = make_ring(plan.variant);

    omp_set_dynamic(0); /* exactly this number of threads: their messages go to each other */
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    const long long mine = run(&plan, &ring);
    const double seconds = MPI_Wtime() - start;

    long long sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    const long long messages = (long long)plan.threads * plan.windows * WINDOW;
    const int correct = sum == ranks * (messages * (messages - 1) / 2);
    if (rank == 0)
        printf(
            "shared_tag: %d ranks of %d threads, tags %s: %.3f M messages/s sent by a rank, %s\n",
            ranks, plan.threads, variant_names[plan.variant], (double)messages / seconds / 1e6,
            correct ? "correct" : "WRONG");
    if (ring.comm != MPI_COMM_WORLD) MPI_Comm_free(&ring.comm);
    MPI_Finalize();
    return correct ? EXIT_SUCCESS : EXIT_FAILURE;
}
