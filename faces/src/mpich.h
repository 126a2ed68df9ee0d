/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles and statuses of libmpi.so.12: integers that carry their kind.
 *
 * Dynamic handles  0xC0000000 | kind | the integer of the standard ABI (MPI_X_toint).
 * Known objects    an integer names the same address as long as the library is in use. So
 *                  addresses that were given out are kept, and a load finds them. The library
 *                  checks every address in any case.
 * Requests         lower halves of addresses (MPI_Request_toint), whose six lowest bits are
 *                  zero. These bits say what the upper half is: one of two, or unknown, so that
 *                  the library is asked. The completed send lies in another part of memory than
 *                  other requests: hence two. No constant has such bits.
 */
#ifndef HEDDLE_FACE_MPICH_H
#define HEDDLE_FACE_MPICH_H

#define DIRECT_CALLS "heddle_integer_calls"

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

/* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE are 1 here and 0 in the standard ABI. Other
 * addresses that are no memory stay wrong. */
static inline bool is_ignored(const F_Status* status) { return (uintptr_t)status == 1; }
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

/* UNWEIGHTED and WEIGHTS_EMPTY are variables of this library, with values of the standard ABI. */
#define F_UNWEIGHTED ((intptr_t)MPI_UNWEIGHTED)
#define F_WEIGHTS_EMPTY ((intptr_t)MPI_WEIGHTS_EMPTY)

enum {
    known_objects = heddle_known_objects,
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

/* Constants of the face, indexed by those of the standard ABI; from face_tables.c. */
INTERNAL extern const int predefined_out[handle_constants];

#define HANDLE(name, Handle)                                                                      \
    INTERNAL extern void* known_##name[known_objects];                                            \
    INTERNAL MPI_##Handle other_##name##_in(F_##Handle handle);                                   \
    INTERNAL F_##Handle dynamic_##name##_out(MPI_##Handle handle);                                \
    /* Returns false for other handles. Sets NULL, which the library refuses, if none is kept. */ \
    static inline bool name##_is_known(F_##Handle handle, MPI_##Handle* standard) {               \
        const unsigned place =                                                                    \
            (unsigned)handle - (0xC0000000u | kind_##name << 26) - handle_constants;              \
        if (UNLIKELY(place >= known_objects)) return false;                                       \
        *standard = (MPI_##Handle)__atomic_load_n(&known_##name[place], __ATOMIC_RELAXED);        \
        return true;                                                                              \
    }                                                                                             \
    static inline F_##Handle name##_out(MPI_##Handle handle) {                                    \
        return (uintptr_t)handle < handle_constants ? predefined_out[(uintptr_t)handle]           \
                                                    : dynamic_##name##_out(handle);               \
    }
/* x_quickly() converts the usual handles inline, x_in() all of them. */
#define QUICKLY_IN(name, Handle)                                             \
    static inline MPI_##Handle name##_in(F_##Handle handle) {                \
        MPI_##Handle standard;                                               \
        return LIKELY(name##_quickly(handle, &standard)) && standard != NULL \
            ? standard                                                       \
            : other_##name##_in(handle);                                     \
    }
#define SIMPLE_IN(name, Handle)                                                    \
    static inline bool name##_quickly(F_##Handle handle, MPI_##Handle* standard) { \
        return name##_is_known(handle, standard);                                  \
    }                                                                              \
    QUICKLY_IN(name, Handle)
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

static inline bool comm_quickly(F_Comm handle, MPI_Comm* standard) {
    const unsigned number = (unsigned)handle - (unsigned)F_MPI_COMM_WORLD;
    if (UNLIKELY(number >= 2)) return comm_is_known(handle, standard);
    *standard = (MPI_Comm)((uintptr_t)MPI_COMM_WORLD + number);
    return true;
}
QUICKLY_IN(comm, Comm)

/* Most predefined datatypes and operations differ in their last byte, which is the index of
 * these tables. */
INTERNAL extern const HeddleInteger types_by_last_byte[256];
INTERNAL extern const HeddleInteger ops_by_last_byte[16];

static inline bool type_quickly(F_Datatype handle, MPI_Datatype* standard) {
    const HeddleInteger* predefined = &types_by_last_byte[(unsigned char)handle];
    if (UNLIKELY(predefined->face != (unsigned)handle)) return type_is_known(handle, standard);
    *standard = (MPI_Datatype)(uintptr_t)predefined->standard;
    return true;
}
QUICKLY_IN(type, Datatype)
static inline bool op_quickly(F_Op handle, MPI_Op* standard) {
    const HeddleInteger* predefined = &ops_by_last_byte[handle & 15];
    if (UNLIKELY(predefined->face != (unsigned)handle)) return op_is_known(handle, standard);
    *standard = (MPI_Op)(uintptr_t)predefined->standard;
    return true;
}
QUICKLY_IN(op, Op)

/* Constants for requests, which the library also knows (api/direct_calls.h). */
enum {
    half_0 = heddle_half_0,
    half_1 = heddle_half_1,
    other_half = heddle_other_half,
    request_bits = 63
};
INTERNAL MPI_Request other_request_in(F_Request handle);
COLD NO_THROW F_Request other_request_out(MPI_Request handle);
static inline bool request_quickly(F_Request handle, MPI_Request* standard) {
    if (UNLIKELY((handle & half_0) == 0)) return false;
    /* A wrong handle becomes an address that is no request's. */
    const unsigned bit = (unsigned)handle & (half_1 - half_0); /* 0 or 8, the size of an element */
    const uint64_t* whole = (const uint64_t*)((const char*)kept->requests.whole_of_bit + bit);
    *standard = (MPI_Request)(__atomic_load_n(whole, __ATOMIC_RELAXED) + (unsigned)handle);
    return true;
}
static inline MPI_Request request_in(F_Request handle) {
    MPI_Request standard;
    return LIKELY(request_quickly(handle, &standard)) ? standard : other_request_in(handle);
}
/* Returns the face's handle of a request that is no constant. */
static inline F_Request dynamic_request_out(MPI_Request handle) {
    const unsigned half = (unsigned)((uintptr_t)handle >> 32);
    const unsigned lower = (unsigned)(uintptr_t)handle;
    if (LIKELY(half == __atomic_load_n(&kept->requests.halves[0], __ATOMIC_RELAXED)))
        return (F_Request)(lower + half_0);
    if (LIKELY(half == __atomic_load_n(&kept->requests.halves[1], __ATOMIC_RELAXED)))
        return (F_Request)(lower + half_1);
    return other_request_out(handle);
}
static inline F_Request request_out(MPI_Request handle) {
    return UNLIKELY((uintptr_t)handle < handle_constants) ? predefined_out[(uintptr_t)handle]
                                                          : dynamic_request_out(handle);
}

/* A request that a call makes, or one that a call may complete: the value for the library, and
 * its conversion afterwards. */
typedef struct {
    MPI_Request standard;
    F_Request* face;
} Back_old_request;
static inline void back_old_request(Back_old_request* request) {
    if (request->standard == MPI_REQUEST_NULL) *request->face = F_MPI_REQUEST_NULL;
}
static inline __attribute__((always_inline)) void leave_old_request(Back_old_request* request) {
    if (request->face != NULL) back_old_request(request);
}
#define OLD_REQUEST(parameter, converted)                                                    \
    __attribute__((cleanup(leave_old_request))) Back_old_request c_##parameter = {converted, \
                                                                                  parameter}
#define PLACE_OF_REQUEST(parameter) (&c_##parameter.standard)
#define BACK_REQUEST(parameter) (back_old_request(&c_##parameter), c_##parameter.face = NULL)
/* A function that makes a request converts it. So it has a frame, whether errors are fatal or
 * not. */
typedef struct {
    const MPI_Request* standard; /* outside of this struct, so that the compiler knows `face` */
    F_Request* face;             /* NULL once the function has converted it */
} Back_new_request;
static inline __attribute__((always_inline)) void leave_new_request(Back_new_request* request) {
    if (request->face != NULL && *request->standard != (MPI_Request)untouched)
        *request->face = request_out(*request->standard);
}
/* Handles an error: converts the value that the library has written, and returns the error. */
COLD NO_THROW int without_request(int outcome, MPI_Request standard, F_Request* request);
#define CAN_MAKE_REQUEST(request) is_memory(request)
#define MAKING_REQUEST_HERE(X, request, ...)                                                  \
    MPI_Request standard = (MPI_Request)untouched;                                            \
    __attribute__((cleanup(leave_new_request))) Back_new_request c_##request = {&standard,    \
                                                                                request};     \
    const int outcome = heddle.X(__VA_ARGS__, &standard);                                     \
    c_##request.face = NULL;                                                                  \
    if (UNLIKELY(outcome != MPI_SUCCESS)) return without_request(outcome, standard, request); \
    *request = dynamic_request_out(standard);                                                 \
    return MPI_SUCCESS

static inline MPI_File file_in(F_File handle) {
    return handle == NULL ? MPI_FILE_NULL : (MPI_File)handle;
}
static inline F_File file_out(MPI_File handle) {
    return handle == MPI_FILE_NULL ? NULL : (F_File)handle;
}

/* The handle of all variables of a session is also a variable here. */
static inline MPI_T_pvar_handle pvar_in(MPI_T_pvar_handle handle) { return handle; }

#endif
