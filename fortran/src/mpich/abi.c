/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentinels of libmpi.so.12 in Fortran, and its arrays. */

#include "fortran.h"

EXPORTED struct MpichBlock1 mpipriv1_;
EXPORTED struct MpichBlock2 mpipriv2_;
EXPORTED struct MpichBlockOfCharacters mpiprivc_;
EXPORTED MPI_Fint mpifcmb5_, mpifcmb9_;
EXPORTED MPI_Fint f08_unweighted, f08_weights_empty, f08_errcodes_ignore;
EXPORTED char f08_argv_null, f08_argvs_null;

/* Tells C the sentinels of mpif.h, too. */
__attribute__((constructor)) static void name_sentinels(void) {
    MPI_F_STATUS_IGNORE = mpipriv1_.status_ignore;
    MPI_F_STATUSES_IGNORE = mpipriv2_.statuses_ignore;
}

const Descriptor* described(const Array* array, Section* room) {
    Descriptor* made = &room->descriptor;
    made->base = array->base;
    made->element = array->element.length;
    made->rank = array->element.rank;
    const ptrdiff_t span = array->span != 0 ? array->span : (ptrdiff_t)made->element;
    for (int i = 0; i < made->rank; ++i) {
        made->dimension[i].lower = array->dimension[i].lower;
        made->dimension[i].extent = array->dimension[i].upper - array->dimension[i].lower + 1;
        made->dimension[i].stride = array->dimension[i].stride * span;
    }
    return made;
}
