/* SPDX-License-Identifier: BSD-3-Clause */
/* C callbacks of operations and error handlers that are written in Fortran.
 *
 * A C callback has no argument that could say which Fortran procedure is meant. So there are 64 callbacks of
 * each kind, each for one procedure. They are never given back: an operation that was freed may still be used
 * by a call under way. A procedure that is given again gets the same callback.
 */

#include <pthread.h>

#include "fortran.h"

enum { callbacks_of_a_kind = 64 };

typedef struct {
    Procedure* _Atomic procedures[callbacks_of_a_kind];
} Table;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

/* The place of a procedure, or -1. */
static int place_for(Table* table, Procedure* procedure) {
    int place = 0;
    pthread_mutex_lock(&guard);
    while (place < callbacks_of_a_kind && table->procedures[place] != NULL &&
           table->procedures[place] != procedure)
        ++place;
    if (place < callbacks_of_a_kind) table->procedures[place] = procedure;
    pthread_mutex_unlock(&guard);
    return place < callbacks_of_a_kind ? place : -1;
}

/* Numbers of two octal digits, 00 to 77. */
#define EIGHT(X, digit) \
    X(digit##0) X(digit##1) X(digit##2) X(digit##3) X(digit##4) X(digit##5) X(digit##6) X(digit##7)
#define ALL(X) \
    EIGHT(X, 0) EIGHT(X, 1) EIGHT(X, 2) EIGHT(X, 3) EIGHT(X, 4) EIGHT(X, 5) EIGHT(X, 6) EIGHT(X, 7)

/* ---- Operations ---- */

static Table operations, large_operations;

static void call_operation(int place, void* in, void* inout, int* length, MPI_Datatype* type) {
    void (*procedure)(void*, void*, MPI_Fint*, MPI_Fint*) =
        (void (*)(void*, void*, MPI_Fint*, MPI_Fint*))operations.procedures[place];
    MPI_Fint datatype = type_out(*type);
    procedure(in, inout, length, &datatype);
}
static void call_large_operation(int place, void* in, void* inout, MPI_Count* length,
                                 MPI_Datatype* type) {
    void (*procedure)(void*, void*, MPI_Count*, MPI_Fint*) =
        (void (*)(void*, void*, MPI_Count*, MPI_Fint*))large_operations.procedures[place];
    MPI_Fint datatype = type_out(*type);
    procedure(in, inout, length, &datatype);
}

#define OPERATION(n)                                                                    \
    static void operation_##n(void* in, void* inout, int* length, MPI_Datatype* type) { \
        call_operation(0##n, in, inout, length, type);                                  \
    }
#define LARGE_OPERATION(n)                                                    \
    static void large_operation_##n(void* in, void* inout, MPI_Count* length, \
                                    MPI_Datatype* type) {                     \
        call_large_operation(0##n, in, inout, length, type);                  \
    }
ALL(OPERATION)
ALL(LARGE_OPERATION)

MPI_User_function* operation_calling(Procedure* procedure) {
#define NAME(n) operation_##n,
    static MPI_User_function* const callbacks[] = {ALL(NAME)};
#undef NAME
    const int place = place_for(&operations, procedure);
    return place < 0 ? NULL : callbacks[place];
}
MPI_User_function_c* large_operation_calling(Procedure* procedure) {
#define NAME(n) large_operation_##n,
    static MPI_User_function_c* const callbacks[] = {ALL(NAME)};
#undef NAME
    const int place = place_for(&large_operations, procedure);
    return place < 0 ? NULL : callbacks[place];
}

/* ---- Error handlers, of four kinds of objects ---- */

typedef void Errhandler(MPI_Fint* handle, MPI_Fint* code);

#define CALLBACK(name, Handle, n)                                          \
    static void name##_errhandler_##n(Handle* handle, int* code, ...) {    \
        MPI_Fint number = name##_out(*handle);                             \
        ((Errhandler*)name##_errhandlers.procedures[0##n])(&number, code); \
    }
#define ERRHANDLERS(name, Handle, CALLBACKS, NAMES)                                 \
    static Table name##_errhandlers;                                                \
    ALL(CALLBACKS)                                                                  \
    Handle##_errhandler_function* name##_errhandler_calling(Procedure* procedure) { \
        static Handle##_errhandler_function* const callbacks[] = {ALL(NAMES)};      \
        const int place = place_for(&name##_errhandlers, procedure);                \
        return place < 0 ? NULL : callbacks[place];                                 \
    }
#define COMM_CALLBACK(n) CALLBACK(comm, MPI_Comm, n)
#define COMM_NAME(n) comm_errhandler_##n,
ERRHANDLERS(comm, MPI_Comm, COMM_CALLBACK, COMM_NAME)
#define FILE_CALLBACK(n) CALLBACK(file, MPI_File, n)
#define FILE_NAME(n) file_errhandler_##n,
ERRHANDLERS(file, MPI_File, FILE_CALLBACK, FILE_NAME)
#define SESSION_CALLBACK(n) CALLBACK(session, MPI_Session, n)
#define SESSION_NAME(n) session_errhandler_##n,
ERRHANDLERS(session, MPI_Session, SESSION_CALLBACK, SESSION_NAME)
#define WIN_CALLBACK(n) CALLBACK(win, MPI_Win, n)
#define WIN_NAME(n) win_errhandler_##n,
ERRHANDLERS(win, MPI_Win, WIN_CALLBACK, WIN_NAME)
