/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests, their completion, and statuses. */
#include "every_call.h"

/* ---- Completion ---- */

static void start_two(
    MPI_Request r[3]) { /* a null one, then two receives of what the neighbour sends */
    r[0] = MPI_REQUEST_NULL;
    fill();
    for (int i = 0; i < 2; ++i) OK(MPI_Irecv(got + i, 1, MPI_INT, left, 30 + i, world, &r[1 + i]));
    for (int i = 0; i < 2; ++i) OK(MPI_Send(given + i, 1, MPI_INT, right, 30 + i, world));
}
static void end_two(const MPI_Request r[3]) {
    for (int i = 0; i < 3; ++i) CHECK(r[i] == MPI_REQUEST_NULL);
    CHECK(got[0] == 100 * left && got[1] == 100 * left + 1);
}
static void completion(void) {
    MPI_Request r[3];
    MPI_Status s[3], status;
    int flag = 0, index = -1, count = -1, indices[3];
    start_two(r);
    OK(MPI_Waitall(3, r, s));
    end_two(r);
    CHECK(s[0].MPI_SOURCE == MPI_ANY_SOURCE && s[0].MPI_TAG == MPI_ANY_TAG);
    check_status(&s[1], left, 30, 1);
    check_status(&s[2], left, 31, 1);
    start_two(r);
    for (flag = 0; !flag;) OK(MPI_Testall(3, r, &flag, s));
    end_two(r);
    check_status(&s[2], left, 31, 1);
    start_two(r);
    for (int i = 0; i < 2; ++i) {
        OK(MPI_Waitany(3, r, &index, &status));
        CHECK(index == 1 || index == 2);
        check_status(&status, left, 29 + index, 1);
    }
    end_two(r);
    OK(MPI_Waitany(3, r, &index, &status));
    CHECK(index == MPI_UNDEFINED);
    start_two(r);
    for (int i = 0; i < 2; i += flag) {
        OK(MPI_Testany(3, r, &index, &flag, &status));
        if (flag) check_status(&status, left, 29 + index, 1);
    }
    end_two(r);
    start_two(r);
    for (int all = 0; all < 2; all += count) {
        OK(MPI_Waitsome(3, r, &count, indices, s));
        for (int i = 0; i < count; ++i) check_status(&s[i], left, 29 + indices[i], 1);
    }
    end_two(r);
    start_two(r);
    for (int all = 0; all < 2; all += count) {
        OK(MPI_Testsome(3, r, &count, indices, s));
        for (int i = 0; i < count; ++i) check_status(&s[i], left, 29 + indices[i], 1);
    }
    end_two(r);

    start_two(r);
    for (flag = 0; !flag;) OK(MPI_Request_get_status(r[1], &flag, &status));
    check_status(&status, left, 30, 1);
    for (flag = 0; !flag;) OK(MPI_Request_get_status_all(3, r, &flag, s));
    check_status(&s[2], left, 31, 1);
    OK(MPI_Request_get_status_any(3, r, &index, &flag, &status));
    CHECK(flag && (index == 1 || index == 2));
    check_status(&status, left, 29 + index, 1);
    OK(MPI_Request_get_status_some(3, r, &count, indices, s));
    CHECK(count == 2 && indices[0] != indices[1]);
    check_status(&s[0], left, 29 + indices[0], 1);
    for (int i = 1; i < 3; ++i) {
        for (flag = 0; !flag;) OK(MPI_Test(&r[i], &flag, &status));
        check_status(&status, left, 29 + i, 1);
    }
    end_two(r);

    /* Requests are cancelled, or freed. */
    OK(MPI_Irecv(got, 1, MPI_INT, left, 40, world, &r[0]));
    OK(MPI_Cancel(&r[0]));
    OK(MPI_Wait(&r[0], &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag == 1 && r[0] == MPI_REQUEST_NULL);
    OK(MPI_Recv_init(got, 1, MPI_INT, left, 41, world, &r[0]));
    OK(MPI_Send_init(given, 1, MPI_INT, right, 41, world, &r[1]));
    OK(MPI_Startall(2, r));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    CHECK(r[0] != MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(r[0])) == r[0]);
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
    CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);

    /* Probes. */
    MPI_Request send;
    MPI_Message message;
    OK(MPI_Isend(given, 2, MPI_INT, right, 42, world, &send));
    OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status));
    check_status(&status, left, 42, 2);
    for (flag = 0; !flag;) OK(MPI_Iprobe(left, MPI_ANY_TAG, world, &flag, &status));
    check_status(&status, left, 42, 2);
    for (flag = 0; !flag;) OK(MPI_Improbe(left, 42, world, &flag, &message, &status));
    check_status(&status, left, 42, 2);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(message)) == message);
    OK(MPI_Mrecv(got, 2, MPI_INT, &message, MPI_STATUS_IGNORE));
    complete(&send);
    OK(MPI_Recv(got, 1, MPI_INT, MPI_PROC_NULL, 1, world, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
}

static void statuses(void) {
    MPI_Status status, copy;
    MPI_Count elements = -1;
    MPI_Fint numbers[sizeof(MPI_Status) / sizeof(MPI_Fint)];
    int is = -1;
    memset(&status, 0, sizeof status);
    OK(MPI_Status_set_source(&status, MPI_PROC_NULL));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Status_get_source(&status, &is));
    CHECK(is == MPI_PROC_NULL);
    OK(MPI_Status_set_tag(&status, MPI_ANY_TAG));
    CHECK(status.MPI_TAG == MPI_ANY_TAG);
    OK(MPI_Status_get_tag(&status, &is));
    CHECK(is == MPI_ANY_TAG);
    OK(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE));
    CHECK(status.MPI_ERROR == MPI_ERR_TRUNCATE);
    OK(MPI_Status_get_error(&status, &is));
    CHECK(is == MPI_ERR_TRUNCATE);
    OK(MPI_Status_set_cancelled(&status, 1));
    OK(MPI_Test_cancelled(&status, &is));
    CHECK(is == 1);
    OK(MPI_Status_set_elements_x(&status, MPI_INT, 3));
    OK(MPI_Get_elements_x(&status, MPI_INT, &elements));
    CHECK(elements == 3);
    OK(MPI_Status_c2f(&status, numbers));
    OK(MPI_Status_f2c(numbers, &copy));
    CHECK(copy.MPI_SOURCE == MPI_PROC_NULL && copy.MPI_ERROR == MPI_ERR_TRUNCATE);
}

static int queries, frees, cancels;
static int query(void* state, MPI_Status* status) {
    ++queries;
    CHECK(state == &queries);
    OK(MPI_Status_set_elements(status, MPI_INT, 5));
    OK(MPI_Status_set_cancelled(status, 0));
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 44;
    return MPI_SUCCESS;
}
static int free_request(void* state) {
    CHECK(state == &queries);
    ++frees;
    return MPI_SUCCESS;
}
static int cancel(void* state, int completed) {
    CHECK(state == &queries && !completed);
    ++cancels;
    return MPI_SUCCESS;
}
static void generalized(void) {
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Grequest_start(query, free_request, cancel, &queries, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Grequest_complete(request));
    OK(MPI_Wait(&request, &status));
    check_status(&status, 3, 44, 5);
    CHECK(queries == 1 && frees == 1 && cancels == 1 && request == MPI_REQUEST_NULL);
}

static void buffers(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Session session;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Buffer_flush());
    OK(MPI_Buffer_iflush(&request));
    complete(&request);
    OK(MPI_Comm_flush_buffer(world));
    OK(MPI_Comm_iflush_buffer(world, &request));
    complete(&request);
    OK(MPI_Session_flush_buffer(session));
    OK(MPI_Session_iflush_buffer(session, &request));
    complete(&request);
    OK(MPI_Session_finalize(&session));
}

static void partitioned(void) {
    MPI_Request r[2];
    int flag = 0;
    fill();
    OK(MPI_Precv_init(got, 4, 1, MPI_INT, left, 45, world, MPI_INFO_NULL, &r[0]));
    OK(MPI_Psend_init(given, 4, 1, MPI_INT, right, 45, world, MPI_INFO_NULL, &r[1]));
    OK(MPI_Startall(2, r));
    OK(MPI_Pready(0, r[1]));
    OK(MPI_Pready_range(1, 2, r[1]));
    OK(MPI_Pready_list(1, (int[]){3}, r[1]));
    while (!flag) OK(MPI_Parrived(r[0], 2, &flag));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 4; ++i) CHECK(got[i] == 100 * left + i);
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}

void messages_and_requests(void) {
    completion();
    statuses();
    generalized();
    buffers();
    partitioned();
}
