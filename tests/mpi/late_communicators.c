/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank makes and frees thousands of communicators later than another one. The other rank computes
 * meanwhile and takes none of the letters about them. MPI_Finalize ends all the same. */
#include "check.h"

static void compute(double seconds) {
    for (const double begin = MPI_Wtime(); MPI_Wtime() - begin < seconds;) {}
}

int main(int argc, char** argv) {
    int rank;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank != 0) compute(0.3);
    for (int i = 0; i < 20000; ++i) {
        MPI_Comm made;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
        OK(MPI_Comm_free(&made));
    }
    if (rank == 0) compute(1.5);
    OK(MPI_Finalize());
    return 0;
}
