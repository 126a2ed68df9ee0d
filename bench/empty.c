/* SPDX-License-Identifier: BSD-3-Clause */

/* The empty program, by which startup.py measures starting and ending. */

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
