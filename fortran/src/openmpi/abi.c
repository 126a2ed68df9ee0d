/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentinels of libmpi.so.40 in Fortran. */

#include "fortran.h"

EXPORTED MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_, mpi_fortran_errcodes_ignore_;
EXPORTED MPI_Fint mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE],
    mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];
EXPORTED char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;

/* Tells C the sentinels, too. */
__attribute__((constructor)) static void name_sentinels(void) {
    MPI_F_STATUS_IGNORE = mpi_fortran_status_ignore_;
    MPI_F_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;
}
