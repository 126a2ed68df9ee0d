/* SPDX-License-Identifier: BSD-3-Clause */
/* C callbacks of operations and error handlers that are written in Fortran
 * (foreign/callbacks.h). */

#include "fortran.h"

/* ---- Operations ---- */

#define CALL_OPERATION(table, Count, place)                                                 \
    MPI_Fint datatype = type_out(*type);                                                    \
    ((void (*)(void*, void*, Count*, MPI_Fint*))table.procedures[place])(in, inout, length, \
                                                                         &datatype);
#define OPERATION(n)                                                                    \
    static void operation_##n(void* in, void* inout, int* length, MPI_Datatype* type) { \
        CALL_OPERATION(operation_table, MPI_Fint, 0x##n)                                \
    }
#define OPERATION_NAME(n) operation_##n,
CALLBACKS(operation, MPI_User_function, OPERATION, OPERATION_NAME)
#define LARGE_OPERATION(n)                                                    \
    static void large_operation_##n(void* in, void* inout, MPI_Count* length, \
                                    MPI_Datatype* type) {                     \
        CALL_OPERATION(large_operation_table, MPI_Count, 0x##n)               \
    }
#define LARGE_OPERATION_NAME(n) large_operation_##n,
CALLBACKS(large_operation, MPI_User_function_c, LARGE_OPERATION, LARGE_OPERATION_NAME)

/* ---- Error handlers, of four kinds of objects ---- */

typedef void Errhandler(MPI_Fint* handle, MPI_Fint* code);

#define CALLBACK(name, Handle, n)                                                \
    static void name##_errhandler_##n(MPI_##Handle* handle, int* code, ...) {    \
        MPI_Fint number = name##_out(*handle);                                   \
        ((Errhandler*)name##_errhandler_table.procedures[0x##n])(&number, code); \
    }
#define COMM_CALLBACK(n) CALLBACK(comm, Comm, n)
#define COMM_NAME(n) comm_errhandler_##n,
CALLBACKS(comm_errhandler, MPI_Comm_errhandler_function, COMM_CALLBACK, COMM_NAME)
#define FILE_CALLBACK(n) CALLBACK(file, File, n)
#define FILE_NAME(n) file_errhandler_##n,
CALLBACKS(file_errhandler, MPI_File_errhandler_function, FILE_CALLBACK, FILE_NAME)
#define SESSION_CALLBACK(n) CALLBACK(session, Session, n)
#define SESSION_NAME(n) session_errhandler_##n,
CALLBACKS(session_errhandler, MPI_Session_errhandler_function, SESSION_CALLBACK, SESSION_NAME)
#define WIN_CALLBACK(n) CALLBACK(win, Win, n)
#define WIN_NAME(n) win_errhandler_##n,
CALLBACKS(win_errhandler, MPI_Win_errhandler_function, WIN_CALLBACK, WIN_NAME)
