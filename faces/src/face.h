/* SPDX-License-Identifier: BSD-3-Clause */
/* A face: the functions of MPI in the ABI of another library, on the standard ABI of
 * libmpi_abi.so.1.
 *
 * Names        F_X is a type or constant of the face, MPI_X the one of the standard ABI. x_in()
 *              converts from the face, x_out() to it. `heddle.X` is the function PMPI_X of
 *              libmpi_abi.so.1.
 * Conversions  of handles are in mpich.h or openmpi.h, those of groups of constants in tables.c
 *              (generated). Both come from abi/NAME.
 * Wrong values become values that libmpi_abi.so.1 refuses: it names the call and the argument.
 * Addresses    that are no memory (constants that stand for one) cross unchanged or as
 *              MPI_IN_PLACE, for the same reason.
 * Results      of the library are converted when a function is left, also by an exception of a
 *              function of the program. For this, variables for results have a cleanup.
 */
#ifndef HEDDLE_FACE_H
#define HEDDLE_FACE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/callbacks.h"
#include "foreign/rooms.h"
#include "heddle_functions.h"
#include "src/api/direct_calls.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define EXPORTED __attribute__((visibility("default")))
#define INTERNAL __attribute__((visibility("hidden")))
#define COLD INTERNAL __attribute__((cold, noinline))
/* Conversions call no function of the program: around them no cleanup is needed. */
#define NO_THROW __attribute__((nothrow))

/* Defines PMPI_Send and its weak alias MPI_Send: FUNCTION(int, Send, (...)) { ... }
 * SECOND_NAME(Send). */
#define FUNCTION(returns, X, parameters)                   \
    EXPORTED returns F_##X parameters __asm__("PMPI_" #X); \
    returns F_##X parameters
#define SECOND_NAME(X)                                                \
    EXPORTED extern __typeof__(F_##X) F_second_##X __asm__("MPI_" #X) \
        __attribute__((weak, alias("PMPI_" #X)));

INTERNAL extern struct HeddleFunctions heddle;
INTERNAL extern HeddleFace* kept; /* the library's record of this face */
enum { handle_constants = 4096, no_value = -2147483647 };

/* The value of a handle that the library has not written yet. If the library fails, it writes
 * null handles. */
static const uintptr_t untouched = 1;

/* Constants that stand for addresses are small numbers, positive or negative. */
static inline bool is_memory(const void* address) { return LIKELY((intptr_t)address >= 4096); }

/* Kinds of handles: the stem of the conversions, and the type. */
#define HANDLES(X)            \
    X(comm, Comm)             \
    X(type, Datatype)         \
    X(errhandler, Errhandler) \
    X(file, File)             \
    X(group, Group)           \
    X(info, Info)             \
    X(message, Message)       \
    X(op, Op)                 \
    X(request, Request)       \
    X(session, Session)       \
    X(win, Win)

#include "face_constants.h"
#ifdef FACE_MPICH
#include "mpich.h"
#else
#include "openmpi.h"
#endif

/* direct.X: the library's function that takes unconverted arguments, or the face's function that
 * converts them. */
#include "direct_functions.h"
INTERNAL extern struct DirectFunctions direct;
INTERNAL void set_direct_functions(HeddleDirectCall* const* functions);
INTERNAL void set_long_calls(HeddleFace* face);
/* Fills in the part of one ABI. */
INTERNAL void describe_handles(HeddleFace* face);

/* last.X: the function that a face's function X ends with, after converting all arguments. It is
 * a function of the library or, if errors may return, one that converts the result. It is used
 * only for calls that do not wait: an error handler set meanwhile counts for the next call. */
#include "last_functions.h"
INTERNAL extern struct LastFunctions last;
INTERNAL void set_last_functions(bool errors_are_fatal);
INTERNAL void errors_are_fatal(void);
INTERNAL void let_errors_return(void);

/* Converts an error handler that a call sets. With other handlers than the fatal ones, errors
 * return from then on. */
static inline MPI_Errhandler errhandler_to_set(F_Errhandler handle) {
    const MPI_Errhandler standard = errhandler_in(handle);
    if (standard != MPI_ERRORS_ARE_FATAL && standard != MPI_ERRORS_ABORT) let_errors_return();
    return standard;
}

/* ---- Numbers ---- */

/* Ranks: the negative ones have meanings. */
/* Converted by a table and not by a call, for which registers would have to be saved. */
INTERNAL extern const int special_ranks_in[4]; /* for -1, -2, -3, -4 */
static inline int rank_in(int rank) {
    if (LIKELY(rank >= 0)) return rank;
    return rank >= -4 ? special_ranks_in[-1 - rank] : no_value;
}
static inline int rank_out(int rank) { return LIKELY(rank >= 0) ? rank : special_rank_out(rank); }

/* Tags of receives. */
static inline int tag_in(int tag) {
    if (LIKELY(tag >= 0)) return tag;
    return tag == F_MPI_ANY_TAG ? MPI_ANY_TAG : no_value;
}
static inline int tag_out(int tag) {
    return LIKELY(tag >= 0) ? tag : tag == MPI_ANY_TAG ? F_MPI_ANY_TAG : tag;
}

/* Error classes and codes. */
COLD int error_in(int error);
COLD NO_THROW int other_error_out(int error);
static inline int error_out(int error) {
    return LIKELY(error == MPI_SUCCESS) ? MPI_SUCCESS : other_error_out(error);
}

INTERNAL int keyval_in(int keyval);
INTERNAL int keyval_out(int keyval);
INTERNAL int darg_in(int argument);
INTERNAL int darg_out(int argument);
INTERNAL int amode_in(int amode);
INTERNAL int amode_out(int amode);
INTERNAL int assert_in(int assert);
static inline MPI_Offset displacement_in(MPI_Offset displacement) {
    return displacement == F_MPI_DISPLACEMENT_CURRENT ? MPI_DISPLACEMENT_CURRENT
        : displacement == MPI_DISPLACEMENT_CURRENT    ? no_value
                                                      : displacement;
}

/* ---- Addresses ---- */

/* Converts a buffer's address. In ABIs with negative constants, an address that is no memory
 * becomes a constant of the standard ABI. */
static inline void* place_in(const void* buffer) {
    if (F_MPI_IN_PLACE == (intptr_t)MPI_IN_PLACE || LIKELY((intptr_t)buffer >= 0))
        return (void*)buffer;
    return (intptr_t)buffer == F_MPI_IN_PLACE ? MPI_IN_PLACE : MPI_BUFFER_AUTOMATIC;
}
/* Does the same for an address that is no buffer, so that the library refuses it. */
#define CROSS(address) ((__typeof__(address))place_in(address))
/* Returns true if place_in() has to convert the address. */
static inline bool is_converted(const void* address) {
    return F_MPI_IN_PLACE != (intptr_t)MPI_IN_PLACE && UNLIKELY((intptr_t)address < 0);
}
static inline void* automatic_in(const void* buffer) {
    return UNLIKELY((intptr_t)buffer == F_MPI_BUFFER_AUTOMATIC) ? MPI_BUFFER_AUTOMATIC
                                                                : place_in(buffer);
}
static inline void automatic_out(void** buffer) {
    if (*buffer == MPI_BUFFER_AUTOMATIC) *buffer = (void*)F_MPI_BUFFER_AUTOMATIC;
}
static inline int* weights_in(const int* weights) {
    if ((intptr_t)weights == F_UNWEIGHTED) return MPI_UNWEIGHTED;
    return (intptr_t)weights == F_WEIGHTS_EMPTY ? MPI_WEIGHTS_EMPTY : (int*)place_in(weights);
}

/* ---- Statuses: converted where they are written ---- */

enum { unwritten = heddle_unwritten };

static inline bool is_wanted(const F_Status* status) { return is_memory(status); }
static inline __attribute__((always_inline)) void written_out(const MPI_Status* from,
                                                              F_Status* to) {
    if (from->MPI_internal[2] != unwritten) {
        to->MPI_SOURCE = rank_out(from->MPI_SOURCE);
        to->MPI_TAG = tag_out(from->MPI_TAG);
        uint64_t bytes;
        memcpy(&bytes, from->MPI_internal, sizeof bytes);
        bytes_out(to, bytes, from->MPI_internal[2] != 0);
    }
    if (UNLIKELY(from->MPI_ERROR != unwritten)) to->MPI_ERROR = error_out(from->MPI_ERROR);
}
INTERNAL void status_in(const F_Status* from, MPI_Status* to);
INTERNAL void status_out(const MPI_Status* from, F_Status* to);

typedef struct {
    MPI_Status standard;
    F_Status* face;
} Back_status;
static inline void back_status(Back_status* status) {
    if (is_wanted(status->face)) written_out(&status->standard, status->face);
}
#define STATUS_OUT(parameter) \
    __attribute__((cleanup(back_status))) Back_status c_##parameter = {.face = parameter}
/* For a status that is wanted. */
#define WANTED_STATUS_OUT(parameter)                                         \
    __attribute__((cleanup(leave_wanted_status))) Back_status c_##parameter; \
    c_##parameter.face = parameter
static inline __attribute__((always_inline)) void leave_wanted_status(Back_status* status) {
    if (status->face != NULL) written_out(&status->standard, status->face);
}
#define BACK_WANTED_STATUS(parameter) \
    (written_out(&c_##parameter.standard, c_##parameter.face), c_##parameter.face = NULL)
#define PLACE_OF_WANTED_STATUS(parameter) heddle_blank(&c_##parameter.standard)
#define PLACE_OF_STATUS(parameter) \
    (is_wanted(parameter) ? heddle_blank(&c_##parameter.standard) : no_status_in(parameter))

/* ---- Arrays that need conversion ---- */

/* Raises MPI_ERR_NO_MEM, since a converted array found no memory. */
COLD int no_memory(void);

typedef struct {
    F_Status* face;
    MPI_Status* standard;
    long count;
    Room room;
} Back_statuses;
static inline bool enter_statuses(Back_statuses* all, F_Status* face, long count) {
    all->face = face;
    all->count = is_wanted(face) ? count : 0;
    all->standard = enter(&all->room, all->count, sizeof *all->standard);
    if (all->standard == NULL) return false;
    for (long i = 0; i < all->count; ++i) heddle_blank(&all->standard[i]);
    return true;
}
static inline void back_statuses(Back_statuses* all) {
    for (long i = 0; all->standard != NULL && i < all->count; ++i)
        written_out(&all->standard[i], &all->face[i]);
    leave(&all->room);
}
#define STATUSES_OUT(parameter, count)                                   \
    __attribute__((cleanup(back_statuses))) Back_statuses c_##parameter; \
    if (!enter_statuses(&c_##parameter, parameter, count)) return no_memory()
#define PLACE_OF_STATUSES(parameter) \
    (is_wanted(parameter) ? c_##parameter.standard : no_status_in(parameter))

/* Handles that the library writes, one or several. */
#define BACK(name, Handle)                                                                        \
    typedef struct {                                                                              \
        F_##Handle* face;                                                                         \
        MPI_##Handle standard, before;                                                            \
    } Back_##name;                                                                                \
    static inline void back_##name(Back_##name* handle) {                                         \
        if (handle->standard != handle->before) *handle->face = name##_out(handle->standard);     \
    }                                                                                             \
    typedef struct {                                                                              \
        F_##Handle* face;                                                                         \
        MPI_##Handle* standard;                                                                   \
        long count;                                                                               \
        Room room;                                                                                \
    } Back_##name##s;                                                                             \
    static inline bool enter_##name##s(Back_##name##s* all, const F_##Handle* face, long count) { \
        all->face = (F_##Handle*)face;                                                            \
        all->count = is_memory(face) ? count : 0;                                                 \
        all->standard = enter(&all->room, all->count, sizeof *all->standard);                     \
        if (all->standard == NULL) return false;                                                  \
        for (long i = 0; i < all->count; ++i) all->standard[i] = name##_in(face[i]);              \
        return true;                                                                              \
    }                                                                                             \
    static inline void leave_##name##s(Back_##name##s* all) { leave(&all->room); }                \
    static inline void back_##name##s(Back_##name##s* all) {                                      \
        for (long i = 0; all->standard != NULL && i < all->count; ++i)                            \
            if (all->standard[i] != name##_in(all->face[i])) /* the library has written it */     \
                all->face[i] = name##_out(all->standard[i]);                                      \
        leave(&all->room);                                                                        \
    }
HANDLES(BACK)
#undef BACK
/* Make c_PARAMETER for an argument that the library writes (OUT) or also reads (INOUT). PLACE_OF
 * is the address to pass. */
#define OUT(name, Handle, parameter)                                    \
    __attribute__((cleanup(back_##name))) Back_##name c_##parameter = { \
        parameter, (MPI_##Handle)untouched, (MPI_##Handle)untouched}
#define INOUT(name, Handle, parameter)                                                     \
    __attribute__((cleanup(back_##name))) Back_##name c_##parameter = {.face = parameter}; \
    c_##parameter.standard = c_##parameter.before =                                        \
        is_memory(parameter) ? name##_in(*parameter) : NULL
#define PLACE_OF(parameter)                         \
    (is_memory(parameter) ? &c_##parameter.standard \
                          : (__typeof__(&c_##parameter.standard))place_in(parameter))
/* Arrays that are read, and those that are also written. */
#define ALL_IN(name, parameter, count)                                      \
    __attribute__((cleanup(leave_##name##s))) Back_##name##s c_##parameter; \
    if (!enter_##name##s(&c_##parameter, parameter, count)) return no_memory()
#define ALL_INOUT(name, parameter, count)                                  \
    __attribute__((cleanup(back_##name##s))) Back_##name##s c_##parameter; \
    if (!enter_##name##s(&c_##parameter, parameter, count)) return no_memory()
#define PLACE_OF_ALL(parameter)                    \
    (is_memory(parameter) ? c_##parameter.standard \
                          : (__typeof__(c_##parameter.standard))place_in(parameter))

/* The number of types that a call has for each side: of ranks or of neighbours. */
#define CALL(X) heddle.X
#include "foreign/sides.h"
INTERNAL long peers(MPI_Comm comm);
INTERNAL long neighbours(MPI_Comm comm, enum Side side);

/* Copies a string that the library has written to the face's shorter one. */
INTERNAL void string_out(char* to, const char* from, int bound, int* length);

/* ---- Functions of the program ---- */

/* The last version of MPI 4 whose constants the ABI has. */
#ifdef FACE_MPICH
enum { FACE_SUBVERSION = 1 };
#else
enum { FACE_SUBVERSION = 0 };
#endif
#ifdef FACE_MPICH
#define FACE_DUP_FN MPIR_Dup_fn
#else
#define FACE_DUP_FN OMPI_C_MPI_DUP_FN
#define FACE_NULL_COPY_FN OMPI_C_MPI_NULL_COPY_FN
#define FACE_NULL_DELETE_FN OMPI_C_MPI_NULL_DELETE_FN
#endif
/* Return C functions that call the program's with handles of the face, or NULL if all are in
 * use. */
INTERNAL MPI_User_function* operation_calling(Procedure* procedure);
INTERNAL MPI_User_function_c* large_operation_calling(Procedure* procedure);
INTERNAL MPI_Comm_errhandler_function* comm_errhandler_calling(Procedure* procedure);
INTERNAL MPI_File_errhandler_function* file_errhandler_calling(Procedure* procedure);
INTERNAL MPI_Session_errhandler_function* session_errhandler_calling(Procedure* procedure);
INTERNAL MPI_Win_errhandler_function* win_errhandler_calling(Procedure* procedure);

/* Ends the process with a message if it has another MPI besides. Call it before MPI is
 * initialised. */
INTERNAL void refuse_other_libraries(void);

#endif
