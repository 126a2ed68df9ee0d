/* SPDX-License-Identifier: BSD-3-Clause */
/* The error of a wrong call on a window names call, window, rank and displacement. The window stays
   as it was. */
#include "check.h"

#include <stdint.h>

static int rank, size;

/* The number of errors of this function's windows, and the class of the last one. */
static int errors, last_class;
static void note(MPI_Win* win, int* code, ...) {
    CHECK(*win != MPI_WIN_NULL);
    ++errors;
    MPI_Error_class(*code, &last_class);
}

static MPI_Win allocate(MPI_Aint bytes, MPI_Info hints) {
    MPI_Win win;
    void* memory;
    OK(MPI_Win_allocate(bytes, 4, hints, MPI_COMM_WORLD, &memory, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    return win;
}

static void making(void) {
    MPI_Win win = (MPI_Win)1;
    void* memory;
    int value;
    FAILS(MPI_Win_create(&value, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    FAILS(MPI_Win_create(&value, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    FAILS(MPI_Win_create(NULL, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BASE);
    FAILS(MPI_Win_create(&value, 4, 1, (MPI_Info)&value, MPI_COMM_WORLD, &win), MPI_ERR_INFO);
    FAILS(MPI_Win_create(&value, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
    FAILS(MPI_Win_create(&value, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    FAILS(MPI_Win_allocate(-5, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win), MPI_ERR_SIZE);
    FAILS(MPI_Win_allocate_shared(4, -1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win),
          MPI_ERR_DISP);
    FAILS(MPI_Win_allocate(INT64_MAX, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win),
          MPI_ERR_SIZE);
    FAILS(MPI_Win_allocate((MPI_Aint)1 << 50, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win),
          MPI_ERR_NO_MEM);
    win = MPI_WIN_NULL;
    FAILS(MPI_Win_free(&win), MPI_ERR_WIN);
    FAILS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    FAILS(MPI_Win_fence(0, (MPI_Win)&value), MPI_ERR_WIN);
}

static void epochs(void) {
    int value = 0, flag = -1;
    MPI_Group group;
    MPI_Win win = allocate(100, MPI_INFO_NULL);
    OK(MPI_Win_get_group(win, &group));
    FAILS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Fetch_and_op(&value, &flag, MPI_INT, 0, 0, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Compare_and_swap(&value, &value, &flag, MPI_INT, 0, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush_local(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock(77, 0, 0, win), MPI_ERR_LOCKTYPE);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win), MPI_ERR_RANK);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOSTORE, win), MPI_ERR_ASSERT);
    FAILS(MPI_Win_fence(MPI_MODE_NOCHECK, win), MPI_ERR_ASSERT);

    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_start(group, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    if (size > 1) {
        FAILS(MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
        FAILS(MPI_Win_flush(1, win), MPI_ERR_RMA_SYNC);
    }
    OK(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    OK(MPI_Win_unlock(0, win));
    FAILS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);

    OK(MPI_Win_lock_all(0, win));
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_unlock_all(win));

    OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
    FAILS(MPI_Win_post(MPI_GROUP_EMPTY, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_wait(win));
    OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
    FAILS(MPI_Win_start(MPI_GROUP_EMPTY, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_complete(win));

    /* A request is for epochs of locks. */
    MPI_Request request;
    OK(MPI_Win_fence(0, win));
    FAILS(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
    OK(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    FAILS(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    MPI_Group_free(&group);
    OK(MPI_Win_free(&win));
}

/* A window is freed after operations that were not waited for. They are over, and their requests
 * stay valid. */
static void freed_with_requests(void) {
    enum { COUNT = 20 };
    int value = 7, back[COUNT];
    MPI_Request requests[2 * COUNT];
    MPI_Win win = allocate(100, MPI_INFO_NULL);
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < COUNT; ++i) {
        OK(MPI_Rput(&value, 1, MPI_INT, (rank + 1) % size, i, 1, MPI_INT, win, &requests[i]));
        OK(MPI_Rget(&back[i], 1, MPI_INT, (rank + 1) % size, i, 1, MPI_INT, win,
                    &requests[COUNT + i]));
    }
    FAILS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    OK(MPI_Waitall(2 * COUNT, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COUNT; ++i) CHECK(back[i] == 7);
}

static void places(void) {
    int values[100] = {0};
    int64_t wide = 0, old = 0;
    MPI_Datatype spread, mixed;
    MPI_Op mine = MPI_OP_NULL;
    MPI_Win win = allocate(100, MPI_INFO_NULL);
    OK(MPI_Type_vector(2, 1, 25, MPI_INT, &spread));
    OK(MPI_Type_commit(&spread));
    const int lengths[] = {1, 1};
    const MPI_Aint displacements[] = {0, 8};
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    OK(MPI_Type_create_struct(2, lengths, displacements, types, &mixed));
    OK(MPI_Type_commit(&mixed));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Put(values, 25, MPI_INT, 0, 0, 25, MPI_INT, win));
    FAILS(MPI_Put(values, 26, MPI_INT, 0, 0, 26, MPI_INT, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Put(values, 1, MPI_INT, 0, 25, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Put(values, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Get(values, 1, MPI_INT, 0, INT64_MAX, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Get(values, 1, MPI_INT, 0, INT64_MIN, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Get(values, 1, MPI_INT, 0, INT64_MAX / 4 + 1, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Get(values, 2, MPI_INT, 0, 0, 1, spread, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Accumulate(values, 1, MPI_INT, 0, 25, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Fetch_and_op(&wide, &old, MPI_INT64_T, 0, 24, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Compare_and_swap(&wide, &wide, &old, MPI_INT64_T, 0, 24, win), MPI_ERR_RMA_RANGE);
    OK(MPI_Fetch_and_op(&wide, &old, MPI_INT64_T, 0, 1, MPI_SUM, win)); /* unaligned */
    OK(MPI_Compare_and_swap(&wide, &wide, &old, MPI_INT64_T, 0, 1, win));
    OK(MPI_Put(values, 0, MPI_INT, 0, 25, 0, MPI_INT, win));
    OK(MPI_Put(NULL, 0, MPI_INT, 0, 0, 0, MPI_INT, win));
    OK(MPI_Put(values, 1, MPI_INT, MPI_PROC_NULL, -1, 1, MPI_INT, win));

    FAILS(MPI_Put(values, -1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    FAILS(MPI_Put(values, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
    FAILS(MPI_Put(values, 1, MPI_INT, 0, 0, -1, MPI_INT, win), MPI_ERR_COUNT);
    FAILS(MPI_Put(values, 1, MPI_INT, size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    FAILS(MPI_Put(values, 1, MPI_INT, -77, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    FAILS(MPI_Put(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_BUFFER);
    FAILS(MPI_Put(MPI_IN_PLACE, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_BUFFER);
    FAILS(MPI_Put(values, 2, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_TRUNCATE);
    FAILS(MPI_Get(values, 1, MPI_INT, 0, 0, 2, MPI_INT, win), MPI_ERR_TRUNCATE);
    FAILS(MPI_Put_c(values, INT64_MAX, MPI_INT, 0, 0, INT64_MAX, MPI_INT, win), MPI_ERR_COUNT);
    FAILS(MPI_Accumulate(values, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(values, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(values, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_MINLOC, win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(values, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(values, 1, mixed, 0, 0, 1, mixed, MPI_SUM, win), MPI_ERR_TYPE);
    FAILS(MPI_Accumulate(values, 2, MPI_INT, 0, 0, 1, MPI_INT64_T, MPI_SUM, win), MPI_ERR_TYPE);
    FAILS(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, values, 1, MPI_INT, 0, 0, 1, MPI_INT,
                             MPI_SUM, win),
          MPI_ERR_TYPE);
    FAILS(MPI_Compare_and_swap(values, values, values + 1, MPI_DOUBLE, 0, 0, win), MPI_ERR_TYPE);
    FAILS(MPI_Fetch_and_op(values, values + 1, spread, 0, 0, MPI_SUM, win), MPI_ERR_TYPE);
    OK(MPI_Op_create((MPI_User_function*)abort, 1, &mine));
    FAILS(MPI_Accumulate(values, 1, MPI_INT, 0, 0, 1, MPI_INT, mine, win), MPI_ERR_OP);
    FAILS(MPI_Fetch_and_op(values, values, MPI_INT, 0, 0, mine, win), MPI_ERR_OP);
    MPI_Op_free(&mine);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));

    /* This window has no memory. */
    win = allocate(0, MPI_INFO_NULL);
    OK(MPI_Win_lock_all(0, win));
    FAILS(MPI_Put(values, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    OK(MPI_Put(values, 0, MPI_INT, 0, 0, 0, MPI_INT, win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    MPI_Type_free(&spread);
    MPI_Type_free(&mixed);
}

static void attached(void) {
    static int memory[100];
    int value = 5;
    MPI_Aint address, addresses[64], bytes;
    int unit;
    void* base;
    MPI_Win win;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Get_address(&memory[0], &address));
    OK(MPI_Allgather(&address, 1, MPI_AINT, addresses, 1, MPI_AINT, MPI_COMM_WORLD));
    const int next = (rank + 1) % size;
    OK(MPI_Win_lock_all(0, win));
    FAILS(MPI_Put(&value, 1, MPI_INT, next, addresses[next], 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_attach(win, memory, 40 * sizeof(int)));
    OK(MPI_Win_attach(win, memory + 60, 40 * sizeof(int)));
    FAILS(MPI_Win_attach(win, memory, 40 * sizeof(int)), MPI_ERR_RMA_ATTACH);
    FAILS(MPI_Win_attach(win, memory + 30, 20 * sizeof(int)), MPI_ERR_RMA_ATTACH);
    FAILS(MPI_Win_attach(win, NULL, 4), MPI_ERR_BASE);
    FAILS(MPI_Win_attach(win, memory, -4), MPI_ERR_SIZE);
    FAILS(MPI_Win_detach(win, memory + 50), MPI_ERR_RMA_ATTACH);
    FAILS(MPI_Win_shared_query(win, 0, &bytes, &unit, &base), MPI_ERR_RMA_FLAVOR);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Put(&value, 1, MPI_INT, next, addresses[next], 1, MPI_INT, win));
    FAILS(MPI_Put(&value, 1, MPI_INT, next, addresses[next] + 40 * (MPI_Aint)sizeof(int), 1,
                  MPI_INT, win),
          MPI_ERR_RMA_RANGE);
    FAILS(MPI_Put(&value, 1, MPI_INT, next, addresses[next] + 40 * (MPI_Aint)sizeof(int) - 2, 1,
                  MPI_INT, win),
          MPI_ERR_RMA_RANGE);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_detach(win, memory));
    FAILS(MPI_Win_detach(win, memory), MPI_ERR_RMA_ATTACH);
    MPI_Barrier(MPI_COMM_WORLD);
    /* An origin on another host gets the error when it flushes. */
    int code = MPI_Get(&value, 1, MPI_INT, next, addresses[next], 1, MPI_INT, win);
    if (code == MPI_SUCCESS) code = MPI_Win_flush(next, win);
    FAILS(code, MPI_ERR_RMA_RANGE);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    win = allocate(4, MPI_INFO_NULL);
    FAILS(MPI_Win_attach(win, memory, 4), MPI_ERR_RMA_FLAVOR);
    FAILS(MPI_Win_detach(win, memory), MPI_ERR_RMA_FLAVOR);
    OK(MPI_Win_free(&win));
}

static void handlers(void) {
    MPI_Errhandler handler, found;
    MPI_Info hints;
    int value = 0, key, flag;
    void* attribute;
    OK(MPI_Info_create(&hints));
    OK(MPI_Info_set(hints, "no_locks", "true"));
    MPI_Win win = allocate(8, hints);
    MPI_Info_free(&hints);
    OK(MPI_Win_create_errhandler(note, &handler));
    OK(MPI_Win_set_errhandler(win, handler));
    OK(MPI_Win_get_errhandler(win, &found));
    CHECK(found == handler);
    MPI_Errhandler_free(&found);
    CHECK(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win) != MPI_SUCCESS);
    CHECK(errors == 1 && last_class == MPI_ERR_RMA_SYNC);
    CHECK(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win) != MPI_SUCCESS);
    CHECK(errors == 2 && last_class == MPI_ERR_COUNT);
    OK(MPI_Win_call_errhandler(win, MPI_ERR_RMA_CONFLICT));
    CHECK(errors == 3 && last_class == MPI_ERR_RMA_CONFLICT);
    FAILS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler), MPI_ERR_ERRHANDLER);
    FAILS(MPI_Win_create_errhandler(NULL, &found), MPI_ERR_ARG);
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    FAILS(MPI_Win_set_attr(win, MPI_WIN_BASE, &value), MPI_ERR_KEYVAL);
    FAILS(MPI_Win_get_attr(win, MPI_TAG_UB, &attribute, &flag), MPI_ERR_KEYVAL);
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    FAILS(MPI_Win_set_attr(win, key, &value), MPI_ERR_KEYVAL);
    MPI_Comm_free_keyval(&key);
    MPI_Errhandler_free(&handler);
    MPI_Win copy = win;
    OK(MPI_Win_free(&win));
    FAILS(MPI_Win_free(&copy), MPI_ERR_WIN);
    FAILS(MPI_Win_set_name(copy, "gone"), MPI_ERR_WIN);
    FAILS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, copy), MPI_ERR_WIN);
    FAILS(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, copy), MPI_ERR_WIN);
    FAILS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, copy), MPI_ERR_WIN);
    FAILS(MPI_Fetch_and_op(&value, &value, MPI_INT, 0, 0, MPI_SUM, copy), MPI_ERR_WIN);
    FAILS(MPI_Compare_and_swap(&value, &value, &value, MPI_INT, 0, 0, copy), MPI_ERR_WIN);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, copy), MPI_ERR_WIN);
    FAILS(MPI_Win_flush(0, copy), MPI_ERR_WIN);
    FAILS(MPI_Win_fence(0, copy), MPI_ERR_WIN);
}

int main(void) {
    start(&rank, &size, MPI_THREAD_SINGLE);
    making();
    MPI_Barrier(MPI_COMM_WORLD);
    epochs();
    freed_with_requests();
    places();
    attached();
    handlers();
    MPI_Finalize();
    return 0;
}
