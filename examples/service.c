// SPDX-License-Identifier: BSD-3-Clause
/* A server, and clients that come and go. Each of them is a job of its own:
 * mpiexec -n 2 ./service serve & mpiexec -n 3 ./service ask 7; ./service ask 8; ./service end */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const name = "heddle-example-square";

/* Serves: every rank of the server multiplies a part. */
static void serve(void) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(name, MPI_INFO_NULL, port);
        puts("serving");
        fflush(stdout);
    }
    for (int number = 1; number != 0;) {
        MPI_Comm clients;
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &clients);
        MPI_Bcast(&number, 1, MPI_INT, 0, clients);
        int square = number * (number / size + (rank < number % size));
        MPI_Reduce(&square, NULL, 1, MPI_INT, MPI_SUM, 0, clients);
        MPI_Comm_disconnect(&clients);
    }
    if (rank == 0) {
        MPI_Unpublish_name(name, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
}

static void ask(int number) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0) MPI_Lookup_name(name, MPI_INFO_NULL, port);
    MPI_Comm server;
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &server);
    const int root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    int square = 0;
    MPI_Bcast(&number, 1, MPI_INT, root, server);
    MPI_Reduce(NULL, &square, 1, MPI_INT, MPI_SUM, root, server);
    if (rank == 0 && number != 0)
        printf("the square of %d is %d: %s\n", number, square,
               square == number * number ? "correct" : "wrong");
    MPI_Comm_disconnect(&server);
}

int main(int argc, char* argv[]) {
    MPI_Init(&argc, &argv);
    if (argc == 2 && strcmp(argv[1], "serve") == 0)
        serve();
    else if (argc == 3 && strcmp(argv[1], "ask") == 0)
        ask(atoi(argv[2]));
    else if (argc == 2 && strcmp(argv[1], "end") == 0)
        ask(0);
    else
        fprintf(stderr, "usage: service serve | ask NUMBER | end\n");
    MPI_Finalize();
    return 0;
}
