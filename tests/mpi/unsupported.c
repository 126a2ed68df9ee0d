/* SPDX-License-Identifier: BSD-3-Clause */
/* A function that is not there yet says so once, also where errors are returned: a program that does not look
   at the error would believe that it has been served. */
#include <unistd.h>

#include "check.h"

static int count(const char* text, const char* what) {
    int found = 0;
    for (const char* at = text; (at = strstr(at, what)) != NULL; at += strlen(what)) ++found;
    return found;
}

int main(void) {
    int rank, size, ends[2];
    char port[MPI_MAX_PORT_NAME], text[4096] = "";
    start(&rank, &size, MPI_THREAD_SINGLE);
    const int errors = dup(STDERR_FILENO);
    CHECK(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    const int opened = MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Open_port(MPI_INFO_NULL, port);
    const int closed = MPI_Close_port("no such port");
    MPI_Close_port("no such port");
    dup2(errors, STDERR_FILENO);
    if (opened != MPI_ERR_UNSUPPORTED_OPERATION || closed != MPI_ERR_UNSUPPORTED_OPERATION) {
        MPI_Finalize();
        return 77; /* they are there by now */
    }
    CHECK(read(ends[0], text, sizeof text - 1) > 0);
    CHECK(count(text, "MPI_Open_port: not supported") == 1);
    CHECK(count(text, "MPI_Close_port: not supported") == 1);
    MPI_Finalize();
    return 0;
}
