/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles and statuses of libmpi.so.40: addresses.
 *
 * Predefined handles  are the addresses of exported objects. A program that is not
 *                     position-independent holds copies of them, and these are then the handles.
 *                     The loader knows which. A table is filled with its answers when this
 *                     library is loaded.
 * Dynamic handles     are the handles of the standard ABI.
 */
#ifndef HEDDLE_FACE_OPENMPI_H
#define HEDDLE_FACE_OPENMPI_H

#define DIRECT_CALLS "heddle_address_calls"

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
static inline bool is_ignored(const F_Status* status) { return status == NULL; }
static inline void* no_status_in(const F_Status* constant) { return (void*)constant; }

static inline void bytes_out(F_Status* status, uint64_t bytes, bool cancelled) {
    status->bytes = bytes;
    status->cancelled = cancelled;
}
static inline uint64_t bytes_in(const F_Status* status) { return status->bytes; }
static inline bool cancelled_in(const F_Status* status) { return status->cancelled != 0; }

#define F_UNWEIGHTED 2
#define F_WEIGHTS_EMPTY 3
#define F_MPI_BUFFER_AUTOMATIC (-2) /* newer than this ABI: a value that no buffer has */

/* The address and handle of a predefined object. The multiplier gives each object a place of its
 * own. */
typedef struct {
    const void* address;
    uintptr_t standard;
} Predefined;
enum { predefined_bits = 10 };
INTERNAL extern Predefined predefined_objects[1 << predefined_bits];
INTERNAL extern uint64_t predefined_multiplier;
INTERNAL extern const void* predefined_out[handle_constants];

/* The same table by the lower 16 bits of addresses, which takes fewer instructions. Objects with
 * the bits of another one are missing. */
enum { lower_bits_end = 1 << 16, bytes_at_lower_bits = 16 };
INTERNAL extern char objects_by_lower_bits[lower_bits_end + bytes_at_lower_bits];

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

/* Converts the usual handles: objects by their lower bits, and handles with bits that no object
 * has. */
static inline bool object_quickly(const void* handle, void** standard) {
    const HeddleAddress* predefined =
        (const HeddleAddress*)(objects_by_lower_bits + ((uintptr_t)handle & (lower_bits_end - 1)));
    if (LIKELY(predefined->address == handle)) {
        *standard = (void*)predefined->standard;
        return true;
    }
    *standard = (void*)handle;
    /* Read again, so that no register is held for this. */
    return __atomic_load_n(&predefined->address, __ATOMIC_RELAXED) == NULL;
}
static inline bool type_quickly(F_Datatype handle, MPI_Datatype* standard) {
    return object_quickly(handle, (void**)standard);
}
static inline bool op_quickly(F_Op handle, MPI_Op* standard) {
    return object_quickly(handle, (void**)standard);
}
/* Kinds with few constants. The library never takes a constant of another kind for their
 * address. */
static inline bool comm_quickly(F_Comm handle, MPI_Comm* standard) {
    if (LIKELY((void*)handle == F_MPI_COMM_WORLD))
        *standard = MPI_COMM_WORLD;
    else if ((void*)handle == F_MPI_COMM_SELF || (void*)handle == F_MPI_COMM_NULL)
        return false;
    else
        *standard = (MPI_Comm)handle;
    return true;
}
static inline bool win_quickly(F_Win handle, MPI_Win* standard) {
    *standard = (MPI_Win)handle;
    return LIKELY((void*)handle != F_MPI_WIN_NULL);
}
static inline bool request_quickly(F_Request handle, MPI_Request* standard) {
    *standard = (MPI_Request)handle;
    return LIKELY((void*)handle != F_MPI_REQUEST_NULL);
}

/* A request that a call makes, or one that a call may complete. The library writes to the
 * program's variable. Only its MPI_REQUEST_NULL must be converted there. */
static inline void back_old_request(F_Request** request) {
    if (**request == (F_Request)MPI_REQUEST_NULL)
        **request = (F_Request)predefined_out[(uintptr_t)MPI_REQUEST_NULL];
}
/* The library sets no MPI_REQUEST_NULL if it succeeds, and refuses a place that is no memory. */
static inline void back_new_request(F_Request** request) {
    if (is_memory(*request)) back_old_request(request);
}
typedef MPI_Request* PlaceOfRequest;
#define CAN_MAKE_REQUEST(request) true
#define MAKING_REQUEST(X, request, ...)                                                      \
    __attribute__((cleanup(back_new_request))) F_Request* c_##request = (F_Request*)request; \
    return error_out(heddle.X(__VA_ARGS__, request))

static inline __attribute__((always_inline)) void leave_old_request(F_Request** request) {
    if (*request != NULL) back_old_request(request);
}
#define OLD_REQUEST(parameter, converted)                                  \
    __attribute__((cleanup(leave_old_request))) F_Request* c_##parameter = \
        ((void)(converted), parameter)
#define PLACE_OF_REQUEST(parameter) ((MPI_Request*)c_##parameter)
#define BACK_REQUEST(parameter) (back_old_request(&c_##parameter), c_##parameter = NULL)

/* Fortran's integers: numbers of the ABI for predefined handles, and above these the integers of
 * the standard ABI. Integers of requests, lower halves of addresses, are shifted to small ones:
 * each request has cache lines of its own. */
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
