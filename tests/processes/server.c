// SPDX-License-Identifier: BSD-3-Clause
/* A server that goes on when clients die, and its clients.
 *   server serve FILE N  writes its port to FILE, serves N clients that end in order.
 *   server ask PORT      asks once, and ends in order.
 *   server connect PORT  says "connected", and waits for an answer that never comes.
 *   server loop PORT     connects and disconnects until it is killed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int serve(const char* file, int wanted) {
    char port[MPI_MAX_PORT_NAME], other[1024];
    MPI_Open_port(MPI_INFO_NULL, port);
    snprintf(other, sizeof other, "%s.new", file);
    FILE* out = fopen(other, "w");
    fputs(port, out);
    fclose(out);
    rename(other, file);
    int failed = 0, served = 0;
    while (served < wanted) {
        MPI_Comm client;
        if (MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &client) != MPI_SUCCESS) {
            puts("accept failed");
            return 1;
        }
        int number = 0;
        const int error = MPI_Recv(&number, 1, MPI_INT, 0, MPI_ANY_TAG, client, MPI_STATUS_IGNORE);
        ++number;
        if (error == MPI_SUCCESS && MPI_Send(&number, 1, MPI_INT, 0, 0, client) == MPI_SUCCESS) {
            served += number == 42;
        } else {
            int class;
            MPI_Error_class(error, &class);
            if (class != MPI_ERR_PROC_ABORTED) return 2;
            ++failed;
        }
        MPI_Comm_disconnect(&client);
    }
    MPI_Close_port(port);
    printf("served %d, lost %d\n", served, failed);
    return 0;
}

static void meet(const char* port, int kind) {
    MPI_Comm server;
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &server);
    if (kind == 'c') {
        puts("connected");
        fflush(stdout);
    }
    int number = kind == 'a' ? 41 : 1;
    if (kind != 'c') MPI_Send(&number, 1, MPI_INT, 0, 0, server);
    MPI_Recv(&number, 1, MPI_INT, 0, 0, server, MPI_STATUS_IGNORE);
    if (kind == 'a') puts(number == 42 ? "answered" : "wrong");
    MPI_Comm_disconnect(&server);
}

int main(int argc, char* argv[]) {
    MPI_Init(&argc, &argv);
    int code = 0;
    if (strcmp(argv[1], "serve") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        code = serve(argv[2], atoi(argv[3]));
    } else {
        do meet(argv[2], argv[1][0]);
        while (argv[1][0] == 'l');
    }
    MPI_Finalize();
    return code;
}
