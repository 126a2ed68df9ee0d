/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool in C sees Fortran's calls by MPI names, and none of those by PMPI names. */
#include <mpi.h>

static int barriers;

int MPI_Barrier(MPI_Comm comm) {
    ++barriers;
    return PMPI_Barrier(comm);
}

int barriers_in_c(void) { return barriers; }
