/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts that all bindings share: errors, sizes of arrays, strings, and procedures that are
 * compared by address. */

#include <stdio.h>
#include <stdlib.h>

#include "fortran.h"

/* ---- Predefined callbacks: constants of the ABI, which programs may call (MPI 5.0, 7.7.2) ---- */

#define COPY(name, flag_, copied, ...)                                                             \
    EXPORTED void name(const MPI_Fint* object, const MPI_Fint* keyval, __VA_ARGS__ MPI_Fint* flag, \
                       MPI_Fint* ierror) {                                                         \
        (void)object, (void)keyval, (void)extra_state, (void)value_in, (void)value_out;            \
        copied;                                                                                    \
        *flag = logical_out(flag_);                                                                \
        *ierror = MPI_SUCCESS;                                                                     \
    }
#define VALUES(Integer) const Integer *extra_state, const Integer *value_in, Integer *value_out,
#define NULL_COPY(name, Integer) COPY(name, 0, (void)0, VALUES(Integer))
#define DUP(name, Integer) COPY(name, 1, *value_out = *value_in, VALUES(Integer))
#define NULL_DELETE(name, Integer)                                                           \
    EXPORTED void name(const MPI_Fint* object, const MPI_Fint* keyval, const Integer* value, \
                       const Integer* extra_state, MPI_Fint* ierror) {                       \
        (void)object, (void)keyval, (void)value, (void)extra_state;                          \
        *ierror = MPI_SUCCESS;                                                               \
    }
NULL_COPY(mpi_null_copy_fn_, MPI_Fint)
DUP(mpi_dup_fn_, MPI_Fint)
NULL_DELETE(mpi_null_delete_fn_, MPI_Fint)
NULL_COPY(mpi_comm_null_copy_fn_, MPI_Aint)
DUP(mpi_comm_dup_fn_, MPI_Aint)
NULL_DELETE(mpi_comm_null_delete_fn_, MPI_Aint)
NULL_COPY(mpi_type_null_copy_fn_, MPI_Aint)
DUP(mpi_type_dup_fn_, MPI_Aint)
NULL_DELETE(mpi_type_null_delete_fn_, MPI_Aint)
NULL_COPY(mpi_win_null_copy_fn_, MPI_Aint)
DUP(mpi_win_dup_fn_, MPI_Aint)
NULL_DELETE(mpi_win_null_delete_fn_, MPI_Aint)

/* Never called. */
EXPORTED void mpi_conversion_fn_null_(void) {}
EXPORTED void mpi_conversion_fn_null_c_(void) {}

#ifdef HEDDLE_FORTRAN_OTHER_LIBRARIES_H
#define OF_MODULE(name)                                                                         \
    EXPORTED extern __typeof__(name##_) module_##name __asm__("__mpi_f08_callbacks_MOD_" #name) \
        __attribute__((alias(#name "_")));
OF_MODULE(mpi_comm_null_copy_fn)
OF_MODULE(mpi_comm_dup_fn)
OF_MODULE(mpi_comm_null_delete_fn)
OF_MODULE(mpi_type_null_copy_fn)
OF_MODULE(mpi_type_dup_fn)
OF_MODULE(mpi_type_null_delete_fn)
OF_MODULE(mpi_win_null_copy_fn)
OF_MODULE(mpi_win_dup_fn)
OF_MODULE(mpi_win_null_delete_fn)
OF_MODULE(mpi_conversion_fn_null)
OF_MODULE(mpi_conversion_fn_null_c)
#endif

/* ---- Errors ---- */

int fail(int error_class, const char* function, const char* text) {
    char message[MPI_MAX_ERROR_STRING];
    snprintf(message, sizeof message, "%s: %s", function, text);
    int code = error_class;
    if (PMPI_Add_error_code(error_class, &code) == MPI_SUCCESS)
        PMPI_Add_error_string(code, message);
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
    return code;
}
int no_memory(const char* function) {
    return fail(MPI_ERR_NO_MEM, function, "no memory to convert the arguments");
}
int no_partitions(const char* function) {
    return fail(MPI_ERR_BUFFER, function, "partitions of an array section that is not contiguous");
}

/* ---- Arrays ---- */

int peers(MPI_Comm comm) { return peers_of(comm); }
int neighbours(MPI_Comm comm, enum Side side) { return neighbours_of(comm, side); }
int dimensions(MPI_Comm comm) {
    int count = 0;
    PMPI_Cartdim_get(comm, &count);
    return count;
}

/* ---- Strings ---- */

static char* terminated(String* string, const char* text, Length length) {
    string->elsewhere = NULL;
    char* copy = string->here;
    if (length >= sizeof string->here) copy = string->elsewhere = malloc(length + 1);
    if (copy == NULL) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}
char* string_in(String* string, const char* text, Length length) {
    return terminated(string, text, without_blanks(text, length));
}
char* trimmed_in(String* string, const char* text, Length length) {
    length = without_blanks(text, length);
    while (length > 0 && *text == ' ') ++text, --length;
    return terminated(string, text, length);
}
void leave_string(String* string) { free(string->elsewhere); }

void string_out(char* text, Length length, const char* string) {
    const Length used = strnlen(string, length);
    memcpy(text, string, used);
    memset(text + used, ' ', length - used);
}
