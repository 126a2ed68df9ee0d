/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads spawn, accept and connect at once, each on a communicator of its own. They do so in a job
 * and in its child job:
 *   0, 1  start children, all of the job together, and each process for itself.
 *   2, 3  accept connections of the other job, and connect to its port.
 *
 * Each meeting exchanges values that only its two sides know. `processes_threads ROUNDS` (default
 * 20). */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { THREADS = 4, PORT = 100 };

static char* program;
static int rounds, is_started, rank, size;
static MPI_Comm other_job, mine[THREADS];

/* Each rank receives from each rank of the other side. */
static void exchange(MPI_Comm inter, int what) {
    int remote, here;
    OK(MPI_Comm_remote_size(inter, &remote));
    OK(MPI_Comm_size(inter, &here));
    int* got = calloc((size_t)remote, sizeof *got);
    OK(MPI_Allgather(&what, 1, MPI_INT, got, 1, MPI_INT, inter));
    for (int i = 0; i < remote; ++i) CHECK(got[i] == what);
    free(got);
}

static void start_and_leave(MPI_Comm comm, int root, int number, int what) {
    char text[16];
    snprintf(text, sizeof text, "%d", what);
    char* arguments[] = {"child", text, NULL};
    MPI_Comm children;
    OK(MPI_Comm_spawn(program, arguments, number, MPI_INFO_NULL, root, comm, &children,
                      MPI_ERRCODES_IGNORE));
    exchange(children, what);
    OK(MPI_Comm_disconnect(&children));
}

/* Accepts one. The port's name goes from root to root over the intercommunicator of the two
 * jobs. */
static void accept_one(MPI_Comm comm, int root, int thread, int what) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm client;
    if (rank == root) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        OK(MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, root, PORT + thread, other_job));
    }
    OK(MPI_Comm_accept(port, MPI_INFO_NULL, root, comm, &client));
    exchange(client, what);
    OK(MPI_Comm_disconnect(&client));
    if (rank == root) OK(MPI_Close_port(port));
}

static void connect_one(MPI_Comm comm, int root, int thread, int what) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm server;
    if (rank == root)
        OK(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, root, PORT + thread, other_job,
                    MPI_STATUS_IGNORE));
    OK(MPI_Comm_connect(port, MPI_INFO_NULL, root, comm, &server));
    exchange(server, what);
    OK(MPI_Comm_disconnect(&server));
}

static void* work(void* argument) {
    const int thread = (int)(long)argument;
    for (int round = 0; round < rounds; ++round) {
        const int root = round % size, what = 1000 * thread + round;
        if (thread == 0) start_and_leave(mine[0], root, 2, what);
        if (thread == 1) start_and_leave(mine[1], 0, 1, what + 100 * rank);
        // The two jobs have opposite roles.
        if (thread == 2 + is_started) accept_one(mine[thread], root, thread, what);
        if (thread == 3 - is_started) connect_one(mine[thread], root, thread, what);
    }
    return NULL;
}

static void work_in_threads(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i)
        OK(MPI_Comm_dup(i == 1 ? MPI_COMM_SELF : MPI_COMM_WORLD, &mine[i]));
    for (long i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; ++i) OK(MPI_Comm_free(&mine[i]));
}

int main(int argc, char* argv[]) {
    int given;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given));
    CHECK(given == MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_get_parent(&other_job));
    program = argv[0];
    if (other_job != MPI_COMM_NULL && argc > 1 && strcmp(argv[1], "child") == 0) {
        exchange(other_job, atoi(argv[2]));
        OK(MPI_Comm_disconnect(&other_job));
        OK(MPI_Finalize());
        return 0;
    }
    is_started = other_job != MPI_COMM_NULL;
    rounds = argc > 1 ? atoi(argv[1]) : 20;
    if (!is_started)
        OK(MPI_Comm_spawn(program, argv + 1, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other_job,
                          MPI_ERRCODES_IGNORE));
    work_in_threads();
    OK(MPI_Comm_disconnect(&other_job));
    OK(MPI_Finalize());
    return 0;
}
