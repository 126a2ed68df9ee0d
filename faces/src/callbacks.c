/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the program that the library calls: they see handles of the face.
 *
 * Operations and error handlers have no extra state (foreign/callbacks.h). The others have one,
 * in place of which Heddle's functions get a record.
 */

#include "face.h"

/* ---- Operations ---- */

#define CALL_OPERATION(table, Count, place)                                                   \
    F_Datatype type = type_out(*datatype);                                                    \
    ((void (*)(void*, void*, Count*, F_Datatype*))table.procedures[place])(in, inout, length, \
                                                                           &type);
#define OPERATION(n)                                                                        \
    static void operation_##n(void* in, void* inout, int* length, MPI_Datatype* datatype) { \
        CALL_OPERATION(operation_table, int, 0x##n)                                         \
    }
#define OPERATION_NAME(n) operation_##n,
CALLBACKS(operation, MPI_User_function, OPERATION, OPERATION_NAME)
#define LARGE_OPERATION(n)                                                    \
    static void large_operation_##n(void* in, void* inout, MPI_Count* length, \
                                    MPI_Datatype* datatype) {                 \
        CALL_OPERATION(large_operation_table, MPI_Count, 0x##n)               \
    }
#define LARGE_OPERATION_NAME(n) large_operation_##n,
CALLBACKS(large_operation, MPI_User_function_c, LARGE_OPERATION, LARGE_OPERATION_NAME)

#define OP_CREATE(X, kind)                                                                   \
    FUNCTION(int, X, (Procedure * function, int commute, F_Op* op)) {                        \
        OUT(op, Op, op);                                                                     \
        const bool given = is_memory((const void*)function);                                 \
        __typeof__(kind##_calling(function)) ours = given ? kind##_calling(function) : NULL; \
        if (given && ours == NULL) return no_memory();                                       \
        return error_out(heddle.X(ours, commute, PLACE_OF(op)));                             \
    }                                                                                        \
    SECOND_NAME(X)
OP_CREATE(Op_create, operation)
OP_CREATE(Op_create_c, large_operation)

/* ---- Error handlers, of four kinds of objects ---- */

#define CALLBACK(name, Handle, n)                                                                  \
    static void name##_errhandler_##n(MPI_##Handle* handle, int* code, ...) {                      \
        F_##Handle object = name##_out(*handle);                                                   \
        int face_code = error_out(*code);                                                          \
        ((void (*)(F_##Handle*, int*, ...))name##_errhandler_table.procedures[0x##n])(&object,     \
                                                                                      &face_code); \
    }
#define ERRHANDLERS(name, Handle, DEFINITION, NAMES)                                               \
    CALLBACKS(name##_errhandler, MPI_##Handle##_errhandler_function, DEFINITION, NAMES)            \
    FUNCTION(int, Handle##_create_errhandler, (Procedure * function, F_Errhandler * errhandler)) { \
        OUT(errhandler, Errhandler, errhandler);                                                   \
        const bool given = is_memory((const void*)function);                                       \
        MPI_##Handle##_errhandler_function* ours =                                                 \
            given ? name##_errhandler_calling(function) : NULL;                                    \
        if (given && ours == NULL) return no_memory();                                             \
        return error_out(heddle.Handle##_create_errhandler(ours, PLACE_OF(errhandler)));           \
    }                                                                                              \
    SECOND_NAME(Handle##_create_errhandler)
#define COMM_CALLBACK(n) CALLBACK(comm, Comm, n)
#define COMM_NAME(n) comm_errhandler_##n,
ERRHANDLERS(comm, Comm, COMM_CALLBACK, COMM_NAME)
#define FILE_CALLBACK(n) CALLBACK(file, File, n)
#define FILE_NAME(n) file_errhandler_##n,
ERRHANDLERS(file, File, FILE_CALLBACK, FILE_NAME)
#define SESSION_CALLBACK(n) CALLBACK(session, Session, n)
#define SESSION_NAME(n) session_errhandler_##n,
ERRHANDLERS(session, Session, SESSION_CALLBACK, SESSION_NAME)
#define WIN_CALLBACK(n) CALLBACK(win, Win, n)
#define WIN_NAME(n) win_errhandler_##n,
ERRHANDLERS(win, Win, WIN_CALLBACK, WIN_NAME)

/* ---- Generalized requests ---- */

typedef struct {
    int (*query)(void*, F_Status*);
    int (*free)(void*);
    int (*cancel)(void*, int);
    void* state;
} Generalized;

static int query(void* state, MPI_Status* status) {
    const Generalized* request = state;
    F_Status own;
    status_out(status, &own);
    const int error = request->query(request->state, &own);
    status_in(&own, status);
    return error_in(error);
}
static int free_request(void* state) {
    Generalized* request = state;
    const int error = request->free == NULL ? MPI_SUCCESS : request->free(request->state);
    free(request);
    return error_in(error);
}
static int cancel(void* state, int complete) {
    const Generalized* request = state;
    return error_in(request->cancel(request->state, complete));
}

FUNCTION(int, Grequest_start,
         (int (*of_query)(void*, F_Status*), int (*of_free)(void*), int (*of_cancel)(void*, int),
          void* state, F_Request* request)) {
    Generalized* record = malloc(sizeof *record);
    if (record == NULL) return no_memory();
    *record = (Generalized){of_query, of_free, of_cancel, state};
    OUT(request, Request, request);
    const int error = heddle.Grequest_start(
        of_query == NULL ? NULL : query, of_free == NULL ? NULL : free_request,
        of_cancel == NULL ? NULL : cancel, record, PLACE_OF(request));
    if (error != MPI_SUCCESS) free(record);
    return error_out(error);
}
SECOND_NAME(Grequest_start)

/* ---- Data representations: registered until the process ends ---- */

typedef struct {
    Procedure* read;
    Procedure* write;
    int (*extent)(F_Datatype, MPI_Aint*, void*);
    void* state;
} Representation;

static int extent(MPI_Datatype datatype, MPI_Aint* bytes, void* state) {
    const Representation* own = state;
    return error_in(own->extent(type_out(datatype), bytes, own->state));
}

#define CONVERSION(X, Count, name)                                                                 \
    typedef int name##Function(void*, F_Datatype, Count, void*, MPI_Offset, void*);                \
    static int name##_read(void* user, MPI_Datatype datatype, Count count, void* file,             \
                           MPI_Offset at, void* state) {                                           \
        const Representation* own = state;                                                         \
        return error_in(                                                                           \
            ((name##Function*)own->read)(user, type_out(datatype), count, file, at, own->state));  \
    }                                                                                              \
    static int name##_write(void* user, MPI_Datatype datatype, Count count, void* file,            \
                            MPI_Offset at, void* state) {                                          \
        const Representation* own = state;                                                         \
        return error_in(                                                                           \
            ((name##Function*)own->write)(user, type_out(datatype), count, file, at, own->state)); \
    }                                                                                              \
    FUNCTION(int, X,                                                                               \
             (const char* datarep, Procedure* read, Procedure* write,                              \
              int (*of_extent)(F_Datatype, MPI_Aint*, void*), void* state)) {                      \
        Representation* record = malloc(sizeof *record);                                           \
        if (record == NULL) return no_memory();                                                    \
        *record = (Representation){read, write, of_extent, state};                                 \
        const int error = heddle.X(CROSS(datarep), read == NULL ? NULL : name##_read,              \
                                   write == NULL ? NULL : name##_write,                            \
                                   of_extent == NULL ? NULL : extent, record);                     \
        if (error != MPI_SUCCESS) free(record);                                                    \
        return error_out(error);                                                                   \
    }                                                                                              \
    SECOND_NAME(X)
CONVERSION(Register_datarep, int, conversion)
CONVERSION(Register_datarep_c, MPI_Count, large_conversion)

/* ---- Events of the tool interface ---- */

typedef struct {
    Procedure* function;
    void* data;
} Event;

static Event* event(Procedure* function, void* data) {
    Event* record = malloc(sizeof *record);
    if (record != NULL) *record = (Event){function, data};
    return record;
}
static void occurred(MPI_T_event_instance instance, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void* data) {
    const Event* record = data;
    ((void (*)(MPI_T_event_instance, MPI_T_event_registration, int, void*))record->function)(
        instance, registration, safety_out(safety), record->data);
}
static void freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* data) {
    Event* record = data;
    ((void (*)(MPI_T_event_registration, int, void*))record->function)(
        registration, safety_out(safety), record->data);
    free(record);
}
FUNCTION(int, T_event_register_callback,
         (MPI_T_event_registration registration, int safety, F_Info info, void* data,
          Procedure* function)) {
    Event* record = event(function, data);
    if (record == NULL) return error_out(MPI_T_ERR_MEMORY);
    const int error =
        heddle.T_event_register_callback(registration, (MPI_T_cb_safety)safety_in(safety),
                                         info_in(info), record, function == NULL ? NULL : occurred);
    if (error != MPI_SUCCESS) free(record);
    return error_out(error);
}
SECOND_NAME(T_event_register_callback)
FUNCTION(int, T_event_handle_free,
         (MPI_T_event_registration registration, void* data, Procedure* function)) {
    Event* record = function == NULL ? NULL : event(function, data);
    if (function != NULL && record == NULL) return error_out(MPI_T_ERR_MEMORY);
    const int error =
        heddle.T_event_handle_free(registration, record, function == NULL ? NULL : freed);
    if (error != MPI_SUCCESS) free(record);
    return error_out(error);
}
SECOND_NAME(T_event_handle_free)

/* The function for dropped events gets the data of the one for events. */
#define DROPPED(n)                                                                                \
    static void dropped_##n(MPI_Count count, MPI_T_event_registration registration, int source,   \
                            MPI_T_cb_safety safety, void* data) {                                 \
        const Event* record = data;                                                               \
        ((void (*)(MPI_Count, MPI_T_event_registration, int, int,                                 \
                   void*))dropped_table.procedures[0x##n])(count, registration, source,           \
                                                           safety_out(safety),                    \
                                                           record == NULL ? NULL : record->data); \
    }
#define DROPPED_NAME(n) dropped_##n,
static MPI_T_event_dropped_cb_function* dropped_calling(Procedure* procedure);
CALLBACKS(dropped, MPI_T_event_dropped_cb_function, DROPPED, DROPPED_NAME)
FUNCTION(int, T_event_set_dropped_handler,
         (MPI_T_event_registration registration, Procedure* function)) {
    MPI_T_event_dropped_cb_function* ours = function == NULL ? NULL : dropped_calling(function);
    if (function != NULL && ours == NULL) return error_out(MPI_T_ERR_MEMORY);
    return error_out(heddle.T_event_set_dropped_handler(registration, ours));
}
SECOND_NAME(T_event_set_dropped_handler)
