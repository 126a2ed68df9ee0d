/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles of objects that are gone, and numbers that never were a handle. Each call raises the
 * class of the handle's kind, and leaves the variable as it is. Handles of each kind lie beside
 * each other in memory or as integers. So a wrong one is also tried beside a right one. Plain MPI,
 * for any ABI. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

/* Distances are positive, because MPI_COMM_WORLD and MPI_COMM_SELF may lie below. */
static const int distances[] = {1, 2, 7, 8, 9, 16, 63, 64, 100, 128, 1 << 12, 1 << 20, 1 << 30};
enum { ways = sizeof distances / sizeof *distances };

/* Makes a handle so many bytes or numbers beside another. */
#define BESIDE(Handle)                                           \
    static Handle beside_##Handle(Handle handle, int distance) { \
        uintptr_t bits = 0;                                      \
        memcpy(&bits, &handle, sizeof handle);                   \
        bits += (uintptr_t)(intptr_t)distance;                   \
        memcpy(&handle, &bits, sizeof handle);                   \
        return handle;                                           \
    }
BESIDE(MPI_Comm)
BESIDE(MPI_Datatype)
BESIDE(MPI_Win)
BESIDE(MPI_Request)
BESIDE(MPI_Message)

static char byte;
static MPI_Request made;

static int class_of(int error) {
    int class = MPI_SUCCESS;
    if (error != MPI_SUCCESS) OK(MPI_Error_class(error, &class));
    return class;
}

/* ---- Requests: completed by another copy, freed, none ---- */

static void no_request(MPI_Request stale) {
    int flag = 7;
    MPI_Request copy = stale;
    MPI_Status status;
    FAILS(MPI_Wait(&copy, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    FAILS(MPI_Wait(&copy, &status), MPI_ERR_REQUEST);
    FAILS(MPI_Test(&copy, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    FAILS(MPI_Test(&copy, &flag, &status), MPI_ERR_REQUEST);
    FAILS(MPI_Waitall(1, &copy, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    FAILS(MPI_Waitany(1, &copy, &flag, &status), MPI_ERR_REQUEST);
    FAILS(MPI_Testsome(1, &copy, &flag, &flag, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    FAILS(MPI_Request_get_status(copy, &flag, &status), MPI_ERR_REQUEST);
    FAILS(MPI_Cancel(&copy), MPI_ERR_REQUEST);
    FAILS(MPI_Start(&copy), MPI_ERR_REQUEST);
    FAILS(MPI_Request_free(&copy), MPI_ERR_REQUEST);
    CHECK(memcmp(&copy, &stale, sizeof copy) == 0);
}
static void completed_receive(void) {
    OK(MPI_Irecv(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, &made));
    MPI_Request stale = made;
    OK(MPI_Send(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF));
    OK(MPI_Wait(&made, MPI_STATUS_IGNORE));
    CHECK(made == MPI_REQUEST_NULL);
    no_request(stale);
}
static void freed_persistent_request(void) {
    OK(MPI_Recv_init(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, &made));
    MPI_Request stale = made;
    OK(MPI_Request_free(&made));
    no_request(stale);
}
static void beside_a_request(void) {
    OK(MPI_Irecv(&byte, 1, MPI_CHAR, 0, 2, MPI_COMM_SELF, &made));
    for (int i = 0; i < ways; ++i) no_request(beside_MPI_Request(made, distances[i]));
    OK(MPI_Send(&byte, 1, MPI_CHAR, 0, 2, MPI_COMM_SELF));
    OK(MPI_Wait(&made, MPI_STATUS_IGNORE));
}

/* ---- Communicators, datatypes, windows ---- */

static void no_communicator(MPI_Comm stale) {
    int number;
    MPI_Request request;
    MPI_Comm copy = stale;
    FAILS(MPI_Send(&byte, 0, MPI_CHAR, 0, 1, stale), MPI_ERR_COMM);
    FAILS(MPI_Recv(&byte, 0, MPI_CHAR, 0, 1, stale, MPI_STATUS_IGNORE), MPI_ERR_COMM);
    FAILS(MPI_Isend(&byte, 0, MPI_CHAR, 0, 1, stale, &request), MPI_ERR_COMM);
    FAILS(MPI_Irecv(&byte, 0, MPI_CHAR, 0, 1, stale, &request), MPI_ERR_COMM);
    FAILS(MPI_Barrier(stale), MPI_ERR_COMM);
    FAILS(MPI_Comm_rank(stale, &number), MPI_ERR_COMM);
    FAILS(MPI_Comm_free(&copy), MPI_ERR_COMM);
    CHECK(memcmp(&copy, &stale, sizeof copy) == 0);
}
static void communicators(void) {
    MPI_Comm comm, stale;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Send(&byte, 0, MPI_CHAR, MPI_PROC_NULL, 1, comm));
    for (int i = 0; i < ways; ++i) no_communicator(beside_MPI_Comm(comm, distances[i]));
    stale = comm;
    OK(MPI_Comm_free(&comm));
    no_communicator(stale);
    no_communicator(MPI_COMM_NULL);
}

static void no_type(MPI_Datatype stale) {
    MPI_Request request;
    int size;
    FAILS(MPI_Send(&byte, 1, stale, 0, 1, MPI_COMM_SELF), MPI_ERR_TYPE);
    FAILS(MPI_Recv(&byte, 1, stale, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    FAILS(MPI_Isend(&byte, 1, stale, 0, 1, MPI_COMM_SELF, &request), MPI_ERR_TYPE);
    FAILS(MPI_Irecv(&byte, 1, stale, 0, 1, MPI_COMM_SELF, &request), MPI_ERR_TYPE);
    FAILS(MPI_Type_size(stale, &size), MPI_ERR_TYPE);
}
static void datatypes(void) {
    MPI_Datatype type, stale;
    OK(MPI_Type_contiguous(3, MPI_CHAR, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < ways; ++i) no_type(beside_MPI_Datatype(type, distances[i]));
    stale = type;
    OK(MPI_Type_free(&type));
    no_type(stale);
    no_type(MPI_DATATYPE_NULL);
}

static void no_window(MPI_Win stale) {
    char from = 0;
    FAILS(MPI_Put(&from, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, stale), MPI_ERR_WIN);
    FAILS(MPI_Get(&from, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, stale), MPI_ERR_WIN);
    FAILS(MPI_Win_fence(0, stale), MPI_ERR_WIN);
    FAILS(MPI_Win_flush(0, stale), MPI_ERR_WIN);
}
static void windows(void) {
    MPI_Win win, stale;
    void* memory;
    OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &win));
    for (int i = 0; i < ways; ++i) no_window(beside_MPI_Win(win, distances[i]));
    stale = win;
    OK(MPI_Win_free(&win));
    no_window(stale);
    no_window(MPI_WIN_NULL);
}

/* ---- The rest, once each ---- */

static void messages(void) {
    MPI_Message message, stale;
    OK(MPI_Isend(&byte, 1, MPI_CHAR, 0, 3, MPI_COMM_SELF, &made));
    OK(MPI_Mprobe(0, 3, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE));
    stale = message;
    for (int i = 0; i < ways; ++i) {
        MPI_Message wrong = beside_MPI_Message(stale, distances[i]);
        CHECK(class_of(MPI_Mrecv(&byte, 1, MPI_CHAR, &wrong, MPI_STATUS_IGNORE)) ==
              MPI_ERR_REQUEST);
    }
    OK(MPI_Mrecv(&byte, 1, MPI_CHAR, &message, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&made, MPI_STATUS_IGNORE));
    CHECK(class_of(MPI_Mrecv(&byte, 1, MPI_CHAR, &stale, MPI_STATUS_IGNORE)) == MPI_ERR_REQUEST);
}
static void groups_and_infos(void) {
    MPI_Group group, stale_group;
    MPI_Info info, stale_info;
    int number;
    OK(MPI_Comm_group(MPI_COMM_SELF, &group));
    OK(MPI_Info_create(&info));
    stale_group = group, stale_info = info;
    OK(MPI_Group_free(&group));
    OK(MPI_Info_free(&info));
    FAILS(MPI_Group_size(stale_group, &number), MPI_ERR_GROUP);
    FAILS(MPI_Info_get_nkeys(stale_info, &number), MPI_ERR_INFO);
}
static void first(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)in, (void)inout, (void)length, (void)type;
}
static void operations(void) {
    MPI_Op op, stale;
    OK(MPI_Op_create(first, 1, &op));
    stale = op;
    OK(MPI_Op_free(&op));
    FAILS(MPI_Allreduce(MPI_IN_PLACE, &byte, 1, MPI_CHAR, stale, MPI_COMM_SELF), MPI_ERR_OP);
}

int main(int argc, char** argv) {
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    completed_receive();
    freed_persistent_request();
    beside_a_request();
    communicators();
    datatypes();
    windows();
    messages();
    groups_and_infos();
    operations();
    OK(MPI_Finalize());
    return 0;
}
