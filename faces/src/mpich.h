/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles and statuses of libmpi.so.12: integers that carry their kind.
 *
 * Dynamic handles  0xC0000000 | kind | the integer of the standard ABI (MPI_X_toint). Those of requests, which are
 *                  the lower halves of addresses, are odd: no constant is.
 * Known objects    an integer names the same address for as long as the library is in use, so addresses that were
 *                  given out are kept: the way back is a load. The library checks what it gets in any case.
 */
#ifndef HEDDLE_FACE_MPICH_H
#define HEDDLE_FACE_MPICH_H

typedef int F_Comm;
typedef int F_Datatype;
typedef int F_Errhandler;
typedef struct F_FileObject* F_File; /* an address, unlike the others */
typedef int F_Group;
typedef int F_Info;
typedef int F_Message;
typedef int F_Op;
typedef int F_Request;
typedef int F_Session;
typedef int F_Win;

typedef struct {
    int count_low;
    int count_high_and_cancelled;
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
} F_Status;

/* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE are 1 here and 0 there; what else is no memory stays wrong. */
static inline void* no_status_in(const F_Status* constant) {
    return (void*)((uintptr_t)constant & 0xFFE);
}

static inline void bytes_out(F_Status* status, uint64_t bytes, bool cancelled) {
    status->count_low = (int)bytes;
    status->count_high_and_cancelled = (int)((bytes >> 32) << 1) | cancelled;
}
static inline uint64_t bytes_in(const F_Status* status) {
    return (uint64_t)(unsigned)status->count_low |
        (uint64_t)((unsigned)status->count_high_and_cancelled >> 1) << 32;
}
static inline bool cancelled_in(const F_Status* status) {
    return status->count_high_and_cancelled & 1;
}

/* UNWEIGHTED and WEIGHTS_EMPTY are variables of the library: their values are ours. */
#define F_UNWEIGHTED ((intptr_t)MPI_UNWEIGHTED)
#define F_WEIGHTS_EMPTY ((intptr_t)MPI_WEIGHTS_EMPTY)

enum {
    known_objects = 1024,
    kind_comm = 1,
    kind_group,
    kind_type,
    kind_errhandler = 5,
    kind_op,
    kind_info,
    kind_win,
    kind_message = 13,
    kind_session = 14
};

/* Constants of the face, by those of the standard ABI; from face_tables.c. */
INTERNAL extern const int predefined_out[handle_constants];

#define HANDLE(name, Handle)                                                                  \
    INTERNAL extern void* known_##name[known_objects];                                        \
    INTERNAL MPI_##Handle other_##name##_in(F_##Handle handle);                               \
    INTERNAL F_##Handle dynamic_##name##_out(MPI_##Handle handle);                            \
    static inline MPI_##Handle name##_known(unsigned handle) {                                \
        const unsigned place = handle - (0xC0000000u | kind_##name << 26) - handle_constants; \
        return place < known_objects                                                          \
            ? (MPI_##Handle)__atomic_load_n(&known_##name[place], __ATOMIC_RELAXED)           \
            : NULL;                                                                           \
    }                                                                                         \
    static inline F_##Handle name##_out(MPI_##Handle handle) {                                \
        return (uintptr_t)handle < handle_constants ? predefined_out[(uintptr_t)handle]       \
                                                    : dynamic_##name##_out(handle);           \
    }
#define SIMPLE_IN(name, Handle)                                           \
    static inline MPI_##Handle name##_in(F_##Handle handle) {             \
        const MPI_##Handle known = name##_known((unsigned)handle);        \
        return LIKELY(known != NULL) ? known : other_##name##_in(handle); \
    }
HANDLE(comm, Comm)
HANDLE(type, Datatype)
HANDLE(errhandler, Errhandler)
HANDLE(group, Group)
HANDLE(info, Info)
HANDLE(message, Message)
HANDLE(op, Op)
HANDLE(session, Session)
HANDLE(win, Win)
SIMPLE_IN(errhandler, Errhandler)
SIMPLE_IN(group, Group)
SIMPLE_IN(info, Info)
SIMPLE_IN(message, Message)
SIMPLE_IN(session, Session)
SIMPLE_IN(win, Win)

static inline __attribute__((always_inline)) MPI_Comm comm_in(F_Comm handle) {
    const unsigned number = (unsigned)handle - (unsigned)F_MPI_COMM_WORLD;
    if (LIKELY(number < 2)) return (MPI_Comm)((uintptr_t)MPI_COMM_WORLD + number);
    const MPI_Comm known = comm_known((unsigned)handle);
    return known != NULL ? known : other_comm_in(handle);
}

/* Most predefined datatypes and operations differ in their last byte: a table of those, by that byte. */
typedef struct {
    unsigned face;
    unsigned standard;
} Predefined;
INTERNAL extern const Predefined types_by_last_byte[256];
INTERNAL extern const Predefined ops_by_last_byte[16];

static inline __attribute__((always_inline)) MPI_Datatype type_in(F_Datatype handle) {
    const Predefined* predefined = &types_by_last_byte[(unsigned char)handle];
    if (LIKELY(predefined->face == (unsigned)handle))
        return (MPI_Datatype)(uintptr_t)predefined->standard;
    const MPI_Datatype known = type_known((unsigned)handle);
    return known != NULL ? known : other_type_in(handle);
}
static inline __attribute__((always_inline)) MPI_Op op_in(F_Op handle) {
    const Predefined* predefined = &ops_by_last_byte[handle & 15];
    if (LIKELY(predefined->face == (unsigned)handle))
        return (MPI_Op)(uintptr_t)predefined->standard;
    const MPI_Op known = op_known((unsigned)handle);
    return known != NULL ? known : other_op_in(handle);
}

/* Requests: known ones by bits of their addresses. */
INTERNAL extern void* known_requests[known_objects];
INTERNAL MPI_Request other_request_in(F_Request handle);
static inline void** place_of_request(unsigned lower_half) {
    return &known_requests[(lower_half >> 6) % known_objects];
}
static inline MPI_Request request_in(F_Request handle) {
    const unsigned lower_half = (unsigned)handle - 1;
    void* known = __atomic_load_n(place_of_request(lower_half), __ATOMIC_RELAXED);
    return LIKELY((unsigned)(uintptr_t)known == lower_half && known != NULL)
        ? (MPI_Request)known
        : other_request_in(handle);
}
static inline F_Request request_out(MPI_Request handle) {
    if (UNLIKELY((uintptr_t)handle < handle_constants)) return predefined_out[(uintptr_t)handle];
    const unsigned lower_half = (unsigned)(uintptr_t)handle;
    __atomic_store_n(place_of_request(lower_half), (void*)handle, __ATOMIC_RELAXED);
    return (F_Request)(lower_half + 1);
}

static inline MPI_File file_in(F_File handle) {
    return handle == NULL ? MPI_FILE_NULL : (MPI_File)handle;
}
static inline F_File file_out(MPI_File handle) {
    return handle == MPI_FILE_NULL ? NULL : (F_File)handle;
}

/* The handle of all variables of a session is a variable here, too. */
static inline MPI_T_pvar_handle pvar_in(MPI_T_pvar_handle handle) { return handle; }

#endif
