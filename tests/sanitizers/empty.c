/* SPDX-License-Identifier: BSD-3-Clause */
/* The least that a program of MPI does. */
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
