/* SPDX-License-Identifier: BSD-3-Clause */
/* refuse CALL ERROR RANK PROGRAM [ARGUMENT...]: runs the program with a system call refused. It
   does so if this rank (of PMI_RANK) is RANK, or RANK is "all". Exit code 77: filters are forbidden
   here. */
#include "refuse.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    if (argc < 5 || system_call_named(argv[1]) < 0 || error_named(argv[2]) < 0) {
        fprintf(stderr, "refuse CALL ERROR RANK PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    const char* rank = getenv("PMI_RANK");
    if (strcmp(argv[3], "all") == 0 || (rank != NULL && strcmp(argv[3], rank) == 0))
        if (refuse(system_call_named(argv[1]), error_named(argv[2])) != 0) return 77;
    execvp(argv[4], argv + 4);
    perror(argv[4]);
    return 127;
}
