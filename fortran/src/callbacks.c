/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations, error handlers, generalized requests and data representations written in Fortran. */

#include <stdlib.h>

#include "fortran.h"
#include "names_by_hand.h"

static int too_many(const char* function) {
    return fail(MPI_ERR_NO_MEM, function,
                "there are 256 different procedures of this kind already");
}

/* ---- Operations ---- */

#define OPERATION(name_, create, calling)                                                         \
    EXPORTED void name_(Procedure* user_fn, const MPI_Fint* commute, MPI_Fint* op,                \
                        MPI_Fint* ierror) {                                                       \
        MPI_Op c_op;                                                                              \
        __typeof__(calling(user_fn)) callback = calling(user_fn);                                 \
        const int outcome =                                                                       \
            callback == NULL ? too_many(#create) : create(callback, logical_in(*commute), &c_op); \
        if (outcome == MPI_SUCCESS) *op = op_out(c_op);                                           \
        answer(ierror, outcome);                                                                  \
    }
OPERATION(mpi_op_create_, MPI_Op_create, operation_calling)
OPERATION(mpi_op_create_c_f08_, MPI_Op_create_c, large_operation_calling)

/* ---- Error handlers ---- */

#define ERRHANDLER(name_, create, calling)                                              \
    EXPORTED void name_(Procedure* procedure, MPI_Fint* errhandler, MPI_Fint* ierror) { \
        MPI_Errhandler c_errhandler;                                                    \
        __typeof__(calling(procedure)) callback = calling(procedure);                   \
        const int outcome =                                                             \
            callback == NULL ? too_many(#create) : create(callback, &c_errhandler);     \
        if (outcome == MPI_SUCCESS) *errhandler = errhandler_out(c_errhandler);         \
        answer(ierror, outcome);                                                        \
    }
ERRHANDLER(mpi_comm_create_errhandler_, MPI_Comm_create_errhandler, comm_errhandler_calling)
ERRHANDLER(mpi_file_create_errhandler_, MPI_File_create_errhandler, file_errhandler_calling)
ERRHANDLER(mpi_session_create_errhandler_, MPI_Session_create_errhandler,
           session_errhandler_calling)
ERRHANDLER(mpi_win_create_errhandler_, MPI_Win_create_errhandler, win_errhandler_calling)

/* ---- Generalized requests ---- */

typedef struct {
    void (*query)(MPI_Aint*, MPI_Fint*, MPI_Fint*);
    void (*free)(MPI_Aint*, MPI_Fint*);
    void (*cancel)(MPI_Aint*, MPI_Fint*, MPI_Fint*);
    MPI_Aint extra_state;
} Generalized;

static int call_query(void* extra, MPI_Status* status) {
    Generalized* request = extra;
    MPI_Fint ierror = MPI_SUCCESS;
    request->query(&request->extra_state, (MPI_Fint*)status, &ierror);
    return ierror;
}
static int call_free(void* extra) {
    Generalized* request = extra;
    MPI_Fint ierror = MPI_SUCCESS;
    request->free(&request->extra_state, &ierror);
    free(request); /* the last call for a request */
    return ierror;
}
static int call_cancel(void* extra, int complete) {
    Generalized* request = extra;
    MPI_Fint is_complete = logical_out(complete), ierror = MPI_SUCCESS;
    request->cancel(&request->extra_state, &is_complete, &ierror);
    return ierror;
}

EXPORTED void mpi_grequest_start_(Procedure* query_fn, Procedure* free_fn, Procedure* cancel_fn,
                                  const MPI_Aint* extra_state, MPI_Fint* request,
                                  MPI_Fint* ierror) {
    MPI_Request c_request;
    Generalized* state = malloc(sizeof *state);
    int outcome = state == NULL ? no_memory("MPI_Grequest_start") : MPI_SUCCESS;
    if (state != NULL) {
        *state = (Generalized){(void (*)(MPI_Aint*, MPI_Fint*, MPI_Fint*))query_fn,
                               (void (*)(MPI_Aint*, MPI_Fint*))free_fn,
                               (void (*)(MPI_Aint*, MPI_Fint*, MPI_Fint*))cancel_fn, *extra_state};
        outcome = MPI_Grequest_start(call_query, call_free, call_cancel, state, &c_request);
    }
    if (outcome == MPI_SUCCESS) {
        *request = request_out(c_request);
    } else {
        free(state);
    }
    answer(ierror, outcome);
}

/* ---- Data representations, which are never taken back ---- */

typedef struct {
    Procedure* read;
    Procedure* write;
    void (*extent)(MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Fint*);
    MPI_Aint extra_state;
} Representation;

static int call_extent(MPI_Datatype datatype, MPI_Aint* extent, void* extra) {
    Representation* representation = extra;
    MPI_Fint type = type_out(datatype), ierror = MPI_SUCCESS;
    representation->extent(&type, extent, &representation->extra_state, &ierror);
    return ierror;
}

#define CONVERSIONS(call, Count)                                                                   \
    static int call(Procedure* procedure, Representation* representation, void* userbuf,           \
                    MPI_Datatype datatype, Count count, void* filebuf, MPI_Offset position) {      \
        MPI_Fint type = type_out(datatype), ierror = MPI_SUCCESS;                                  \
        ((void (*)(void*, MPI_Fint*, Count*, void*, MPI_Offset*, MPI_Aint*, MPI_Fint*))procedure)( \
            userbuf, &type, &count, filebuf, &position, &representation->extra_state, &ierror);    \
        return ierror;                                                                             \
    }                                                                                              \
    static int call##_read(void* userbuf, MPI_Datatype datatype, Count count, void* filebuf,       \
                           MPI_Offset position, void* extra) {                                     \
        return call(((Representation*)extra)->read, extra, userbuf, datatype, count, filebuf,      \
                    position);                                                                     \
    }                                                                                              \
    static int call##_write(void* userbuf, MPI_Datatype datatype, Count count, void* filebuf,      \
                            MPI_Offset position, void* extra) {                                    \
        return call(((Representation*)extra)->write, extra, userbuf, datatype, count, filebuf,     \
                    position);                                                                     \
    }
CONVERSIONS(convert, int)
CONVERSIONS(convert_large, MPI_Count)

#define DATAREP(name_, registering, convert, NONE, none_)                                          \
    EXPORTED void name_(const char* datarep, Procedure* read, Procedure* write, Procedure* extent, \
                        const MPI_Aint* extra_state, MPI_Fint* ierror, Length datarep_length) {    \
        String string;                                                                             \
        char* c_datarep = string_in(&string, datarep, datarep_length);                             \
        Representation* all = malloc(sizeof *all);                                                 \
        int outcome = all == NULL || c_datarep == NULL ? no_memory(#registering) : MPI_SUCCESS;    \
        if (outcome == MPI_SUCCESS) {                                                              \
            *all = (Representation){read, write,                                                   \
                                    (void (*)(MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Fint*))extent,  \
                                    *extra_state};                                                 \
            outcome = registering(c_datarep, IS(read, none_) ? NONE : convert##_read,              \
                                  IS(write, none_) ? NONE : convert##_write, call_extent, all);    \
        }                                                                                          \
        if (outcome != MPI_SUCCESS) free(all);                                                     \
        leave_string(&string);                                                                     \
        answer(ierror, outcome);                                                                   \
    }
DATAREP(mpi_register_datarep_, MPI_Register_datarep, convert, MPI_CONVERSION_FN_NULL,
        mpi_conversion_fn_null_)
DATAREP(mpi_register_datarep_c_f08_, MPI_Register_datarep_c, convert_large,
        MPI_CONVERSION_FN_NULL_C, mpi_conversion_fn_null_c_)

/* ---- Their other names ---- */

/* clang-format off */
NAMES_mpi_op_create
NAMES_mpi_comm_create_errhandler
NAMES_mpi_file_create_errhandler
NAMES_mpi_session_create_errhandler
NAMES_mpi_win_create_errhandler
NAMES_mpi_grequest_start
NAMES_mpi_register_datarep
