/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs with one defect each, by name: defects NAME. test_check.py knows the finding of each.
 * Those called "right_..." have none. */
#include <mpi.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static MPI_Comm world = MPI_COMM_WORLD;

/* --- collectives --- */

static void bcast_root(void) {
    int value = 1;
    MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? 0 : 1, world);
}
static void allreduce_count(void) {
    int mine[4] = {1, 2, 3, 4}, all[4];
    MPI_Allreduce(mine, all, rank == 0 ? 4 : 3, MPI_INT, MPI_SUM, world);
}
static void allreduce_type(void) {
    long long mine = 0, all;
    MPI_Allreduce(&mine, &all, 1, rank == 0 ? MPI_DOUBLE : MPI_LONG_LONG, MPI_SUM, world);
}
static void reduce_operation(void) {
    int mine = 1, all;
    MPI_Reduce(&mine, &all, 1, MPI_INT, rank == 0 ? MPI_SUM : MPI_MAX, 0, world);
}
static void other_collective(void) {
    int mine = 1, all;
    if (rank == 0)
        MPI_Barrier(world);
    else
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, world);
}
static void gather_size(void) {
    int mine[2] = {1, 2}, all[8];
    MPI_Gather(mine, rank == 0 ? 2 : 1, MPI_INT, all, 2, MPI_INT, 0, world);
}
static void gatherv_size(void) {
    int mine[2] = {1, 2}, all[8], counts[4] = {2, 2, 2, 2}, places[4] = {0, 2, 4, 6};
    MPI_Gatherv(mine, rank == 0 ? 2 : 1, MPI_INT, all, counts, places, MPI_INT, 0, world);
}
static void alltoallv_size(void) {
    int mine[8] = {0}, all[8], give[4] = {1, 1, 1, 1}, take[4] = {1, 1, 1, 1},
        places[4] = {0, 1, 2, 3};
    if (rank == 0) take[1] = 2;
    MPI_Alltoallv(mine, give, places, MPI_INT, all, take, places, MPI_INT, world);
}
static void allgatherv_counts(void) {
    int mine[2] = {1, 2}, all[16], counts[4] = {2, 2, 2, 2}, places[4] = {0, 4, 8, 12};
    if (rank == 0) counts[1] = 1;
    MPI_Allgatherv(mine, 2, MPI_INT, all, counts, places, MPI_INT, world);
}
static void ibcast_root(void) {
    int value = 1;
    MPI_Request request;
    MPI_Ibcast(&value, 1, MPI_INT, rank == 0 ? 0 : 1, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void nonblocking_with_blocking(void) {
    MPI_Request request;
    if (rank == 0) {
        MPI_Ibarrier(world, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(world);
    }
}

/* Makes two groups: the even ranks, and the odd ones. A rank's peer has its number in the other
 * group. */
static MPI_Comm between_groups(void) {
    MPI_Comm half, between;
    MPI_Comm_split(world, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, world, 1 - rank % 2, 9, &between);
    MPI_Comm_free(&half);
    return between;
}
static void between_bcast_type(void) {
    MPI_Comm between = between_groups();
    int values[2] = {1, 2};
    float other[2];
    if (rank % 2 == 0)
        MPI_Bcast(values, 2, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
    else
        MPI_Bcast(other, 2, MPI_FLOAT, 0, between);
    MPI_Comm_free(&between);
}
static void between_reduce_operation(void) {
    MPI_Comm between = between_groups();
    int mine = 1, all;
    if (rank % 2 == 0)
        MPI_Reduce(NULL, &all, 1, MPI_INT, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
    else
        MPI_Reduce(&mine, NULL, 1, MPI_INT, MPI_MAX, 0, between);
    MPI_Comm_free(&between);
}
static void between_other_collective(void) {
    MPI_Comm between = between_groups();
    int mine = 1, all;
    if (rank % 2 == 0)
        MPI_Barrier(between);
    else
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, between);
    MPI_Comm_free(&between);
}

/* --- messages --- */

static void between_type(void) {
    MPI_Comm between = between_groups();
    double value = 1;
    int two[2];
    if (rank == 0) MPI_Send(&value, 1, MPI_DOUBLE, 0, 5, between);
    if (rank == 1) MPI_Recv(two, 2, MPI_INT, 0, 5, between, MPI_STATUS_IGNORE);
    MPI_Comm_free(&between);
}
static void between_type_of_duplicate(void) {
    MPI_Comm between = between_groups(), duplicate, merged;
    double value = 1;
    int two[2];
    MPI_Comm_dup(between, &duplicate);
    MPI_Intercomm_merge(duplicate, rank % 2, &merged);
    MPI_Comm_free(&between);
    if (rank == 0) MPI_Send(&value, 1, MPI_DOUBLE, size / 2, 5, merged);
    if (rank == 1) MPI_Recv(two, 2, MPI_INT, 0, 5, merged, MPI_STATUS_IGNORE);
    MPI_Comm_free(&duplicate);
    MPI_Comm_free(&merged);
}
static void between_unreceived(void) {
    MPI_Comm between = between_groups();
    if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 0, 7, between);
    MPI_Comm_free(&between);
}

enum { parts = 4 };
static MPI_Request partitioned(int* values, MPI_Datatype type) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) MPI_Psend_init(values, parts, 2, MPI_INT, 1, 5, world, MPI_INFO_NULL, &request);
    if (rank == 1) MPI_Precv_init(values, parts / 2, 4, type, 0, 5, world, MPI_INFO_NULL, &request);
    return request;
}
static void partitioned_type(void) {
    int values[2 * parts] = {0};
    MPI_Request request = partitioned(values, MPI_FLOAT);
    if (rank > 1) return;
    MPI_Start(&request);
    if (rank == 0) MPI_Pready_range(0, parts - 1, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}
static void partitioned_changed(void) {
    static int values[2 * parts];
    MPI_Request request = partitioned(values, MPI_INT);
    if (rank > 1) return;
    MPI_Start(&request);
    if (rank == 0) {
        for (int i = 0; i < 2 * parts; ++i) values[i] = i;
        MPI_Pready_range(0, parts - 1, request);
        values[2] = 77;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}
static void partitioned_missing_wait(void) {
    static int values[2 * parts];
    MPI_Request request = partitioned(values, MPI_INT);
    if (rank > 1) return;
    MPI_Start(&request);
    if (rank == 0) MPI_Pready_range(0, parts - 1, request);
    if (rank == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Request_free(&request);
}
static void partitioned_unreceived(void) {
    int values[2 * parts] = {0};
    MPI_Request request = partitioned(values, MPI_INT);
    if (rank > 1) return;
    for (int i = 0; i < 2 - rank; ++i) {
        MPI_Start(&request);
        if (rank == 0) MPI_Pready_range(0, parts - 1, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}

static void double_as_int(void) {
    double value = 1;
    int two[2];
    if (rank == 0) MPI_Send(&value, 1, MPI_DOUBLE, 1, 5, world);
    if (rank == 1) MPI_Recv(two, 2, MPI_INT, 0, 5, world, MPI_STATUS_IGNORE);
}
static void double_as_int_any(void) {
    double value = 1;
    int two[2];
    MPI_Request request;
    if (rank == 0) MPI_Send(&value, 1, MPI_DOUBLE, 1, 5, world);
    if (rank == 1) {
        MPI_Irecv(two, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request);
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    }
}
static void matched_type(void) {
    float value = 1;
    int taken;
    MPI_Message message;
    if (rank == 0) MPI_Send(&value, 1, MPI_FLOAT, 1, 5, world);
    if (rank == 1) {
        MPI_Mprobe(0, 5, world, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&taken, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
}
static MPI_Datatype pair_type(MPI_Datatype first, MPI_Datatype second) {
    struct pair {
        double first, second;
    };
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, sizeof(double)};
    MPI_Datatype types[2] = {first, second}, pair;
    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_commit(&pair);
    return pair;
}
static void struct_order(void) {
    double values[2] = {0, 0};
    MPI_Datatype there = pair_type(MPI_DOUBLE, MPI_INT), here = pair_type(MPI_INT, MPI_DOUBLE);
    if (rank == 0) MPI_Send(values, 1, there, 1, 5, world);
    if (rank == 1) MPI_Recv(values, 1, here, 0, 5, world, MPI_STATUS_IGNORE);
    MPI_Type_free(&there);
    MPI_Type_free(&here);
}
static void persistent_type(void) {
    float value = 1;
    int taken;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) MPI_Send_init(&value, 1, MPI_FLOAT, 1, 5, world, &request);
    if (rank == 1) MPI_Recv_init(&taken, 1, MPI_INT, 0, 5, world, &request);
    if (rank < 2) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
}
static void sendrecv_type(void) {
    float value = 1;
    int taken;
    if (rank < 2)
        MPI_Sendrecv(&value, 1, MPI_FLOAT, 1 - rank, 5, &taken, 1, MPI_INT, 1 - rank, 5, world,
                     MPI_STATUS_IGNORE);
}
static void unreceived(void) {
    int value = 1;
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 7, world);
}

/* --- buffers and requests --- */

static void changed_buffer(void) {
    static int data[1000];
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(data, 1000, MPI_INT, 1, 5, world, &request);
        data[10] = 1;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 1) MPI_Recv(data, 1000, MPI_INT, 0, 5, world, MPI_STATUS_IGNORE);
}
static void changed_vector(void) {
    static double data[100][10];
    MPI_Datatype column;
    MPI_Request request;
    MPI_Type_vector(100, 1, 10, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    if (rank == 0) {
        MPI_Isend(data, 1, column, 1, 5, world, &request);
        data[3][1] = 1; /* not in the vector */
        data[4][0] = 1;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 1) MPI_Recv(data, 1, column, 0, 5, world, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
}
/* The messages are short, so that the library sends them at once. */
static void changed_of_several(void) {
    int data[3][4] = {{0}};
    MPI_Request requests[3];
    if (rank == 0) {
        for (int i = 0; i < 3; ++i) MPI_Isend(data[i], 4, MPI_INT, 1, i, world, &requests[i]);
        data[1][3] = 1;
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    }
    if (rank == 1)
        for (int i = 0; i < 3; ++i) MPI_Recv(data[i], 4, MPI_INT, 0, i, world, MPI_STATUS_IGNORE);
}
static void overlapping_receives(void) {
    int data[6] = {0};
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Send(data, 4, MPI_INT, 1, 5, world);
        MPI_Send(data, 4, MPI_INT, 1, 6, world);
    }
    if (rank == 1) {
        MPI_Irecv(data, 4, MPI_INT, 0, 5, world, &requests[0]);
        MPI_Irecv(data + 2, 4, MPI_INT, 0, 6, world, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}
static void send_of_receive_buffer(void) {
    int data[4] = {0};
    MPI_Request requests[2];
    if (rank < 2) {
        MPI_Irecv(data, 4, MPI_INT, 1 - rank, 5, world, &requests[0]);
        MPI_Isend(data, 4, MPI_INT, 1 - rank, 5, world, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}
static void receive_into_send_buffer(void) {
    int data[4] = {0};
    MPI_Request request;
    if (rank < 2) {
        MPI_Isend(data, 4, MPI_INT, 1 - rank, 5, world, &request);
        MPI_Recv(data, 4, MPI_INT, 1 - rank, 5, world, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}
static void missing_wait(void) {
    static int value;
    MPI_Request request;
    if (rank == 0) MPI_Isend(&value, 1, MPI_INT, 1, 5, world, &request);
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 5, world, MPI_STATUS_IGNORE);
}
static void persistent_not_freed(void) {
    static int value;
    MPI_Request request;
    MPI_Send_init(&value, 1, MPI_INT, rank, 5, world, &request);
}
static void waited_twice(void) {
    int value;
    MPI_Request request, copy;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(&value, 1, MPI_INT, rank, 5, world, &request);
    MPI_Send(&rank, 1, MPI_INT, rank, 5, world);
    copy = request;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&copy, MPI_STATUS_IGNORE);
}
static void started_twice(void) {
    static int value;
    MPI_Request request;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Recv_init(&value, 1, MPI_INT, rank, 5, world, &request);
    MPI_Start(&request);
    MPI_Start(&request);
    MPI_Send(&rank, 1, MPI_INT, rank, 5, world);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

/* --- objects --- */

static void leaked_communicator(void) {
    MPI_Comm copy;
    MPI_Comm_dup(world, &copy);
}
static void leaked_idup(void) {
    MPI_Comm copy;
    MPI_Request request;
    MPI_Comm_idup(world, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void leaked_datatype(void) {
    MPI_Datatype row;
    MPI_Type_contiguous(3, MPI_INT, &row);
    MPI_Type_commit(&row);
}
static void leaked_group(void) {
    MPI_Group group;
    MPI_Comm_group(world, &group);
}
static void leaked_window(void) {
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, world, &memory, &win);
}
static void leaked_file(void) {
    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
}
static void leaked_info(void) {
    MPI_Info info;
    MPI_Info_create(&info);
}
static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}
static void leaked_operation(void) {
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
}

/* --- threads --- */

static void* barrier(void* comm) {
    MPI_Barrier(*(MPI_Comm*)comm);
    return NULL;
}
static void funneled(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, barrier, &world);
    pthread_join(thread, NULL);
}
static void serialized(void) { /* one thread waits in MPI for the other */
    pthread_t thread;
    int value;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    pthread_create(&thread, NULL, barrier, &copy);
    pthread_join(thread, NULL);
    MPI_Comm_free(&copy);
    if (rank == 0) MPI_Ssend(&rank, 1, MPI_INT, 1, 5, world);
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 5, world, MPI_STATUS_IGNORE);
}
static atomic_int inside, leave;
static void wait_inside(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)in, (void)inout, (void)count, (void)type;
    inside = 1;
    while (!leave) {}
}
static void* reduce(void* op) {
    int one = 1, two = 2;
    MPI_Reduce_local(&one, &two, 1, MPI_INT, *(MPI_Op*)op);
    return NULL;
}
static void two_at_once(
    void) { /* the operation of one thread waits until the other has called MPI */
    pthread_t thread;
    int flag = 0;
    MPI_Op op;
    MPI_Op_create(wait_inside, 1, &op);
    pthread_create(&thread, NULL, reduce, &op);
    while (!inside) {}
    MPI_Iprobe(rank, 6, world, &flag, MPI_STATUS_IGNORE);
    leave = 1;
    pthread_join(thread, NULL);
    MPI_Op_free(&op);
}

/* --- promises --- */

static MPI_Comm promising(const char* key) {
    MPI_Info info;
    MPI_Comm copy;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, "true");
    MPI_Comm_dup_with_info(world, info, &copy);
    MPI_Info_free(&info);
    return copy;
}
static void no_any_source(void) {
    int value;
    MPI_Comm copy = promising("mpi_assert_no_any_source");
    if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 5, copy);
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, copy, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
}
static void no_any_tag(void) {
    int value;
    MPI_Comm copy = promising("mpi_assert_no_any_tag");
    if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 5, copy);
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, copy, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
}
static void exact_length(void) {
    int values[2];
    MPI_Comm copy = promising("mpi_assert_exact_length");
    if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 5, copy);
    if (rank == 1) MPI_Recv(values, 2, MPI_INT, 0, 5, copy, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
}

/* --- windows --- */

static int* memory;
static MPI_Win window(int integers, const char* key) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Win win;
    if (key != NULL) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, "true");
    }
    MPI_Win_allocate((MPI_Aint)(integers * (int)sizeof(int)), sizeof(int), info, world, &memory,
                     &win);
    if (key != NULL) MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}
static void fence_conflict(void) {
    MPI_Win win = window(4, NULL);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}
static void put_and_get(void) {
    int value;
    MPI_Win win = window(4, NULL);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    MPI_Put(&rank, 1, MPI_INT, rank, 1, 1, MPI_INT, win);
    MPI_Get(&value, 1, MPI_INT, rank, 1, 1, MPI_INT, win);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}
static void mixed_operations(void) {
    MPI_Win win = window(4, NULL);
    MPI_Win_fence(0, win);
    MPI_Accumulate(&rank, 1, MPI_INT, 0, 1, 1, MPI_INT, rank == 0 ? MPI_SUM : MPI_PROD, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}
static void no_epoch(void) {
    MPI_Win win = window(4, NULL);
    MPI_Put(&rank, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
    MPI_Win_free(&win);
}
static void unlocked(void) {
    MPI_Win win = window(4, NULL);
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
}
static void no_succeed(void) {
    MPI_Win win = window(4, NULL);
    MPI_Win_fence(0, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Put(&rank, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
    MPI_Win_free(&win);
}
static void no_precede(void) {
    MPI_Win win = window(4, NULL);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Barrier(world);
    MPI_Win_free(&win);
}
static void no_put(void) {
    MPI_Win win = window(4, NULL);
    MPI_Win_fence(MPI_MODE_NOPUT, win);
    MPI_Put(&rank, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}
static void no_locks(void) {
    MPI_Win win = window(4, "no_locks");
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}
static void same_size(void) {
    MPI_Win win = window(4 + rank, "same_size");
    MPI_Win_free(&win);
}

/* --- nothing is wrong --- */

static void right_messages(void) {
    enum { n = 40 };
    static double grid[n][n], frame[n][n];
    MPI_Datatype column, row;
    MPI_Request requests[8];
    MPI_Status statuses[8];
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Type_vector(n - 2, 1, n, MPI_DOUBLE, &column);
    MPI_Type_contiguous(n - 2, MPI_DOUBLE, &row);
    MPI_Type_commit(&column);
    MPI_Type_commit(&row);
    for (int step = 0; step < 20; ++step) {
        MPI_Irecv(&frame[1][0], 1, column, before, 1, world, &requests[0]);
        MPI_Irecv(&frame[1][n - 1], 1, column, next, 2, world, &requests[1]);
        MPI_Irecv(&frame[0][1], n - 2, MPI_DOUBLE, MPI_ANY_SOURCE, 3, world, &requests[2]);
        MPI_Irecv(&frame[n - 1][1], 1, row, before, 4, world, &requests[3]);
        MPI_Isend(&grid[1][n - 2], 1, column, next, 1, world, &requests[4]);
        MPI_Isend(&grid[1][1], 1, column, before, 2, world, &requests[5]);
        MPI_Isend(&grid[1][1], 1, row, next, 3, world, &requests[6]);
        MPI_Isend(&grid[n - 2][1], n - 2, MPI_DOUBLE, next, 4, world, &requests[7]);
        if (step % 2 == 0) {
            MPI_Waitall(8, requests, statuses);
        } else {
            for (int done = 0, index; done < 8; ++done)
                MPI_Waitany(8, requests, &index, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < n * n; ++i) grid[0][i] += 1;
    }
    MPI_Type_free(&column);
    MPI_Type_free(&row);
    /* A type is sent as the same type, and bytes as bytes. */
    struct {
        int number;
        double value[2];
    } item = {1, {2, 3}}, taken;
    int lengths[2] = {1, 2};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, whole;
    MPI_Type_create_struct(2, lengths, places, types, &whole);
    MPI_Type_commit(&whole);
    MPI_Sendrecv(&item, sizeof item, MPI_BYTE, next, 5, &taken, sizeof taken, MPI_BYTE, before, 5,
                 world, MPI_STATUS_IGNORE);
    MPI_Isend(&item, 1, whole, next, 6, world, &requests[0]);
    MPI_Recv(&taken, 1, whole, before, 6, world, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Type_free(&whole);
    /* One request is cancelled, others send to no process. */
    MPI_Irecv(&taken, 1, MPI_INT, before, 99, world, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Isend(&item, 1, MPI_INT, MPI_PROC_NULL, 1, world, &requests[0]);
    MPI_Isend(&item, 1, MPI_INT, MPI_PROC_NULL, 1, world, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void right_collectives(void) {
    int mine[8] = {1, 2, 3, 4}, all[64], counts[4], places[4], sum;
    MPI_Comm half, copy, grid;
    MPI_Request requests[3];
    const int periodic = 1;
    for (int i = 0; i < size; ++i) {
        counts[i] = i + 1;
        places[i] = 8 * i;
    }
    MPI_Bcast(mine, 4, MPI_INT, size - 1, world);
    MPI_Gatherv(mine, rank + 1, MPI_INT, all, counts, places, MPI_INT, 0, world);
    MPI_Scatterv(all, counts, places, MPI_INT, rank == 0 ? MPI_IN_PLACE : mine, rank + 1, MPI_INT,
                 0, world);
    MPI_Allgatherv(mine, rank + 1, MPI_INT, all, counts, places, MPI_INT, world);
    MPI_Allreduce(MPI_IN_PLACE, mine, 4, MPI_INT, MPI_SUM, world);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : mine, mine, 4, MPI_INT, MPI_MAX, 0, world);
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : mine, 2, MPI_INT, all, 2, MPI_INT, 0, world);
    MPI_Comm_split(world, rank % 2, 0, &half);
    MPI_Comm_dup(half, &copy);
    MPI_Cart_create(world, 1, &size, &periodic, 0, &grid);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, rank % 2 == 0 ? MPI_SUM : MPI_MAX, half);
    MPI_Bcast(&sum, 1, MPI_INT, 0, copy);
    MPI_Ibcast(mine, 4, MPI_INT, 0, grid, &requests[0]);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, world, &requests[1]);
    MPI_Ibarrier(half, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
}
static void right_windows(void) {
    int value = 0;
    MPI_Win win = window(8, NULL);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(&rank, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
    MPI_Accumulate(&rank, 1, MPI_INT, 0, 7, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    MPI_Put(&rank, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    MPI_Get(&value, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}
/* Any of several complete requests may be waited for first, and in any variable. */
static void right_orders_of_requests(void) {
    int data[4] = {0};
    MPI_Request requests[3], one;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 3; ++i) {
            data[i] = round;
            MPI_Isend(&data[i], 1, MPI_INT, rank, i, world, &requests[i]);
        }
        one = requests[0];
        requests[0] = requests[2];
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        data[2] = 7;
        MPI_Wait(&one, MPI_STATUS_IGNORE);
        data[0] = 7;
        MPI_Recv(&data[3], 1, MPI_INT, rank, 2, world, MPI_STATUS_IGNORE);
        MPI_Irecv(&data[2], 1, MPI_INT, rank, 0, world, &requests[2]);
        MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Recv(&data[1], 1, MPI_INT, rank, 1, world, MPI_STATUS_IGNORE);
    }
}
/* The messages are many, of many tags, received in another order, and more than there are
 * records. */
static void right_order_of_messages(void) {
    enum { many = 500, burst = 20000 };
    static int values[burst];
    static double numbers[many];
    static MPI_Request requests[burst];
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int got = -1;
    double number = 0;
    for (int tag = 0; tag < many; ++tag)
        if (tag % 2 == 0)
            MPI_Isend(&values[tag], 1, MPI_INT, next, tag, world, &requests[tag]);
        else
            MPI_Isend(&numbers[tag], 1, MPI_DOUBLE, next, tag, world, &requests[tag]);
    for (int tag = many - 1; tag >= 0; --tag)
        if (tag % 2 == 0)
            MPI_Recv(&got, 1, MPI_INT, before, tag, world, MPI_STATUS_IGNORE);
        else
            MPI_Recv(&number, 1, MPI_DOUBLE, before, tag, world, MPI_STATUS_IGNORE);
    MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < burst; ++i) {
        values[i] = i;
        MPI_Isend(&values[i], 1, MPI_INT, next, 3, world, &requests[i]);
    }
    for (int i = 0; i < burst; ++i) MPI_Recv(&got, 1, MPI_INT, before, 3, world, MPI_STATUS_IGNORE);
    MPI_Waitall(burst, requests, MPI_STATUSES_IGNORE);
    if (got != burst - 1) MPI_Abort(world, 1);
}
/* Each rank completes the duplicates in another order. */
static void right_duplicates(void) {
    MPI_Comm made[4];
    MPI_Request requests[4];
    for (int i = 0; i < 4; ++i) MPI_Comm_idup(world, &made[i], &requests[i]);
    for (int i = 0; i < 4; ++i) MPI_Wait(&requests[(i + rank) % 4], MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; ++i) {
        int sum = 0;
        if (i % 2 == 0)
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made[i]);
        else
            MPI_Barrier(made[i]);
    }
    for (int i = 0; i < 4; ++i) MPI_Comm_free(&made[i]);
}
static void right_between_groups(void) {
    if (size < 2) return;
    MPI_Comm between = between_groups(), duplicate, again, merged;
    MPI_Request requests[2];
    int value = rank, taken = -1, peers, own;
    long sum = 0, mine = rank;
    MPI_Comm_remote_size(between, &peers);
    MPI_Comm_rank(between, &own);
    MPI_Comm_dup(between, &duplicate);
    MPI_Comm_split(between, 0, rank, &again);
    MPI_Intercomm_merge(between, rank % 2, &merged);
    const MPI_Comm all[] = {between, duplicate, again};
    for (int i = 0; i < 3; ++i) { /* the two groups have types of their own */
        if (own < peers) {
            MPI_Irecv(&taken, 1, MPI_INT, own, 3, all[i], &requests[0]);
            MPI_Isend(&value, 1, MPI_INT, own, 3, all[i], &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        MPI_Barrier(all[i]);
        if (rank % 2 == 0) {
            MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, all[i]);
            MPI_Reduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL,
                       all[i]);
        } else {
            MPI_Bcast(&taken, 1, MPI_INT, 0, all[i]);
            MPI_Reduce(&mine, NULL, 1, MPI_LONG, MPI_SUM, 0, all[i]);
        }
        int gathered[16];
        float other[16], given = 1;
        if (rank % 2 == 0)
            MPI_Allgather(&value, 1, MPI_INT, other, 1, MPI_FLOAT, all[i]);
        else
            MPI_Allgather(&given, 1, MPI_FLOAT, gathered, 1, MPI_INT, all[i]);
        MPI_Ibarrier(all[i], &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, merged);
    MPI_Comm_free(&between);
    MPI_Comm_free(&duplicate);
    MPI_Comm_free(&again);
    MPI_Comm_free(&merged);
}
/* Pairs of partitioned messages have one envelope, and the second is complete first, as bytes.
   Partitions are written and read one by one, and the buffer is used again. */
static void right_partitioned(void) {
    static int values[2 * parts], taken[2 * parts];
    static float others[parts], taken_others[parts];
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request sends[2], receives[2];
    int flag = 0;
    MPI_Psend_init(values, parts, 2, MPI_INT, next, 5, world, MPI_INFO_NULL, &sends[0]);
    MPI_Psend_init(others, parts, 1, MPI_FLOAT, next, 5, world, MPI_INFO_NULL, &sends[1]);
    MPI_Precv_init(taken, 2, parts, MPI_INT, before, 5, world, MPI_INFO_NULL, &receives[0]);
    MPI_Precv_init(taken_others, 1, sizeof taken_others, MPI_BYTE, before, 5, world, MPI_INFO_NULL,
                   &receives[1]);
    for (int turn = 0; turn < 3; ++turn) {
        MPI_Startall(2, receives);
        MPI_Startall(2, sends);
        for (int i = parts - 1; i >= 0; --i) {
            values[2 * i] = values[2 * i + 1] = turn + i;
            others[i] = (float)turn;
            MPI_Pready(i, sends[0]);
            MPI_Pready_list(1, &i, sends[1]);
        }
        while (!flag) MPI_Parrived(receives[0], 1, &flag);
        if (taken[2 * parts - 1] != turn + parts - 1) MPI_Abort(world, 1);
        MPI_Wait(&receives[1], MPI_STATUS_IGNORE);
        MPI_Wait(&receives[0], MPI_STATUS_IGNORE);
        MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
        values[0] = -1;
        flag = 0;
    }
    for (int i = 0; i < 2; ++i) {
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&receives[i]);
    }
    MPI_Psend_init(values, parts, 2, MPI_INT, next, 6, world, MPI_INFO_NULL, &sends[0]);
    MPI_Request_free(&sends[0]); /* never started and never received */
}
/* Rank 1 initializes MPI after rank 0 has done so and has sent a message. A file tells it. */
static const char* file;
static void wait_before_init(void) {
    const char* own = getenv("PMI_RANK");
    while (own != NULL && strcmp(own, "1") == 0 && access(file, F_OK) != 0) usleep(1000);
}
static void right_late_rank(void) {
    int value = 1;
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 1, world);
    if (rank == 0) fclose(fopen(file, "w"));
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
}
static void late_rank_type(void) {
    float value = 1;
    int taken;
    if (rank == 0) MPI_Send(&value, 1, MPI_FLOAT, 1, 1, world);
    if (rank == 0) fclose(fopen(file, "w"));
    if (rank == 1) MPI_Recv(&taken, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
}
/* A call whose arguments the library refuses has no effect. */
static void right_after_errors(void) {
    int value = rank, taken = -1;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0 && MPI_Bcast(&value, -1, MPI_INT, 0, world) == MPI_SUCCESS) MPI_Abort(world, 1);
    if (rank == size - 1 && MPI_Barrier(MPI_COMM_NULL) == MPI_SUCCESS) MPI_Abort(world, 1);
    MPI_Bcast(&value, 1, MPI_INT, 0, world);
    if (MPI_Send(&value, 1, MPI_DOUBLE, size + 5, 1, world) == MPI_SUCCESS) MPI_Abort(world, 1);
    MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 1, &taken, 1, MPI_INT,
                 (rank + size - 1) % size, 1, world, MPI_STATUS_IGNORE);
    MPI_Win win = window(4, NULL);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    if (MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win) == MPI_SUCCESS) MPI_Abort(world, 1);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}
/* A tool of the program stands between some of its calls and the library. */
static void right_with_tool(void) {
    int value = rank, taken = -1;
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request request;
    MPI_Isend(&value, 1, MPI_INT, next, 1, world, &request);
    PMPI_Recv(&taken, 1, MPI_INT, before, 1, world, MPI_STATUS_IGNORE);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    PMPI_Isend(&value, 1, MPI_INT, next, 1, world, &request);
    MPI_Recv(&taken, 1, MPI_INT, before, 1, world, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0)
        PMPI_Barrier(world);
    else
        MPI_Barrier(world);
    MPI_Bcast(&value, 1, MPI_INT, 0, world);
}
static void right_accesses(void) {
    int value = 1, taken = 0;
    const int one = 1;
    MPI_Request request;
    MPI_Win win = window(4, NULL);
    MPI_Win_lock_all(0, win);
    /* The accumulates of a rank are in order, and a compare-and-swap is one beside all others. */
    MPI_Accumulate(&value, 1, MPI_INT, rank, 3, 1, MPI_INT, MPI_SUM, win);
    MPI_Accumulate(&value, 1, MPI_INT, rank, 3, 1, MPI_INT, MPI_PROD, win);
    MPI_Fetch_and_op(&value, &taken, MPI_INT, 0, 1, MPI_SUM, win);
    MPI_Compare_and_swap(&one, &value, &taken, MPI_INT, 0, 1, win);
    MPI_Win_flush_all(win);
    /* A thread may write data that it has read. */
    MPI_Rget(&taken, 1, MPI_INT, rank, 2, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Put(&one, 1, MPI_INT, rank, 2, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static const struct {
    const char* name;
    void (*run)(void);
    int level;
} defects[] = {
#define DEFECT(name) {#name, name, MPI_THREAD_SINGLE}
    DEFECT(bcast_root),
    DEFECT(allreduce_count),
    DEFECT(allreduce_type),
    DEFECT(reduce_operation),
    DEFECT(other_collective),
    DEFECT(gather_size),
    DEFECT(gatherv_size),
    DEFECT(alltoallv_size),
    DEFECT(allgatherv_counts),
    DEFECT(ibcast_root),
    DEFECT(nonblocking_with_blocking),
    DEFECT(between_bcast_type),
    DEFECT(between_reduce_operation),
    DEFECT(between_other_collective),
    DEFECT(between_type),
    DEFECT(between_type_of_duplicate),
    DEFECT(between_unreceived),
    DEFECT(partitioned_type),
    DEFECT(partitioned_changed),
    DEFECT(partitioned_missing_wait),
    DEFECT(partitioned_unreceived),
    DEFECT(double_as_int),
    DEFECT(double_as_int_any),
    DEFECT(matched_type),
    DEFECT(struct_order),
    DEFECT(persistent_type),
    DEFECT(sendrecv_type),
    DEFECT(unreceived),
    DEFECT(changed_buffer),
    DEFECT(changed_vector),
    DEFECT(changed_of_several),
    DEFECT(overlapping_receives),
    DEFECT(send_of_receive_buffer),
    DEFECT(receive_into_send_buffer),
    DEFECT(missing_wait),
    DEFECT(persistent_not_freed),
    DEFECT(waited_twice),
    DEFECT(started_twice),
    DEFECT(leaked_communicator),
    DEFECT(leaked_idup),
    DEFECT(leaked_datatype),
    DEFECT(leaked_group),
    DEFECT(leaked_window),
    DEFECT(leaked_file),
    DEFECT(leaked_info),
    DEFECT(leaked_operation),
    {"funneled", funneled, MPI_THREAD_FUNNELED},
    {"single", funneled, MPI_THREAD_SINGLE},
    {"two_at_once", two_at_once, MPI_THREAD_SERIALIZED},
    DEFECT(no_any_source),
    DEFECT(no_any_tag),
    DEFECT(exact_length),
    DEFECT(fence_conflict),
    DEFECT(put_and_get),
    DEFECT(mixed_operations),
    DEFECT(no_epoch),
    DEFECT(unlocked),
    DEFECT(no_succeed),
    DEFECT(no_precede),
    DEFECT(no_put),
    DEFECT(no_locks),
    DEFECT(same_size),
    DEFECT(right_messages),
    DEFECT(right_collectives),
    DEFECT(right_windows),
    DEFECT(right_orders_of_requests),
    DEFECT(right_order_of_messages),
    DEFECT(right_duplicates),
    DEFECT(right_between_groups),
    DEFECT(right_partitioned),
    DEFECT(right_late_rank),
    DEFECT(late_rank_type),
    DEFECT(right_after_errors),
    DEFECT(right_with_tool),
    DEFECT(right_accesses),
    {"right_threads", serialized, MPI_THREAD_SERIALIZED},
};

int main(int argc, char** argv) {
    const char* name = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < sizeof defects / sizeof *defects; ++i) {
        if (strcmp(defects[i].name, name) != 0) continue;
        int provided;
        file = argc > 2 ? argv[2] : NULL;
        if (file != NULL) wait_before_init();
        MPI_Init_thread(&argc, &argv, defects[i].level, &provided);
        MPI_Comm_rank(world, &rank);
        MPI_Comm_size(world, &size);
        defects[i].run();
        MPI_Finalize();
        return 0;
    }
    fprintf(stderr, "defects: '%s' is not one of them\n", name);
    return 2;
}
