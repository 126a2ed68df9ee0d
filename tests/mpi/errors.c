/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers, classes, codes and strings (MPI 5.0, 9.3 to 9.5). */
#include "check.h"

static int calls, last_code;
static MPI_Comm last_comm;

static void note(MPI_Comm* comm, int* code, ...) {
    ++calls;
    last_comm = *comm;
    last_code = *code;
}

static void note_session(MPI_Session* session, int* code, ...) { (void)session, (void)code; }

static void handlers(void) {
    MPI_Errhandler mine, got;
    MPI_Comm comm, child;
    int number;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == MPI_ERRORS_RETURN); /* from the parent */
    OK(MPI_Errhandler_free(&got));
    CHECK(got == MPI_ERRHANDLER_NULL);
    OK(MPI_Comm_create_errhandler(note, &mine));
    OK(MPI_Comm_set_errhandler(comm, mine));
    OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == mine);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&mine)); /* still in use */
    CHECK(MPI_Send(&number, 1, MPI_INT, 12345, 0, comm) != MPI_SUCCESS);
    CHECK(calls == 1 && last_comm == comm && last_code == MPI_ERR_RANK);
    OK(MPI_Comm_dup(comm, &child));
    CHECK(MPI_Send(&number, -1, MPI_INT, 0, 0, child) != MPI_SUCCESS);
    CHECK(calls == 2 && last_comm == child && last_code == MPI_ERR_COUNT);
    OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CHECK(calls == 3 && last_code == MPI_ERR_OTHER);
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    /* The handler is for another kind of object. */
    OK(MPI_Session_create_errhandler(note_session, &mine));
    FAILS(MPI_Comm_set_errhandler(comm, mine), MPI_ERR_ERRHANDLER);
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CHECK(calls == 3);
    OK(MPI_Comm_free(&child));
    OK(MPI_Comm_free(&comm));

    /* A call without a communicator takes the handler of MPI_COMM_SELF, which has one now. */
    OK(MPI_Comm_create_errhandler(note, &mine));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, mine));
    CHECK(MPI_Comm_size(MPI_COMM_NULL, &number) == MPI_ERR_COMM);
    CHECK(calls == 4 && last_comm == MPI_COMM_SELF && last_code == MPI_ERR_COMM);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&mine));

    mine = MPI_ERRHANDLER_NULL;
    FAILS(MPI_Errhandler_free(&mine), MPI_ERR_ERRHANDLER);
    FAILS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    FAILS(MPI_Comm_create_errhandler(NULL, &mine), MPI_ERR_ARG);
    for (int i = 0; i < 3; ++i) {
        const MPI_Errhandler fixed[] = {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN};
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, fixed[i]));
        OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
        CHECK(got == fixed[i]);
    }
}

static void predefined_strings(void) {
    char text[MPI_MAX_ERROR_STRING];
    int length, class;
    OK(MPI_Error_string(MPI_ERR_TRUNCATE, text, &length));
    CHECK(strncmp(text, "MPI_ERR_TRUNCATE: ", 18) == 0 && length == (int)strlen(text));
    OK(MPI_Error_class(MPI_ERR_TAG, &class));
    CHECK(class == MPI_ERR_TAG);
}

static void added(int level_of_use) {
    int class, code, other, got, length;
    char text[MPI_MAX_ERROR_STRING];
    OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE);
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_code(MPI_ERR_IO, &other));
    CHECK(code > class && other > code);
    OK(MPI_Error_class(code, &got));
    CHECK(got == class);
    OK(MPI_Error_class(other, &got));
    CHECK(got == MPI_ERR_IO);
    OK(MPI_Error_string(code, text, &length));
    CHECK(length == 0);
    OK(MPI_Add_error_string(code, "the shuttle has flown out"));
    OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, "the shuttle has flown out") == 0);
    if (level_of_use == 0) return; /* not initialized: errors would be fatal */

    int* last = NULL;
    int flag = 0;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(flag && *last >= other);
    FAILS(MPI_Remove_error_class(class), MPI_ERR_OTHER); /* the class has a code */
    FAILS(MPI_Remove_error_code(code), MPI_ERR_OTHER);   /* the code has a string */
    OK(MPI_Remove_error_string(code));
    OK(MPI_Error_string(code, text, &length));
    CHECK(length == 0);
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_code(other));
    OK(MPI_Remove_error_class(class));
    FAILS(MPI_Error_string(code, text, &length), MPI_ERR_ARG);
    FAILS(MPI_Remove_error_code(MPI_ERR_IO), MPI_ERR_ARG);
    FAILS(MPI_Remove_error_class(MPI_ERR_IO), MPI_ERR_ARG);
    FAILS(MPI_Add_error_string(MPI_ERR_IO, "x"), MPI_ERR_ARG);
    FAILS(MPI_Add_error_code(class, &code), MPI_ERR_ARG);
}

/* Starts a receive whose message is too long, from this process to itself. The other requests are
 * complete. */
static void start_failing(MPI_Comm comm, MPI_Request requests[3]) {
    static int out[2], memory[2][3];
    static unsigned turn;
    int* const in = memory[turn++ % 2]; /* two communicators have such requests at once */
    requests[0] = MPI_REQUEST_NULL;
    OK(MPI_Irecv(&in[2], 1, MPI_INT, 0, 1, comm, &requests[2]));
    OK(MPI_Irecv(in, 1, MPI_INT, 0, 0, comm, &requests[1]));
    OK(MPI_Send(out, 1, MPI_INT, 0, 1, comm));
    OK(MPI_Send(out, 2, MPI_INT, 0, 0, comm));
}

/* Calls that complete several requests raise the error on the communicator of the first that
 * failed. */
static void several(void) {
    MPI_Errhandler mine;
    MPI_Comm quiet, heard;
    MPI_Request requests[6];
    MPI_Status statuses[6];
    int flag, count, indices[6];
    OK(MPI_Comm_create_errhandler(note, &mine));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &quiet));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &heard));
    OK(MPI_Comm_set_errhandler(quiet, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(heard, mine));
    calls = 0;
    start_failing(quiet, requests);
    FAILS(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK(statuses[0].MPI_ERROR == 0 && statuses[2].MPI_ERROR == 0);
    CHECK(statuses[1].MPI_ERROR == MPI_ERR_TRUNCATE);
    start_failing(quiet, requests);
    FAILS(MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    start_failing(quiet, requests);
    FAILS(MPI_Waitsome(3, requests, &count, indices, statuses), MPI_ERR_IN_STATUS);
    CHECK(count == 2);
    start_failing(quiet, requests);
    FAILS(MPI_Testsome(3, requests, &count, indices, statuses), MPI_ERR_IN_STATUS);
    start_failing(quiet, requests);
    FAILS(MPI_Waitany(2, requests, indices, statuses), MPI_ERR_TRUNCATE);
    OK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
    CHECK(calls == 0);
    start_failing(heard, requests);
    start_failing(quiet, requests + 3);
    FAILS(MPI_Waitall(6, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK(calls == 1 && last_comm == heard && last_code == MPI_ERR_IN_STATUS);
    start_failing(quiet, requests);
    start_failing(heard, requests + 3);
    FAILS(MPI_Waitall(6, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK(calls == 1);
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Comm_free(&quiet));
    OK(MPI_Comm_free(&heard));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

/* Empty arrays and buffers may have any address: Rust's are as small as an alignment. */
static void nothing_anywhere(void) {
    void* const four = (void*)(MPI_Aint)4;
    MPI_Aint* const eight = (MPI_Aint*)(MPI_Aint)8;
    int number = 7, index, count, flag, zero = 0;
    MPI_Datatype empty;
    OK(MPI_Waitall(0, four, four));
    OK(MPI_Waitany(0, four, &index, MPI_STATUS_IGNORE));
    OK(MPI_Testany(0, four, &index, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Waitsome(0, four, &count, four, four));
    OK(MPI_Type_create_struct(0, four, eight, four, &empty));
    OK(MPI_Type_free(&empty));
    OK(MPI_Gatherv(four, 0, MPI_INT, four, &zero, &zero, MPI_INT, 0, MPI_COMM_SELF));
    OK(MPI_Scatterv(four, &zero, &zero, MPI_INT, four, 0, MPI_INT, 0, MPI_COMM_SELF));
    OK(MPI_Allgather(four, 0, MPI_INT, four, 0, MPI_INT, MPI_COMM_SELF));
    OK(MPI_Reduce_local(four, four, 0, MPI_INT, MPI_SUM));
    FAILS(MPI_Waitall(1, four, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    FAILS(MPI_Allgather(four, 1, MPI_INT, &number, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_BUFFER);
}

/* Null pointers, and constants that stand for other addresses, are not buffers and not arrays. */
static void addresses(void) {
    int number = 0, numbers[2] = {0, 0}, count, indices[2];
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Datatype gaps;
    MPI_Group group;
    MPI_Info info;
    void* const constants[] = {MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC, MPI_UNWEIGHTED,
                               MPI_WEIGHTS_EMPTY};
    MPI_Comm comm = MPI_COMM_SELF;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &gaps));
    OK(MPI_Type_commit(&gaps));
    OK(MPI_Comm_group(comm, &group));
    for (int i = 0; i < 4; ++i) {
        void* const no = constants[i];
        FAILS(MPI_Send(no, 1, MPI_INT, 0, 0, comm), MPI_ERR_BUFFER);
        FAILS(MPI_Send(no, 1, gaps, 0, 0, comm), MPI_ERR_BUFFER);
        FAILS(MPI_Isend(no, 1, MPI_INT, 0, 0, comm, requests), MPI_ERR_BUFFER);
        FAILS(MPI_Isend(no, 1, gaps, 0, 0, comm, requests), MPI_ERR_BUFFER);
        FAILS(MPI_Recv(no, 1, MPI_INT, 0, 0, comm, &status), MPI_ERR_BUFFER);
        FAILS(MPI_Recv(no, 1, gaps, 0, 0, comm, &status), MPI_ERR_BUFFER);
        FAILS(MPI_Irecv(no, 1, MPI_INT, 0, 0, comm, requests), MPI_ERR_BUFFER);
        FAILS(MPI_Send_init(no, 1, gaps, 0, 0, comm, requests), MPI_ERR_BUFFER);
        FAILS(MPI_Sendrecv(&number, 1, MPI_INT, 0, 0, no, 1, MPI_INT, 0, 0, comm, &status),
              MPI_ERR_BUFFER);
        FAILS(MPI_Bcast(no, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
        FAILS(MPI_Allgatherv(&number, 1, MPI_INT, &count, no, &number, MPI_INT, comm), MPI_ERR_ARG);
        FAILS(MPI_Comm_rank(comm, no), MPI_ERR_ARG);
        FAILS(MPI_Group_incl(group, 1, no, &group), MPI_ERR_ARG);
        FAILS(MPI_Waitall(1, no, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
        FAILS(MPI_Type_contiguous(1, MPI_INT, no), MPI_ERR_ARG);
        FAILS(MPI_Comm_set_name(MPI_COMM_WORLD, no), MPI_ERR_ARG);
        OK(MPI_Info_create(&info));
        FAILS(MPI_Info_set(info, "key", no), MPI_ERR_INFO_VALUE);
        OK(MPI_Info_free(&info));
        OK(MPI_Send(no, 0, MPI_INT, 0, 9, comm)); /* no memory lies there */
        OK(MPI_Recv(no, 0, MPI_INT, 0, 9, comm, &status));
    }
    OK(MPI_Group_free(&group));
    OK(MPI_Type_free(&gaps));
    nothing_anywhere();
    for (int i = 0; i < 2; ++i) OK(MPI_Irecv(&numbers[i], 1, MPI_INT, 0, 0, comm, &requests[i]));
    FAILS(MPI_Waitsome(2, requests, &count, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    FAILS(MPI_Testsome(2, requests, &count, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    FAILS(MPI_Request_get_status_some(2, requests, &count, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    for (int i = 0; i < 2; ++i) OK(MPI_Send(&number, 1, MPI_INT, 0, 0, comm));
    OK(MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

/* A freed handle names nothing, although its object may still be in force. */
static void freed_handle(void) {
    MPI_Errhandler mine, copy, got;
    OK(MPI_Comm_create_errhandler(note, &mine));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine));
    copy = mine;
    OK(MPI_Errhandler_free(&mine));
    mine = copy;
    FAILS(MPI_Errhandler_free(&mine), MPI_ERR_ERRHANDLER);
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got)); /* a new handle */
    CHECK(got == copy);
    OK(MPI_Errhandler_free(&got));
    FAILS(MPI_Errhandler_free(&copy), MPI_ERR_ERRHANDLER);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
}

/* An error of a call inside a function of the program does not count as the outer call's error. */
static int query(void* extra, MPI_Status* status) {
    (void)extra;
    OK(MPI_Status_set_elements(status, MPI_INT, 1));
    return MPI_Status_set_cancelled(status, 0);
}
static int let_go(void* extra) { return (void)extra, MPI_SUCCESS; }
static int cancel(void* extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }
static int refuse_copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
    int size;
    (void)key, (void)extra, (void)in, (void)out, *flag = 0;
    OK(MPI_Comm_size(comm, &size));
    return MPI_ERR_OTHER;
}
static void names(int error, const char* call) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    OK(MPI_Error_string(error, text, &length));
    CHECK(strstr(text, call) != NULL);
}
static void calls_of_callbacks(void) {
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Comm copy;
    const int two[2] = {1, 2};
    int one, key;
    OK(MPI_Grequest_start(query, let_go, cancel, NULL, &requests[0]));
    OK(MPI_Grequest_complete(requests[0]));
    OK(MPI_Irecv(&one, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]));
    OK(MPI_Isend(two, 2, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[2]));
    int error = MPI_Waitall(3, requests, statuses);
    FAILS(error, MPI_ERR_IN_STATUS);
    names(error, "MPI_Waitall on MPI_COMM_SELF");
    OK(MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
    error = MPI_Comm_dup(MPI_COMM_SELF, &copy);
    FAILS(error, MPI_ERR_OTHER);
    names(error, "MPI_Comm_dup on MPI_COMM_SELF");
    OK(MPI_Comm_delete_attr(MPI_COMM_SELF, key));
    OK(MPI_Comm_free_keyval(&key));
}

int main(void) {
    int rank, size;
    added(0);
    predefined_strings();
    start(&rank, &size, MPI_THREAD_SINGLE);
    predefined_strings();
    added(1);
    handlers();
    several();
    freed_handle();
    addresses();
    calls_of_callbacks();
    MPI_Finalize();
    predefined_strings();
    return 0;
}
