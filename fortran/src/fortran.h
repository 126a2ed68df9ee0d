/* SPDX-License-Identifier: BSD-3-Clause */
/* The Fortran bindings' conversions between Fortran's arguments and C's.
 *
 * Conventions  Fortran passes addresses. An INTEGER handle is the integer of the C handle. A
 *              status is an array of INTEGERs, laid out as MPI_Status. Lengths of CHARACTER
 *              arguments come last, by value. mpi_f08 passes the same, as its handles and
 *              statuses are derived types of the same memory. Only its choice buffers differ:
 *              they are descriptors.
 * ABIs         The same sources make the bindings of the standard ABI, and on their faces those
 *              of other libraries' ABIs (docs/faces.md). Each ABI has a folder. Its abi.h
 *              defines how handles are converted, the sentinels, and the arguments that mpi_f08
 *              passes.
 * Sentinels    MPI_BOTTOM and others are variables. Their addresses identify them. An executable
 *              may define them, too (COMMON), so they are never bound within the library.
 * Twice        Every source is compiled for mpi_x_, which calls MPI_X, and for pmpi_x_, which
 *              calls PMPI_X.
 *
 * The bindings of the standard ABI need nothing else: they go with any libmpi_abi.so.1.
 */
#ifndef HEDDLE_FORTRAN_H
#define HEDDLE_FORTRAN_H

#ifdef HEDDLE_FORTRAN_PROFILING
#include "profiling_names.h"
#endif

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "foreign/callbacks.h"
#include "foreign/rooms.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define EXPORTED __attribute__((visibility("default")))
#define INTERNAL __attribute__((visibility("hidden")))

/* Marks a function for arguments that take no short path. It gets the same arguments, so that
 * the short path reads none for it. */
#ifdef __clang__
#define GENERAL __attribute__((noinline))
#else
#define GENERAL __attribute__((noipa))
#endif

/* Defines the second name for the same code: ALIAS(mpi_send_, mpi_send__). */
#define ALIAS(name, other) ALIAS_(name, other)
#define ALIAS_(name, other) \
    EXPORTED extern __typeof__(name) other __attribute__((weak, alias(#name)));

#include "descriptors.h"

#include "abi.h"

/* ---- Sentinels: variables that are known by their addresses (is_x, of abi.h) ---- */

static inline void* or_bottom(const void* buffer) {
    return LIKELY(!is_bottom(buffer)) ? (void*)buffer : MPI_BOTTOM;
}
static inline void* or_in_place(const void* buffer) {
    return LIKELY(!is_in_place(buffer)) ? or_bottom(buffer) : MPI_IN_PLACE;
}
static inline void* or_automatic(const void* buffer) {
    return LIKELY(!is_automatic(buffer)) ? (void*)buffer : AUTOMATIC_BUFFER;
}
static inline int* or_unweighted(const MPI_Fint* weights) {
    if (is_unweighted(weights)) return MPI_UNWEIGHTED;
    return LIKELY(!is_weights_empty(weights)) ? (int*)weights : MPI_WEIGHTS_EMPTY;
}
static inline int* or_no_errcodes(const MPI_Fint* codes) {
    return is_errcodes_ignore(codes) ? MPI_ERRCODES_IGNORE : (int*)codes;
}
static inline MPI_Status* or_ignore(const MPI_Fint* status) {
    return is_status_ignore(status) ? MPI_STATUS_IGNORE : (MPI_Status*)status;
}
static inline MPI_Status* or_ignore_all(const MPI_Fint* statuses) {
    return is_statuses_ignore(statuses) ? MPI_STATUSES_IGNORE : (MPI_Status*)statuses;
}

/* Makes code read an argument on the stack from there after a call. A register would have to be
 * saved over it. An argument that was read before the call is read again, and not moved from one
 * register to another. */
#define STAYS_ON_STACK(parameter) __asm__("" : "+m"(parameter) : : "memory")

/* ---- Results ---- */

/* Sets ierror, which is a null pointer if mpi_f08's caller leaves it out. */
static inline void answer(MPI_Fint* ierror, int error) {
    if (ierror != NULL) *ierror = error;
}

/* Convert LOGICAL: every value except 0 is true. The result is 0 or 1, which all compilers read
 * alike. */
static inline int logical_in(MPI_Fint value) { return value != 0; }
static inline MPI_Fint logical_out(int value) { return value != 0; }

/* Converts an index: those of Fortran's arrays begin with 1. */
static inline MPI_Fint index_out(int place) {
    return place == MPI_UNDEFINED ? MPI_UNDEFINED : place + 1;
}

/* Raises an error that the bindings find themselves, on MPI_COMM_SELF, and returns its code. */
INTERNAL __attribute__((cold)) int fail(int error_class, const char* function, const char* text);
INTERNAL __attribute__((cold)) int no_memory(const char* function); /* for converted arguments */
INTERNAL __attribute__((cold)) int no_partitions(const char* function); /* of a section with gaps */

/* ---- Arrays that need conversion ---- */

/* Allocates room that an operation keeps until it is complete. */
static inline void* enter_for_long(Room* room, long elements, size_t size) {
    return long_room(room, (elements > 0 ? (size_t)elements : 1) * size);
}

/* The number of arguments that a call has for each peer: ranks of the group that gets messages,
 * or neighbours. */
#define CALL(X) PMPI_##X
#include "foreign/sides.h"
INTERNAL int peers(MPI_Comm comm);
INTERNAL int neighbours(MPI_Comm comm, enum Side side);
INTERNAL int dimensions(MPI_Comm comm);

/* ---- CHARACTER ---- */

typedef size_t Length; /* the type that gfortran (since 8) and flang pass after the other
                          arguments */

/* A C string of a CHARACTER argument: without blanks at its end and, if `trimmed`, at its begin. */
typedef struct {
    char here[256];
    char* elsewhere;
} String;

/* Returns the length of a text without the blanks at its end. */
static inline Length without_blanks(const char* text, Length length) {
    while (length > 0 && text[length - 1] == ' ') --length;
    return length;
}
INTERNAL char* string_in(String* string, const char* text, Length length);
INTERNAL char* trimmed_in(String* string, const char* text, Length length);
INTERNAL void leave_string(String* string);
/* Writes a C string into a CHARACTER argument, filled with blanks or cut. */
INTERNAL void string_out(char* text, Length length, const char* string);

/* ---- Choice buffers of mpi_f08 (TS 29113) ---- */

/* Returns true if the buffer has no gaps. The last extent of an assumed-size array, which has
 * none, is -1. */
static inline bool is_contiguous(const Descriptor* buffer) {
    ptrdiff_t size = (ptrdiff_t)buffer->element;
    for (int i = 0; i < buffer->rank; ++i) {
        if (buffer->dimension[i].stride != size && buffer->dimension[i].extent > 1) return false;
        size *= buffer->dimension[i].extent;
    }
    return true;
}

/* Returns true for a scalar that is no sentinel, or an array of one dimension without gaps. C
 * gets its address unchanged. */
static inline bool is_plain(const Descriptor* buffer) {
    if (!LIKELY(buffer->rank <= 1)) return false;
    if (buffer->rank == 1) return buffer->dimension[0].stride == (ptrdiff_t)buffer->element;
    return !is_bottom(buffer->base);
}

/* Elements of a datatype in C's form. */
typedef struct {
    void* base;
    MPI_Count count;
    MPI_Datatype type;
    int error;
    bool made; /* the datatype was made for a section */
} Elements;

INTERNAL Elements elements_of_section(const Descriptor* buffer, MPI_Count count, MPI_Datatype type,
                                      const char* function);
static inline Elements elements_in(const Descriptor* buffer, MPI_Count count, MPI_Datatype type,
                                   const char* function) {
    if (LIKELY(is_contiguous(buffer)))
        return (Elements){or_bottom(buffer->base), count, type, MPI_SUCCESS, false};
    return elements_of_section(buffer, count, type, function);
}
static inline void leave_elements(Elements* elements) {
    if (!LIKELY(!elements->made)) PMPI_Type_free(&elements->type);
}

/* A section that is copied: a contiguous array of its elements. */
typedef struct {
    void* base;
    const Descriptor* section; /* NULL if it is not copied */
} Copy;

INTERNAL Copy copy_of_section(const Descriptor* buffer);
static inline Copy copy_in(const Descriptor* buffer) {
    if (LIKELY(is_contiguous(buffer))) return (Copy){or_in_place(buffer->base), NULL};
    return copy_of_section(buffer);
}
static inline bool is_missing(const Copy* copy) {
    return copy->section != NULL && copy->base == NULL;
}
INTERNAL void pack_section(void* packed, const Descriptor* section);
INTERNAL void unpack_section(const Descriptor* section, const void* packed);
/* Ends a call: copies the result back into the section, if it has one. */
INTERNAL void copy_back(Copy* copy, bool result);
static inline void leave_copy(Copy* copy, bool result) {
    if (!LIKELY(copy->section == NULL)) copy_back(copy, result);
}

/* ---- Data that live as long as a request does (src/pending.c) ---- */

/* Copies of sections and arrays of a nonblocking or persistent operation. */
typedef struct Pending Pending;
INTERNAL Pending* add_section(Pending* pending, Copy* copy, bool result, bool persistent);
static inline Pending* add_copy(Pending* pending, Copy* copy, bool result, bool persistent) {
    return LIKELY(copy->section == NULL) ? pending : add_section(pending, copy, result, persistent);
}
INTERNAL Pending* add_array(Pending* pending, Room* room, bool persistent);
INTERNAL void keep(Pending* pending, MPI_Request request, int error);

INTERNAL extern _Atomic int pending_operations;
INTERNAL extern _Atomic uint64_t
    kept_operations; /* their number so far; read before a call that completes requests */
INTERNAL void completed_slowly(MPI_Fint request, uint64_t last);
INTERNAL void started_slowly(MPI_Fint request);
INTERNAL void freed_slowly(MPI_Fint request);
/* Says that a request is complete (or started, or freed). It is given by its integer before the
 * call, and numbers its operations up to `last`. */
static inline void completed(MPI_Fint request, uint64_t last) {
    if (!LIKELY(pending_operations == 0)) completed_slowly(request, last);
}
static inline void started(MPI_Fint request) {
    if (!LIKELY(pending_operations == 0)) started_slowly(request);
}
static inline void freed(MPI_Fint request) {
    if (!LIKELY(pending_operations == 0)) freed_slowly(request);
}

/* ---- Attributes (src/attribute_values.c) ---- */

/* Returns C's form of an attribute that Fortran sets: the address of an integer of that value.
 * Returns NULL if there is no memory. */
INTERNAL void* attribute_in(MPI_Aint value);
/* Returns Fortran's form: its own integer, or the pointer that C has set. */
INTERNAL MPI_Aint attribute_out(const void* attribute);

/* ---- Predefined callbacks, known by address ---- */

/* Procedures that copy and delete attributes. The first are deprecated: their values are
 * integers. */
typedef void Copy_attribute(const MPI_Fint* object, const MPI_Fint* keyval,
                            const MPI_Aint* extra_state, const MPI_Aint* value_in,
                            MPI_Aint* value_out, MPI_Fint* flag, MPI_Fint* ierror);
typedef void Delete_attribute(const MPI_Fint* object, const MPI_Fint* keyval, const MPI_Aint* value,
                              const MPI_Aint* extra_state, MPI_Fint* ierror);
void mpi_null_copy_fn_(const MPI_Fint* comm, const MPI_Fint* keyval, const MPI_Fint* extra_state,
                       const MPI_Fint* value_in, MPI_Fint* value_out, MPI_Fint* flag,
                       MPI_Fint* ierror);
void mpi_dup_fn_(const MPI_Fint* comm, const MPI_Fint* keyval, const MPI_Fint* extra_state,
                 const MPI_Fint* value_in, MPI_Fint* value_out, MPI_Fint* flag, MPI_Fint* ierror);
void mpi_null_delete_fn_(const MPI_Fint* comm, const MPI_Fint* keyval, const MPI_Fint* value,
                         const MPI_Fint* extra_state, MPI_Fint* ierror);
Copy_attribute mpi_comm_null_copy_fn_, mpi_comm_dup_fn_, mpi_type_null_copy_fn_, mpi_type_dup_fn_,
    mpi_win_null_copy_fn_, mpi_win_dup_fn_;
Delete_attribute mpi_comm_null_delete_fn_, mpi_type_null_delete_fn_, mpi_win_null_delete_fn_;
void mpi_conversion_fn_null_(void), mpi_conversion_fn_null_c_(void);

/* Return a C callback that calls a procedure of Fortran, the same for the same procedure. Return
 * NULL if there are too many. MPI passes operations and error handlers no argument by which one
 * C function could tell procedures apart. */
INTERNAL MPI_User_function* operation_calling(Procedure* procedure);
INTERNAL MPI_User_function_c* large_operation_calling(Procedure* procedure);
INTERNAL MPI_Comm_errhandler_function* comm_errhandler_calling(Procedure* procedure);
INTERNAL MPI_File_errhandler_function* file_errhandler_calling(Procedure* procedure);
INTERNAL MPI_Session_errhandler_function* session_errhandler_calling(Procedure* procedure);
INTERNAL MPI_Win_errhandler_function* win_errhandler_calling(Procedure* procedure);

#endif
