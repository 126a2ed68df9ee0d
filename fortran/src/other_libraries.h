/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the bindings of other libraries: handles that C converts, and procedures of
 * modules. */
#ifndef HEDDLE_FORTRAN_OTHER_LIBRARIES_H
#define HEDDLE_FORTRAN_OTHER_LIBRARIES_H

#define HANDLE(name, Handle, X)                                                              \
    static inline MPI_##Handle name##_in(MPI_Fint number) { return PMPI_##X##_f2c(number); } \
    static inline MPI_Fint name##_out(MPI_##Handle handle) { return PMPI_##X##_c2f(handle); }
HANDLE(comm, Comm, Comm)
HANDLE(type, Datatype, Type)
HANDLE(errhandler, Errhandler, Errhandler)
HANDLE(file, File, File)
HANDLE(group, Group, Group)
HANDLE(info, Info, Info)
HANDLE(message, Message, Message)
HANDLE(op, Op, Op)
HANDLE(request, Request, Request)
HANDLE(session, Session, Session)
HANDLE(win, Win, Win)
#undef HANDLE

/* Predefined procedures have a name in mpif.h. In mpi_f08 they belong to a module and have
 * another name. */
#define OF_MODULE(name) extern void f08_##name##_(void) __asm__("__mpi_f08_callbacks_MOD_" #name);
OF_MODULE(mpi_comm_null_copy_fn)
OF_MODULE(mpi_comm_dup_fn)
OF_MODULE(mpi_comm_null_delete_fn)
OF_MODULE(mpi_type_null_copy_fn)
OF_MODULE(mpi_type_dup_fn)
OF_MODULE(mpi_type_null_delete_fn)
OF_MODULE(mpi_win_null_copy_fn)
OF_MODULE(mpi_win_dup_fn)
OF_MODULE(mpi_win_null_delete_fn)
OF_MODULE(mpi_conversion_fn_null)
OF_MODULE(mpi_conversion_fn_null_c)
#undef OF_MODULE
#define IS(procedure, predefined) \
    ((procedure) == (Procedure*)(predefined) || (procedure) == (Procedure*)(f08_##predefined))

#endif
