/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes: values of predefined ones, and key values whose functions are the program's.
 *
 * The functions of a key value get its extra state. In its place, Heddle's functions get a
 * record with the program's functions. Records stay, since attributes may outlive their key
 * value.
 */

#include "face.h"

/* ---- Values ---- */

/* Predefined attributes whose values are converted: a copy for each. */
static void* value_out(int keyval, void* value) {
    static int host, io, last_used_code, flavors[4], models[2];
    if (!is_memory(value) || keyval > MPI_WIN_MODEL) return value; /* the last predefined one */
    const int* given = value;
    int* copy = NULL;
    switch (keyval) {
        case MPI_HOST: *(copy = &host) = rank_out(*given); break;
        case MPI_IO: *(copy = &io) = rank_out(*given); break;
        case MPI_LASTUSEDCODE: *(copy = &last_used_code) = error_out(*given); break;
        case MPI_WIN_CREATE_FLAVOR: *(copy = &flavors[*given & 3]) = flavor_out(*given); break;
        case MPI_WIN_MODEL: *(copy = &models[*given & 1]) = memory_model_out(*given); break;
        default: return value;
    }
    return copy;
}

static int found(int error, int keyval, void* attribute, const int* flag) {
    if (error == MPI_SUCCESS && *flag) *(void**)attribute = value_out(keyval, *(void**)attribute);
    return error_out(error);
}

#define ATTRIBUTES(X, Handle, in)                                                                  \
    FUNCTION(int, X##_get_attr, (F_##Handle object, int keyval, void* attribute, int* flag)) {     \
        const int known = keyval_in(keyval);                                                       \
        return found(heddle.X##_get_attr(in(object), known, CROSS(attribute), CROSS(flag)), known, \
                     attribute, flag);                                                             \
    }                                                                                              \
    SECOND_NAME(X##_get_attr)                                                                      \
    FUNCTION(int, X##_set_attr, (F_##Handle object, int keyval, void* attribute)) {                \
        return error_out(heddle.X##_set_attr(in(object), keyval_in(keyval), attribute));           \
    }                                                                                              \
    SECOND_NAME(X##_set_attr)
ATTRIBUTES(Comm, Comm, comm_in)
ATTRIBUTES(Type, Datatype, type_in)
ATTRIBUTES(Win, Win, win_in)

FUNCTION(int, Attr_get, (F_Comm comm, int keyval, void* attribute, int* flag)) {
    return F_Comm_get_attr(comm, keyval, attribute, flag);
}
SECOND_NAME(Attr_get)
FUNCTION(int, Attr_put, (F_Comm comm, int keyval, void* attribute)) {
    return F_Comm_set_attr(comm, keyval, attribute);
}
SECOND_NAME(Attr_put)

/* ---- Key values ---- */

/* The predefined functions: exported, and known by their addresses. Heddle never calls them. */
EXPORTED int FACE_DUP_FN(void* object, int keyval, void* state, void* in, void* out, int* flag);
int FACE_DUP_FN(void* object, int keyval, void* state, void* in, void* out, int* flag) {
    (void)object, (void)keyval, (void)state;
    *(void**)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
#ifdef FACE_MPICH
static bool is_dup(Procedure* copy) { return copy == (Procedure*)FACE_DUP_FN; }
static bool is_null_copy(Procedure* copy) { return copy == NULL; }
static bool is_null_delete(Procedure* delete) { return delete == NULL; }
#else
EXPORTED int FACE_NULL_COPY_FN(void* object, int keyval, void* state, void* in, void* out,
                               int* flag);
int FACE_NULL_COPY_FN(void* object, int keyval, void* state, void* in, void* out, int* flag) {
    (void)object, (void)keyval, (void)state, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}
EXPORTED int FACE_NULL_DELETE_FN(void* object, int keyval, void* value, void* state);
int FACE_NULL_DELETE_FN(void* object, int keyval, void* value, void* state) {
    (void)object, (void)keyval, (void)value, (void)state;
    return MPI_SUCCESS;
}
/* Each kind of object has its own names for them. */
#define NAMES_OF(KIND)                                                                \
    EXPORTED extern __typeof__(FACE_DUP_FN) OMPI_C_MPI_##KIND##DUP_FN                 \
        __attribute__((alias("OMPI_C_MPI_DUP_FN")));                                  \
    EXPORTED extern __typeof__(FACE_NULL_COPY_FN) OMPI_C_MPI_##KIND##NULL_COPY_FN     \
        __attribute__((alias("OMPI_C_MPI_NULL_COPY_FN")));                            \
    EXPORTED extern __typeof__(FACE_NULL_DELETE_FN) OMPI_C_MPI_##KIND##NULL_DELETE_FN \
        __attribute__((alias("OMPI_C_MPI_NULL_DELETE_FN")));
NAMES_OF(COMM_)
NAMES_OF(TYPE_)
NAMES_OF(WIN_)
static bool is_dup(Procedure* copy) {
    return copy == (Procedure*)FACE_DUP_FN || copy == (Procedure*)OMPI_C_MPI_COMM_DUP_FN ||
        copy == (Procedure*)OMPI_C_MPI_TYPE_DUP_FN || copy == (Procedure*)OMPI_C_MPI_WIN_DUP_FN;
}
static bool is_null_copy(Procedure* copy) {
    return copy == NULL || copy == (Procedure*)FACE_NULL_COPY_FN ||
        copy == (Procedure*)OMPI_C_MPI_COMM_NULL_COPY_FN ||
        copy == (Procedure*)OMPI_C_MPI_TYPE_NULL_COPY_FN ||
        copy == (Procedure*)OMPI_C_MPI_WIN_NULL_COPY_FN;
}
static bool is_null_delete(Procedure* delete) {
    return delete == NULL || delete == (Procedure*)FACE_NULL_DELETE_FN ||
        delete == (Procedure*)OMPI_C_MPI_COMM_NULL_DELETE_FN ||
        delete == (Procedure*)OMPI_C_MPI_TYPE_NULL_DELETE_FN ||
        delete == (Procedure*)OMPI_C_MPI_WIN_NULL_DELETE_FN;
}
#endif

typedef struct {
    Procedure* copy;
    Procedure* delete;
    void* state;
} Functions;

static Functions* functions(Procedure* copy, Procedure* delete, void* state) {
    Functions* record = malloc(sizeof *record);
    if (record != NULL) *record = (Functions){copy, delete, state};
    return record;
}

#define KEYVALS(X, Handle, name)                                                              \
    typedef int X##Copy(F_##Handle, int, void*, void*, void*, int*);                          \
    typedef int X##Delete(F_##Handle, int, void*, void*);                                     \
    static int copy_##name(MPI_##Handle object, int keyval, void* state, void* in, void* out, \
                           int* flag) {                                                       \
        const Functions* record = state;                                                      \
        return error_in(((X##Copy*)record->copy)(name##_out(object), keyval_out(keyval),      \
                                                 record->state, in, out, flag));              \
    }                                                                                         \
    static int delete_##name(MPI_##Handle object, int keyval, void* value, void* state) {     \
        const Functions* record = state;                                                      \
        return error_in(((X##Delete*)record->delete)(name##_out(object), keyval_out(keyval),  \
                                                     value, record->state));                  \
    }                                                                                         \
    FUNCTION(int, X##_create_keyval,                                                          \
             (Procedure * copy, Procedure * delete, int* keyval, void* state)) {              \
        Functions* record = functions(copy, delete, state);                                   \
        if (record == NULL) return no_memory();                                               \
        const int error = heddle.X##_create_keyval(                                           \
            is_dup(copy)             ? (MPI_##X##_copy_attr_function*)1                       \
                : is_null_copy(copy) ? (MPI_##X##_copy_attr_function*)0                       \
                                     : copy_##name,                                           \
            is_null_delete(delete) ? (MPI_##X##_delete_attr_function*)0 : delete_##name,      \
            CROSS(keyval), record);                                                           \
        if (error != MPI_SUCCESS) free(record);                                               \
        return error_out(error);                                                              \
    }                                                                                         \
    SECOND_NAME(X##_create_keyval)
KEYVALS(Comm, Comm, comm)
KEYVALS(Type, Datatype, type)
KEYVALS(Win, Win, win)

FUNCTION(int, Keyval_create, (Procedure * copy, Procedure* delete, int* keyval, void* state)) {
    return F_Comm_create_keyval(copy, delete, keyval, state);
}
SECOND_NAME(Keyval_create)
