/* SPDX-License-Identifier: BSD-3-Clause */

/* The empty program: what starting and ending costs (startup.py). */

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
