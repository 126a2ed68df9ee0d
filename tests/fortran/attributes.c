/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes that Fortran has set, seen from C, and the reverse. */
#include <mpi.h>

static int object = 5; /* target of a pointer set in C */

int key_of_c(void) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, 0);
    return key;
}

MPI_Aint set_in_c(MPI_Fint comm, int key) {
    MPI_Comm_set_attr(MPI_Comm_fromint(comm), key, &object);
    return (MPI_Aint)&object;
}

/* Returns whether C finds the pointer of set_in_c(). */
int has_pointer_of_c(MPI_Fint comm, int key) {
    void* value = 0;
    int flag = 0;
    MPI_Comm_get_attr(MPI_Comm_fromint(comm), key, &value, &flag);
    return flag && value == &object;
}

int integer_in_c(MPI_Fint comm, int key) {
    int* value = 0;
    int flag = 0;
    MPI_Comm_get_attr(MPI_Comm_fromint(comm), key, &value, &flag);
    return flag ? *value : -999;
}

MPI_Aint address_sized_in_c(MPI_Fint comm, int key) {
    MPI_Aint* value = 0;
    int flag = 0;
    MPI_Comm_get_attr(MPI_Comm_fromint(comm), key, &value, &flag);
    return flag ? *value : -999;
}
