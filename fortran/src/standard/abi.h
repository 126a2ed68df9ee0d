/* SPDX-License-Identifier: BSD-3-Clause */
/* The standard ABI in Fortran, with names of Heddle's own for parts that it leaves open. */
#ifndef HEDDLE_FORTRAN_ABI_H
#define HEDDLE_FORTRAN_ABI_H

#include <mpi_fortran.h>

/* ---- Sentinels ---- */

extern MPI_Fint mpi_fortran_bottom_;
extern MPI_Fint mpi_fortran_in_place_;
extern MPI_Fint mpi_fortran_buffer_automatic_;
extern MPI_Fint mpi_fortran_unweighted_;
extern MPI_Fint mpi_fortran_weights_empty_;
extern MPI_Fint mpi_fortran_errcodes_ignore_;
extern MPI_Fint mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE];
extern MPI_Fint mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];
extern MPI_F08_status mpi_f08_status_ignore_;
extern MPI_F08_status mpi_f08_statuses_ignore_;
extern char mpi_fortran_argv_null_;
extern char mpi_fortran_argvs_null_;

static inline bool is_bottom(const void* buffer) { return buffer == &mpi_fortran_bottom_; }
static inline bool is_in_place(const void* buffer) { return buffer == &mpi_fortran_in_place_; }
static inline bool is_automatic(const void* buffer) {
    return buffer == &mpi_fortran_buffer_automatic_;
}
static inline bool is_unweighted(const void* weights) {
    return weights == &mpi_fortran_unweighted_;
}
static inline bool is_weights_empty(const void* weights) {
    return weights == &mpi_fortran_weights_empty_;
}
static inline bool is_errcodes_ignore(const void* codes) {
    return codes == &mpi_fortran_errcodes_ignore_;
}
static inline bool is_status_ignore(const void* status) {
    return status == mpi_fortran_status_ignore_ || status == &mpi_f08_status_ignore_;
}
static inline bool is_statuses_ignore(const void* statuses) {
    return statuses == mpi_fortran_statuses_ignore_ || statuses == &mpi_f08_statuses_ignore_;
}
static inline bool is_argv_null(const char* argv) { return argv == &mpi_fortran_argv_null_; }
static inline bool is_argvs_null(const char* argvs) { return argvs == &mpi_fortran_argvs_null_; }

#define AUTOMATIC_BUFFER MPI_BUFFER_AUTOMATIC
static inline const void* automatic_out(const void* buffer) {
    return LIKELY(buffer != MPI_BUFFER_AUTOMATIC) ? buffer : &mpi_fortran_buffer_automatic_;
}

/* Keys of predefined attributes are C's. */
static inline int keyval_in(MPI_Fint keyval) { return keyval; }

/* Returns whether a procedure is a predefined one, by the name that all bindings have for it. */
#define IS(procedure, predefined) ((procedure) == (Procedure*)(predefined))

/* ---- Handles: constants of the ABI are their own integers, the library is asked for others
 * ---- */

enum { handle_constants = 4096 };

/* Test several numbers at once: numbers below 4096 have no higher bit set. */
static inline bool are_constants(MPI_Fint numbers) { return (unsigned)numbers < handle_constants; }
static inline uintptr_t constant_in(MPI_Fint number) { return (unsigned)number; }

#define HANDLE(name, out, Handle, X)                                                             \
    static inline Handle name##_in(MPI_Fint number) {                                            \
        return LIKELY((unsigned)number < handle_constants) ? (Handle)(uintptr_t)(unsigned)number \
                                                           : PMPI_##X##_fromint(number);         \
    }                                                                                            \
    static inline MPI_Fint out(Handle handle) {                                                  \
        return (uintptr_t)handle < handle_constants ? (MPI_Fint)(uintptr_t)handle                \
                                                    : PMPI_##X##_toint(handle);                  \
    }
HANDLE(comm, comm_out, MPI_Comm, Comm)
HANDLE(type, type_out, MPI_Datatype, Type)
HANDLE(errhandler, errhandler_out, MPI_Errhandler, Errhandler)
HANDLE(file, file_out, MPI_File, File)
HANDLE(group, group_out, MPI_Group, Group)
HANDLE(info, info_out, MPI_Info, Info)
HANDLE(message, message_out, MPI_Message, Message)
HANDLE(op, op_out, MPI_Op, Op)
HANDLE(request, request_asked, MPI_Request, Request)
HANDLE(session, session_out, MPI_Session, Session)
HANDLE(win, win_out, MPI_Win, Win)
#undef HANDLE

/* The integer of a request is the lower half of its handle, if MPI_Abi_get_info says so.
 * Otherwise the library is asked for each. The variable is the limit of constants, or 0, so that
 * one comparison answers both questions. */
INTERNAL extern unsigned lower_half_requests;
static inline bool are_constants_at_start(MPI_Fint numbers) {
    return (unsigned)numbers < lower_half_requests;
}
static inline MPI_Fint lower_half(MPI_Request request) { return (MPI_Fint)(uintptr_t)request; }
static inline MPI_Fint request_out(MPI_Request request) {
    return LIKELY(lower_half_requests != 0) ? lower_half(request) : request_asked(request);
}

#endif
