/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes: address-sized integers in Fortran (MPI 5.0, 19.3.7), their keys and callbacks. */

#include <stdlib.h>

#include "fortran.h"
#include "names_by_hand.h"

/* ---- Values ---- */

/* Converts a value for Fortran. C gets the predefined attributes as addresses of integers,
 * Fortran gets the integers. */
static MPI_Aint value_out(int keyval, void* value) {
    switch (keyval) {
        case MPI_TAG_UB:
        case MPI_IO:
        case MPI_HOST:
        case MPI_WTIME_IS_GLOBAL:
        case MPI_APPNUM:
        case MPI_LASTUSEDCODE:
        case MPI_UNIVERSE_SIZE:
        case MPI_WIN_DISP_UNIT:
        case MPI_WIN_CREATE_FLAVOR:
        case MPI_WIN_MODEL: return *(int*)value;
        case MPI_WIN_SIZE: return *(MPI_Aint*)value;
        default: return attribute_out(value);
    }
}

#define ATTRIBUTES(get_attr_, set_attr_, handle_in, get_attr, set_attr)                            \
    EXPORTED void get_attr_(const MPI_Fint* object, const MPI_Fint* keyval, MPI_Aint* value,       \
                            MPI_Fint* flag, MPI_Fint* ierror) {                                    \
        void* c_value = NULL;                                                                      \
        int c_flag = 0;                                                                            \
        const int outcome = get_attr(handle_in(*object), keyval_in(*keyval), &c_value, &c_flag);   \
        if (outcome == MPI_SUCCESS) *flag = logical_out(c_flag);                                   \
        if (outcome == MPI_SUCCESS && c_flag) *value = value_out(keyval_in(*keyval), c_value);     \
        answer(ierror, outcome);                                                                   \
    }                                                                                              \
    EXPORTED void set_attr_(const MPI_Fint* object, const MPI_Fint* keyval, const MPI_Aint* value, \
                            MPI_Fint* ierror) {                                                    \
        void* attribute = attribute_in(*value);                                                    \
        answer(ierror,                                                                             \
               attribute == NULL ? no_memory(#set_attr)                                            \
                                 : set_attr(handle_in(*object), keyval_in(*keyval), attribute));   \
    }
ATTRIBUTES(mpi_comm_get_attr_, mpi_comm_set_attr_, comm_in, MPI_Comm_get_attr, MPI_Comm_set_attr)
ATTRIBUTES(mpi_type_get_attr_, mpi_type_set_attr_, type_in, MPI_Type_get_attr, MPI_Type_set_attr)
ATTRIBUTES(mpi_win_get_attr_, mpi_win_set_attr_, win_in, MPI_Win_get_attr, MPI_Win_set_attr)

/* The functions of MPI-1, with INTEGER values. */
EXPORTED void mpi_attr_get_(const MPI_Fint* comm, const MPI_Fint* keyval, MPI_Fint* attribute_val,
                            MPI_Fint* flag, MPI_Fint* ierror) {
    void* value = NULL;
    int c_flag = 0;
    const int outcome = MPI_Attr_get(comm_in(*comm), keyval_in(*keyval), &value, &c_flag);
    if (outcome == MPI_SUCCESS) *flag = logical_out(c_flag);
    if (outcome == MPI_SUCCESS && c_flag)
        *attribute_val = (MPI_Fint)value_out(keyval_in(*keyval), value);
    answer(ierror, outcome);
}
EXPORTED void mpi_attr_put_(const MPI_Fint* comm, const MPI_Fint* keyval,
                            const MPI_Fint* attribute_val, MPI_Fint* ierror) {
    void* attribute = attribute_in(*attribute_val);
    answer(ierror,
           attribute == NULL ? no_memory("MPI_Attr_put")
                             : MPI_Attr_put(comm_in(*comm), keyval_in(*keyval), attribute));
}

/* ---- Keys ---- */

/* The data for a key's callbacks. Attributes may outlive their key. So it stays until the
 * program ends. */
typedef struct {
    Procedure* copy;
    Procedure* delete;
    MPI_Aint extra_state;
} Key;

typedef void Copy_procedure(MPI_Fint*, MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Aint*, MPI_Fint*,
                            MPI_Fint*);
typedef void Delete_procedure(MPI_Fint*, MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Fint*);

/* Stores the copy that a procedure has made of `in`, which Fortran sees as `seen`. A pointer of
 * C stays one. */
static int copy_out(void* in, MPI_Aint seen, MPI_Aint copied, MPI_Fint ierror, void* out) {
    void* attribute = copied == seen ? in : attribute_in(copied);
    *(void**)out = attribute;
    return attribute == NULL && copied != seen ? MPI_ERR_NO_MEM : ierror;
}

static int call_copy(Key* key, MPI_Fint object, MPI_Fint keyval, void* in, void* out, int* flag) {
    MPI_Aint value = attribute_out(in), copied = 0;
    const MPI_Aint seen = value;
    MPI_Fint is_copied = 0, ierror = MPI_SUCCESS;
    ((Copy_procedure*)key->copy)(&object, &keyval, &key->extra_state, &value, &copied, &is_copied,
                                 &ierror);
    *flag = logical_in(is_copied);
    return *flag ? copy_out(in, seen, copied, ierror, out) : ierror;
}
static int call_delete(Key* key, MPI_Fint object, MPI_Fint keyval, void* attribute) {
    MPI_Aint value = attribute_out(attribute);
    MPI_Fint ierror = MPI_SUCCESS;
    ((Delete_procedure*)key->delete)(&object, &keyval, &value, &key->extra_state, &ierror);
    return ierror;
}

/* The procedures of MPI-1, which passes INTEGERs. */
typedef void Old_copy_procedure(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                MPI_Fint*);
typedef void Old_delete_procedure(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);

static int call_old_copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
    Key* key = extra;
    MPI_Fint object = comm_out(comm), state = (MPI_Fint)key->extra_state,
             value = (MPI_Fint)attribute_out(in);
    const MPI_Fint seen = value;
    MPI_Fint copied = 0, is_copied = 0, ierror = MPI_SUCCESS;
    ((Old_copy_procedure*)key->copy)(&object, &keyval, &state, &value, &copied, &is_copied,
                                     &ierror);
    *flag = logical_in(is_copied);
    return *flag ? copy_out(in, seen, copied, ierror, out) : ierror;
}
static int call_old_delete(MPI_Comm comm, int keyval, void* attribute, void* extra) {
    Key* key = extra;
    MPI_Fint object = comm_out(comm), state = (MPI_Fint)key->extra_state,
             value = (MPI_Fint)attribute_out(attribute);
    MPI_Fint ierror = MPI_SUCCESS;
    ((Old_delete_procedure*)key->delete)(&object, &keyval, &value, &state, &ierror);
    return ierror;
}

static Key* make_key(Procedure* copy, Procedure* delete, MPI_Aint extra_state) {
    Key* key = malloc(sizeof *key);
    if (key != NULL) *key = (Key){copy, delete, extra_state};
    return key;
}

/* The predefined procedures become the constants of the ABI. */
#define KEYS(name_, create, x, Handle, NULL_COPY, DUP, NULL_DELETE, null_copy_, dup_,              \
             null_delete_)                                                                         \
    static int copy_of_##x(Handle object, int keyval, void* key, void* in, void* out, int* flag) { \
        return call_copy(key, x##_out(object), keyval, in, out, flag);                             \
    }                                                                                              \
    static int delete_of_##x(Handle object, int keyval, void* attribute, void* key) {              \
        return call_delete(key, x##_out(object), keyval, attribute);                               \
    }                                                                                              \
    EXPORTED void name_(Procedure* copy, Procedure* delete, MPI_Fint* keyval,                      \
                        const MPI_Aint* extra_state, MPI_Fint* ierror) {                           \
        Key* key = make_key(copy, delete, *extra_state);                                           \
        int outcome = key == NULL ? no_memory(#create) : MPI_SUCCESS;                              \
        if (key != NULL)                                                                           \
            outcome = create(IS(copy, null_copy_) ? NULL_COPY                                      \
                                 : IS(copy, dup_) ? DUP                                            \
                                                  : copy_of_##x,                                   \
                             IS(delete, null_delete_) ? NULL_DELETE : delete_of_##x, keyval, key); \
        if (outcome != MPI_SUCCESS) free(key);                                                     \
        answer(ierror, outcome);                                                                   \
    }
KEYS(mpi_comm_create_keyval_, MPI_Comm_create_keyval, comm, MPI_Comm, MPI_COMM_NULL_COPY_FN,
     MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, mpi_comm_null_copy_fn_, mpi_comm_dup_fn_,
     mpi_comm_null_delete_fn_)
KEYS(mpi_type_create_keyval_, MPI_Type_create_keyval, type, MPI_Datatype, MPI_TYPE_NULL_COPY_FN,
     MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, mpi_type_null_copy_fn_, mpi_type_dup_fn_,
     mpi_type_null_delete_fn_)
KEYS(mpi_win_create_keyval_, MPI_Win_create_keyval, win, MPI_Win, MPI_WIN_NULL_COPY_FN,
     MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, mpi_win_null_copy_fn_, mpi_win_dup_fn_,
     mpi_win_null_delete_fn_)

EXPORTED void mpi_keyval_create_(Procedure* copy, Procedure* delete, MPI_Fint* keyval,
                                 const MPI_Fint* extra_state, MPI_Fint* ierror) {
    Key* key = make_key(copy, delete, *extra_state);
    int outcome = key == NULL ? no_memory("MPI_Keyval_create") : MPI_SUCCESS;
    if (key != NULL)
        outcome = MPI_Keyval_create(
            copy == (Procedure*)mpi_null_copy_fn_ ? MPI_NULL_COPY_FN
                : copy == (Procedure*)mpi_dup_fn_ ? MPI_DUP_FN
                                                  : call_old_copy,
            delete == (Procedure*)mpi_null_delete_fn_ ? MPI_NULL_DELETE_FN : call_old_delete,
            keyval, key);
    if (outcome != MPI_SUCCESS) free(key);
    answer(ierror, outcome);
}

/* ---- Their other names ---- */

/* clang-format off */
NAMES_mpi_comm_get_attr
NAMES_mpi_comm_set_attr
NAMES_mpi_type_get_attr
NAMES_mpi_type_set_attr
NAMES_mpi_win_get_attr
NAMES_mpi_win_set_attr
NAMES_mpi_attr_get
NAMES_mpi_attr_put
NAMES_mpi_comm_create_keyval
NAMES_mpi_type_create_keyval
NAMES_mpi_win_create_keyval
NAMES_mpi_keyval_create
