/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles and statuses of libmpi.so.40: addresses.
 *
 * Predefined handles  are the addresses of exported objects. A program that is not position-independent holds copies
 *                     of them, and these are then the handles: the loader tells which, and a table is filled with
 *                     what it said when this library is loaded.
 * Dynamic handles     are the handles of the standard ABI.
 */
#ifndef HEDDLE_FACE_OPENMPI_H
#define HEDDLE_FACE_OPENMPI_H

typedef struct F_CommObject* F_Comm;
typedef struct F_DatatypeObject* F_Datatype;
typedef struct F_ErrhandlerObject* F_Errhandler;
typedef struct F_FileObject* F_File;
typedef struct F_GroupObject* F_Group;
typedef struct F_InfoObject* F_Info;
typedef struct F_MessageObject* F_Message;
typedef struct F_OpObject* F_Op;
typedef struct F_RequestObject* F_Request;
typedef struct F_SessionObject* F_Session;
typedef struct F_WinObject* F_Win;

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int cancelled;
    size_t bytes;
} F_Status;

/* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE are 0, as in the standard ABI. */
static inline void* no_status_in(const F_Status* constant) { return (void*)constant; }

static inline void bytes_out(F_Status* status, uint64_t bytes, bool cancelled) {
    status->bytes = bytes;
    status->cancelled = cancelled;
}
static inline uint64_t bytes_in(const F_Status* status) { return status->bytes; }
static inline bool cancelled_in(const F_Status* status) { return status->cancelled != 0; }

#define F_UNWEIGHTED 2
#define F_WEIGHTS_EMPTY 3
#define F_MPI_BUFFER_AUTOMATIC (-2) /* came after this ABI: a value that no buffer has */

/* Address and handle of a predefined object. The multiplier is one that gives each a place of its own. */
typedef struct {
    const void* address;
    uintptr_t standard;
} Predefined;
enum { predefined_bits = 10 };
INTERNAL extern Predefined predefined_objects[1 << predefined_bits];
INTERNAL extern uint64_t predefined_multiplier;
INTERNAL extern const void* predefined_out[handle_constants];

static inline void* handle_in(const void* handle) {
    const Predefined* predefined =
        &predefined_objects[(uintptr_t)handle * predefined_multiplier >> (64 - predefined_bits)];
    return predefined->address == handle ? (void*)predefined->standard : (void*)handle;
}
static inline void* handle_out(const void* handle) {
    return UNLIKELY((uintptr_t)handle < handle_constants) ? (void*)predefined_out[(uintptr_t)handle]
                                                          : (void*)handle;
}
#define HANDLE(name, Handle)                                   \
    static inline MPI_##Handle name##_in(F_##Handle handle) {  \
        return (MPI_##Handle)handle_in(handle);                \
    }                                                          \
    static inline F_##Handle name##_out(MPI_##Handle handle) { \
        return (F_##Handle)handle_out(handle);                 \
    }
HANDLES(HANDLE)
#undef HANDLE

/* Fortran's integers: numbers of the ABI for predefined handles, and above these the integers of the standard ABI.
 * Those of requests, lower halves of addresses, are made small: requests lie on lines of their own. */
INTERNAL extern const short
    fortran_numbers[handle_constants]; /* by the standard ABI's constant, plus one */
typedef struct {
    int count;
    const void* objects[];
} Numbered;
#define NUMBERED(name, Handle) INTERNAL extern const Numbered numbered_##name;
HANDLES(NUMBERED)
#undef NUMBERED
enum { line_bits = 6 };
static inline MPI_Fint small_request(MPI_Fint number) {
    return (MPI_Fint)((unsigned)number >> line_bits) + handle_constants;
}
static inline MPI_Fint whole_request(MPI_Fint number) {
    return (MPI_Fint)((unsigned)(number - handle_constants) << line_bits);
}

static inline MPI_T_pvar_handle pvar_in(MPI_T_pvar_handle handle) {
    return (intptr_t)handle == -1 ? MPI_T_PVAR_ALL_HANDLES : handle;
}

#endif
