/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks share a core. One computes, the other tests in a loop for a message of the first, by
   MPI_Test or by MPI_Iprobe. It leaves the core to the one that computes, and gets the message. */
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void compute(double seconds) {
    const double end = processor_time() + seconds;
    while (processor_time() < end) {}
}

static void share_one_core(void) {
    cpu_set_t allowed, one;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    int core = 0;
    while (!CPU_ISSET(core, &allowed)) ++core;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    /* If the kernel groups processes by session, an offer of the core stays within the group. */
    setsid();
}

static void ask(int by_probe) {
    int number = -1, found = 0;
    MPI_Request request;
    if (!by_probe) OK(MPI_Irecv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request));
    while (!found) {
        if (by_probe)
            OK(MPI_Iprobe(0, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
        else
            OK(MPI_Test(&request, &found, MPI_STATUS_IGNORE));
    }
    if (by_probe) OK(MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(number == 7);
}

int main(void) {
    enum { by_test, by_probe, ways };
    const double computing = 0.5;
    int rank, size;
    share_one_core();
    start(&rank, &size, MPI_THREAD_SINGLE);
    for (int way = by_test; way < ways; ++way) {
        const int number = 7;
        OK(MPI_Barrier(MPI_COMM_WORLD));
        const double before = processor_time();
        if (rank == 0) {
            compute(computing);
            OK(MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
        } else {
            ask(way == by_probe);
            const double asking = processor_time() - before;
            if (asking > computing / 3) {
                fprintf(stderr, "asking took %.3f s of the core, computing %.3f\n", asking,
                        computing);
                exit(1);
            }
        }
    }
    MPI_Finalize();
    return 0;
}
