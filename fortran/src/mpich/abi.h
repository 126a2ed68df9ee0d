/* SPDX-License-Identifier: BSD-3-Clause */
/* Fortran of libmpi.so.12: the bindings that MPICH and Intel MPI have, compiled by gfortran.
 *
 * Handles    are the integers of C.
 * Sentinels  mpif.h and the module mpi have COMMON blocks, mpi_f08 has variables of its own.
 * mpi_f08    passes gfortran's descriptors of arrays, for its procedures are not of C (bind(C)).
 */
#ifndef HEDDLE_FORTRAN_ABI_H
#define HEDDLE_FORTRAN_ABI_H

#define MPI_F_STATUS_SIZE 5
typedef MPI_Status MPI_F08_status;

/* ---- Sentinels ---- */

extern struct MpichBlock1 {
    MPI_Fint bottom, in_place, status_ignore[MPI_F_STATUS_SIZE];
} mpipriv1_;
extern struct MpichBlock2 {
    MPI_Fint statuses_ignore[MPI_F_STATUS_SIZE], errcodes_ignore;
} mpipriv2_;
extern struct MpichBlockOfCharacters {
    char argvs_null, argv_null;
} mpiprivc_;
extern MPI_Fint mpifcmb5_, mpifcmb9_; /* unweighted, empty weights */

extern MPI_Fint MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE; /* of libmpi.so.12 */
extern MPI_F08_status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
#define OF_MODULE(type, name) \
    extern type f08_##name __asm__("__mpi_f08_link_constants_MOD_mpi_" #name);
OF_MODULE(MPI_Fint, unweighted)
OF_MODULE(MPI_Fint, weights_empty)
OF_MODULE(MPI_Fint, errcodes_ignore)
OF_MODULE(char, argv_null)
OF_MODULE(char, argvs_null)
#undef OF_MODULE

static inline bool is_bottom(const void* buffer) {
    return buffer == &mpipriv1_.bottom || buffer == &MPIR_F08_MPI_BOTTOM;
}
static inline bool is_in_place(const void* buffer) {
    return buffer == &mpipriv1_.in_place || buffer == &MPIR_F08_MPI_IN_PLACE;
}
static inline bool is_automatic(const void* buffer) {
    return (void)buffer, false;
} /* newer than this ABI */
static inline bool is_unweighted(const void* weights) {
    return weights == &mpifcmb5_ || weights == &f08_unweighted;
}
static inline bool is_weights_empty(const void* weights) {
    return weights == &mpifcmb9_ || weights == &f08_weights_empty;
}
static inline bool is_errcodes_ignore(const void* codes) {
    return codes == &mpipriv2_.errcodes_ignore || codes == &f08_errcodes_ignore;
}
static inline bool is_status_ignore(const void* status) {
    return status == mpipriv1_.status_ignore || status == &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
}
static inline bool is_statuses_ignore(const void* statuses) {
    return statuses == mpipriv2_.statuses_ignore || statuses == MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
}
static inline bool is_argv_null(const char* argv) {
    return argv == &mpiprivc_.argv_null || argv == &f08_argv_null;
}
static inline bool is_argvs_null(const char* argvs) {
    return argvs == &mpiprivc_.argvs_null || argvs == &f08_argvs_null;
}

#define AUTOMATIC_BUFFER MPI_BOTTOM
static inline const void* automatic_out(const void* buffer) { return buffer; }

/* Converts a key. Fortran's keys of predefined attributes are C's plus one. The upper bytes hold
 * the kind of object. */
static inline int keyval_in(MPI_Fint keyval) {
    const unsigned kind = (unsigned)keyval >> 8;
    return kind == 0x644000 || kind == 0x660000 ? keyval - 1 : keyval;
}

#include "other_libraries.h"

/* ---- Choice buffers of mpi_f08 ---- */

/* An array as gfortran describes it. Strides count in spans. */
typedef struct {
    char* base;
    size_t offset;
    struct {
        size_t length;
        int version;
        signed char rank, type;
        short attribute;
    } element;
    ptrdiff_t span;
    struct {
        ptrdiff_t stride, lower, upper;
    } dimension[];
} Array;

/* Returns the same as a C descriptor. */
INTERNAL const Descriptor* described(const Array* array, Section* room);

#endif
