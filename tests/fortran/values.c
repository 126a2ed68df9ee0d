/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles and statuses of Fortran, in C. */
#include <mpi_fortran.h>

#include <string.h>

int handle_in_c(MPI_Fint comm) {
    int size = -1;
    MPI_Comm_size(MPI_Comm_f2c(comm), &size);
    return MPI_Comm_c2f(MPI_Comm_f2c(comm)) == comm ? size : -1;
}

int statuses_in_c(const MPI_Fint* f_status, const MPI_F08_status* f08_status) {
    MPI_Status one, other;
    MPI_Fint array[MPI_F_STATUS_SIZE];
    MPI_F08_status structure;
    MPI_Status_f2c(f_status, &one);
    MPI_Status_f082c(f08_status, &other);
    if (memcmp(&one, &other, sizeof one) != 0) return 1;
    if (one.MPI_SOURCE != f_status[MPI_F_SOURCE] || one.MPI_TAG != f08_status->MPI_TAG) return 2;
    MPI_Status_c2f(&one, array);
    MPI_Status_c2f08(&one, &structure);
    if (memcmp(array, f_status, sizeof array) != 0) return 3;
    if (PMPI_Status_f2f08(array, &structure) != MPI_SUCCESS) return 4;
    if (PMPI_Status_f082f(&structure, array) != MPI_SUCCESS) return 5;
    return memcmp(array, f_status, sizeof array) == 0 ? 0 : 6;
}

int ignored_in_c(const MPI_F08_status* one, const MPI_F08_status* other) {
    return one == MPI_F08_STATUS_IGNORE && other == MPI_F08_STATUS_IGNORE &&
        (const void*)one != (const void*)MPI_F_STATUS_IGNORE;
}
