/* SPDX-License-Identifier: BSD-3-Clause */
/* Fortran of libmpi.so.40: the bindings that Open MPI has.
 *
 * Handles    numbers, which the face knows: c2f and f2c convert them.
 * Sentinels  are COMMON blocks, which all three bindings have.
 * mpi_f08    passes addresses of choice buffers: a compiler copies sections with gaps.
 */
#ifndef HEDDLE_FORTRAN_ABI_H
#define HEDDLE_FORTRAN_ABI_H

#define MPI_F_STATUS_SIZE 6
typedef MPI_Status MPI_F08_status;

/* ---- Sentinels ---- */

extern MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_, mpi_fortran_errcodes_ignore_;
extern MPI_Fint mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE],
    mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];
extern char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;

static inline bool is_bottom(const void* buffer) { return buffer == &mpi_fortran_bottom_; }
static inline bool is_in_place(const void* buffer) { return buffer == &mpi_fortran_in_place_; }
static inline bool is_automatic(const void* buffer) {
    return (void)buffer, false;
} /* newer than this ABI */
static inline bool is_unweighted(const void* weights) {
    return weights == &mpi_fortran_unweighted_;
}
static inline bool is_weights_empty(const void* weights) {
    return weights == &mpi_fortran_weights_empty_;
}
static inline bool is_errcodes_ignore(const void* codes) {
    return codes == &mpi_fortran_errcodes_ignore_;
}
static inline bool is_status_ignore(const void* status) {
    return status == mpi_fortran_status_ignore_;
}
static inline bool is_statuses_ignore(const void* statuses) {
    return statuses == mpi_fortran_statuses_ignore_;
}
static inline bool is_argv_null(const char* argv) { return argv == &mpi_fortran_argv_null_; }
static inline bool is_argvs_null(const char* argvs) { return argvs == &mpi_fortran_argvs_null_; }

#define AUTOMATIC_BUFFER MPI_BOTTOM
static inline const void* automatic_out(const void* buffer) { return buffer; }

/* Keys of predefined attributes are C's. */
static inline int keyval_in(MPI_Fint keyval) { return keyval; }

#include "other_libraries.h"

#endif
