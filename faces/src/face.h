/* SPDX-License-Identifier: BSD-3-Clause */
/* A face: the functions of MPI in the ABI of another library, on the standard ABI of libmpi_abi.so.1.
 *
 * Names        F_X is a type or constant of the face, MPI_X the one of the standard ABI. x_in() converts from the
 *              face, x_out() to it. `heddle.X` is the function PMPI_X of libmpi_abi.so.1.
 * Conversions  handles by mpich.h or openmpi.h; groups of constants by tables.c (generated); both from abi/NAME.
 * Wrong values become values that libmpi_abi.so.1 refuses: it names the call and the argument.
 * Addresses    below the first page are no memory and cross as they are, for the same reason.
 */
#ifndef HEDDLE_FACE_H
#define HEDDLE_FACE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heddle_functions.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define EXPORTED __attribute__((visibility("default")))
#define INTERNAL __attribute__((visibility("hidden")))
#define COLD INTERNAL __attribute__((cold, noinline))

/* FUNCTION(int, Send, (...)) { ... } SECOND_NAME(Send): PMPI_Send, and its weak alias MPI_Send. */
#define FUNCTION(returns, X, parameters)                     \
    EXPORTED returns F_##X parameters __asm__("PMPI_" #X);   \
    returns F_##X parameters
#define SECOND_NAME(X)                                                                           \
    EXPORTED extern __typeof__(F_##X) F_second_##X __asm__("MPI_" #X)                            \
        __attribute__((weak, alias("PMPI_" #X)));

INTERNAL extern struct HeddleFunctions heddle;

enum { handle_constants = 4096, no_value = -2147483647 };

/* A handle that the library is to write, before it has; it writes null handles where it fails. */
static const uintptr_t untouched = 1;

static inline bool is_memory(const void* address) { return LIKELY((uintptr_t)address >= 4096); }

#include "face_constants.h"
#ifdef FACE_MPICH
#include "mpich.h"
#else
#include "openmpi.h"
#endif

/* ---- Numbers ---- */

/* Ranks: the negative ones have meanings. */
/* By a table and not by a call, for which registers would have to be saved. */
INTERNAL extern const int special_ranks_in[4]; /* of -1, -2, -3, -4 */
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
COLD int other_error_out(int error);
static inline int error_out(int error) { return LIKELY(error == MPI_SUCCESS) ? MPI_SUCCESS : other_error_out(error); }

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

static inline void* place_in(const void* buffer) {
    if (F_MPI_IN_PLACE != (intptr_t)MPI_IN_PLACE && UNLIKELY((intptr_t)buffer == F_MPI_IN_PLACE)) return MPI_IN_PLACE;
    return (void*)buffer;
}
static inline void* automatic_in(const void* buffer) {
    return UNLIKELY((intptr_t)buffer == F_MPI_BUFFER_AUTOMATIC) ? MPI_BUFFER_AUTOMATIC : (void*)buffer;
}
static inline void automatic_out(void** buffer) {
    if (*buffer == MPI_BUFFER_AUTOMATIC) *buffer = (void*)F_MPI_BUFFER_AUTOMATIC;
}
static inline int* weights_in(const int* weights) {
    if ((intptr_t)weights == F_UNWEIGHTED) return MPI_UNWEIGHTED;
    return (intptr_t)weights == F_WEIGHTS_EMPTY ? MPI_WEIGHTS_EMPTY : (int*)weights;
}

/* ---- Statuses: converted where they are written ---- */

enum { unwritten = -2147483646 };

static inline bool is_wanted(const F_Status* status) { return is_memory(status); }
/* What the library gets for a status, which shows afterwards what it has written. */
static inline MPI_Status* blank(MPI_Status* status) {
    status->MPI_ERROR = unwritten;
    status->MPI_internal[2] = unwritten;
    return status;
}
static inline void written_out(const MPI_Status* from, F_Status* to) {
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
/* Arrays of them. */
INTERNAL MPI_Status* blank_all(MPI_Status* statuses, long count);
INTERNAL void all_written_out(const MPI_Status* from, F_Status* to, long count);

/* ---- Arrays that the library sees otherwise ---- */

/* Room for a converted array: on the stack if it is short. */
typedef struct {
    uint64_t here[64];
    void* elsewhere;
} Room;
INTERNAL void* long_room(Room* room, size_t bytes);
static inline void* enter(Room* room, long elements, size_t size) {
    room->elsewhere = NULL;
    const size_t bytes = elements > 0 ? (size_t)elements * size : 0;
    return LIKELY(bytes <= sizeof room->here) ? room->here : long_room(room, bytes);
}
static inline void leave(Room* room) {
    if (UNLIKELY(room->elsewhere != NULL)) free(room->elsewhere);
}
/* Raises MPI_ERR_NO_MEM, since a converted array found no memory. */
COLD int no_memory(void);

/* How many types a call has for each side: ranks of the group, or neighbours. */
enum Side { sources, destinations };
INTERNAL long peers(MPI_Comm comm);
INTERNAL long neighbours(MPI_Comm comm, enum Side side);

/* Copies a string that the library has written to the face's shorter one. */
INTERNAL void string_out(char* to, const char* from, int bound, int* length);

/* ---- Functions of the program ---- */

typedef void Procedure(void);
/* Of MPI 4: the last whose constants the ABI has. */
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
/* C functions that call those of the program with handles of the face; NULL: all are in use. */
INTERNAL MPI_User_function* operation_calling(Procedure* procedure);
INTERNAL MPI_User_function_c* large_operation_calling(Procedure* procedure);
INTERNAL MPI_Comm_errhandler_function* comm_errhandler_calling(Procedure* procedure);
INTERNAL MPI_File_errhandler_function* file_errhandler_calling(Procedure* procedure);
INTERNAL MPI_Session_errhandler_function* session_errhandler_calling(Procedure* procedure);
INTERNAL MPI_Win_errhandler_function* win_errhandler_calling(Procedure* procedure);

/* Refuses to go on, in words, where the process has another MPI besides. Before MPI is initialised. */
INTERNAL void refuse_other_libraries(void);

#endif
