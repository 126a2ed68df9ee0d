/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that hang, and some that only seem to, by name: hangs NAME. test_hangs.py knows the
 * verdict on each. */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size, next, before, value;
static MPI_Comm world = MPI_COMM_WORLD;

static void init(int level) {
    int provided;
    MPI_Init_thread(NULL, NULL, level, &provided);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
}
static void receive(int from, int tag) {
    MPI_Recv(&value, 1, MPI_INT, from, tag, world, MPI_STATUS_IGNORE);
}
static void rest(double seconds) {
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&time, &time) != 0) {}
}
static void compute(double seconds) {
    const double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end) {}
}

/* --- messages --- */

static void recv_recv(void) { receive(next, 1); }
static void ssend_ssend(void) { MPI_Ssend(&rank, 1, MPI_INT, next, 1, world); }
static void send_send(void) {
    enum { bytes = 64 << 20 };
    char* data = calloc(1, bytes);
    MPI_Send(data, bytes, MPI_BYTE, next, 1, world);
    MPI_Recv(data, bytes, MPI_BYTE, before, 1, world, MPI_STATUS_IGNORE);
    free(data);
}
static void self_recv(void) {
    if (rank == 0) receive(0, 1);
    MPI_Barrier(world);
}
static void self_ssend(void) {
    if (rank == 0) MPI_Ssend(&rank, 1, MPI_INT, 0, 1, world);
    MPI_Barrier(world);
}
static void any_source(void) { receive(MPI_ANY_SOURCE, MPI_ANY_TAG); }
static void wrong_tag(void) {
    if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 1, world);
    if (rank == 1) receive(0, 2);
    MPI_Barrier(world);
}
static void wrong_communicator(void) {
    MPI_Comm halo;
    MPI_Comm_dup(world, &halo);
    MPI_Comm_set_name(halo, "halo");
    if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 2, halo);
    if (rank == 1) receive(0, 2);
    MPI_Barrier(world);
}
static void wrong_source(void) {
    if (rank == 2) MPI_Send(&rank, 1, MPI_INT, 0, 3, world);
    if (rank == 0) receive(1, 3);
    MPI_Barrier(world);
}
static void wrong_tag_late(void) { /* each rank has waited for long when the other tag comes */
    rest(rank == 0 ? 0.4 : 0);
    MPI_Send(&rank, 1, MPI_INT, next, 1, world);
    receive(before, 2);
}
static void sendrecv(void) {
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 1, &value, 1, MPI_INT, next, 2, world, MPI_STATUS_IGNORE);
}
static void from_finished(void) { /* the other rank has come to its end */
    if (rank == 0) receive(1, 1);
}
static void buffered(void) { /* detaching waits until the message is taken */
    enum { bytes = 1 << 22 };
    if (rank == 0) {
        char* data = calloc(1, bytes);
        char* buffer = malloc(bytes + MPI_BSEND_OVERHEAD);
        int taken;
        MPI_Buffer_attach(buffer, bytes + MPI_BSEND_OVERHEAD);
        MPI_Bsend(data, bytes, MPI_BYTE, 1, 1, world);
        MPI_Buffer_detach(&buffer, &taken);
    }
    receive(1 - rank, 2);
}
static void pair_beside(void) { /* ranks 0 and 1 hang, rank 2 computes */
    if (rank < 2) receive(1 - rank, 1);
    compute(20);
}

static void any_tag_beside(void) { /* any message of the peer would do, but none of rank 2 */
    if (rank < 2) receive(1 - rank, MPI_ANY_TAG);
    compute(20);
}

/* --- several requests --- */

static void waitall(void) {
    MPI_Request requests[2];
    MPI_Irecv(&value, 1, MPI_INT, before, 1, world, &requests[0]);
    MPI_Irecv(&value, 1, MPI_INT, next, 2, world, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void waitall_half(void) { /* only one of the two messages comes */
    MPI_Request requests[2];
    MPI_Irecv(&value, 1, MPI_INT, before, 1, world, &requests[0]);
    MPI_Irecv(&value, 1, MPI_INT, next, 2, world, &requests[1]);
    MPI_Send(&rank, 1, MPI_INT, next, 1, world);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void wait_for_one(int some) {
    MPI_Request requests[2];
    int index, indices[2];
    MPI_Irecv(&value, 1, MPI_INT, before, 1, world, &requests[0]);
    MPI_Irecv(&value, 1, MPI_INT, next, 2, world, &requests[1]);
    if (some)
        MPI_Waitsome(2, requests, &index, indices, MPI_STATUSES_IGNORE);
    else
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}
static void waitany(void) { wait_for_one(0); }
static void waitsome(void) { wait_for_one(1); }
static void many_requests(void) {
    MPI_Request requests[20];
    for (int i = 0; i < 20; ++i) MPI_Irecv(&value, 1, MPI_INT, next, i, world, &requests[i]);
    MPI_Waitall(20, requests, MPI_STATUSES_IGNORE);
}
static void issend(void) {
    MPI_Request request;
    MPI_Issend(&rank, 1, MPI_INT, next, 1, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void waitany_mixed(void) { /* neither request completes */
    MPI_Request requests[2];
    int index;
    MPI_Issend(&rank, 1, MPI_INT, next, 1, world, &requests[0]);
    MPI_Irecv(&value, 1, MPI_INT, before, 2, world, &requests[1]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}
static void persistent(void) {
    MPI_Request request;
    MPI_Recv_init(&value, 1, MPI_INT, next, 1, world, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void probe(void) { MPI_Probe(next, 1, world, MPI_STATUS_IGNORE); }
static void mprobe(void) {
    MPI_Message message;
    MPI_Mprobe(MPI_ANY_SOURCE, 1, world, &message, MPI_STATUS_IGNORE);
}
static void partitions_missing(void) { /* one of two partitions is never ready */
    MPI_Request request;
    int data[2] = {0, 0};
    if (rank == 0) {
        MPI_Psend_init(data, 2, 1, MPI_INT, 1, 1, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
    } else {
        MPI_Precv_init(data, 2, 1, MPI_INT, 0, 1, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void partitioned(void) {
    MPI_Request request;
    MPI_Precv_init(&value, 1, 1, MPI_INT, next, 1, world, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int query(void* state, MPI_Status* status) {
    (void)state;
    (void)status;
    return MPI_SUCCESS;
}
static int release(void* state) {
    (void)state;
    return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}
static void generalized(void) {
    MPI_Request request;
    MPI_Grequest_start(query, release, cancel, NULL, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* --- collective calls --- */

static void mismatch(void) {
    MPI_Barrier(world);
    if (rank == 1)
        MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, world);
    else
        MPI_Barrier(world);
    MPI_Barrier(world);
    receive(next, 1);
}
static void mismatch_nonblocking(void) {
    MPI_Request request;
    if (rank == 1) {
        MPI_Ibarrier(world, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(world);
    }
    receive(next, 1);
}
static void two_communicators(void) {
    MPI_Comm halo;
    MPI_Comm_dup(world, &halo);
    MPI_Comm_set_name(halo, "halo");
    MPI_Barrier(rank == 0 ? halo : world);
}
static void order_of_communicators(void) {
    MPI_Comm first, second;
    MPI_Comm_dup(world, &first);
    MPI_Comm_dup(world, &second);
    MPI_Comm_set_name(first, "first");
    MPI_Comm_set_name(second, "second");
    MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, rank == 0 ? first : second);
    MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, rank == 0 ? second : first);
}
static void split_missing(void) {
    MPI_Comm part;
    if (rank == size - 1)
        receive(0, 3);
    else
        MPI_Comm_split(world, 0, 0, &part);
}
static void neighbors(void) { /* the first rank does not come */
    MPI_Comm ring;
    int periodic = 1, received[2];
    MPI_Cart_create(world, 1, &size, &periodic, 0, &ring);
    MPI_Comm_set_name(ring, "ring");
    if (rank == 0)
        receive(1, 3);
    else
        MPI_Neighbor_allgather(&rank, 1, MPI_INT, received, 1, MPI_INT, ring);
    MPI_Barrier(world);
}
static void missing_barrier(void) {
    if (rank == size - 1)
        receive(0, 5);
    else
        MPI_Barrier(world);
}
static void finalized_early(void) {
    if (rank != size - 1) MPI_Barrier(world);
}
static void ibarrier(void) {
    MPI_Request request;
    if (rank == 0) {
        MPI_Ibarrier(world, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        receive(0, 3);
    }
}
static void comm_dup(void) {
    MPI_Comm copy;
    if (rank == 0)
        MPI_Comm_dup(world, &copy);
    else
        receive(0, 3);
}
static void large_allreduce(void) {
    enum { count = 1 << 20 };
    int* data = calloc(2 * count, sizeof(int));
    if (rank == 0)
        receive(1, 3);
    else
        MPI_Allreduce(data, data + count, count, MPI_INT, MPI_SUM, world);
    free(data);
}
static void subgroup(void) {
    MPI_Comm half;
    MPI_Comm_split(world, rank % 2, 0, &half);
    MPI_Comm_set_name(half, "half");
    int peer;
    MPI_Comm_rank(half, &peer);
    MPI_Recv(&value, 1, MPI_INT, 1 - peer, 1, half, MPI_STATUS_IGNORE);
}
static void any_of_subgroup(void) { /* ranks 0 and 1 hang, although 2 and 3 compute */
    MPI_Comm half;
    MPI_Comm_split(world, rank / 2, 0, &half);
    if (rank < 2) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, half, MPI_STATUS_IGNORE);
    compute(20);
}
static void intercommunicator(void) {
    MPI_Comm half, both;
    MPI_Comm_split(world, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, world, 1 - rank % 2, 9, &both);
    MPI_Recv(&value, 1, MPI_INT, 0, 1, both, MPI_STATUS_IGNORE);
}

static void intercommunicator_missing(void) { /* one of two leaders does not come */
    MPI_Comm both;
    if (rank == 0)
        MPI_Intercomm_create(MPI_COMM_SELF, 0, world, 1, 9, &both);
    else
        receive(0, 1);
}
static void intercommunicator_barrier(void) {
    MPI_Comm half, both;
    MPI_Comm_split(world, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, world, 1 - rank % 2, 9, &both);
    MPI_Comm_set_name(both, "both");
    if (rank == 0)
        receive(1, 1);
    else
        MPI_Barrier(both);
}

/* --- windows --- */

static MPI_Win window_of(const char* name) {
    MPI_Win win;
    int* memory;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, world, &memory, &win);
    MPI_Win_set_name(win, name);
    return win;
}
static void window_lock(void) {
    MPI_Win win = window_of("cells");
    if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(world);
    if (rank == 0) receive(1, 1);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
}
static void window_order(void) { /* each rank holds the lock that the other wants */
    MPI_Win win[2] = {window_of("left"), window_of("right")};
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win[rank]);
    MPI_Barrier(world);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win[1 - rank]);
}
static void window_lock_all(void) {
    MPI_Win win = window_of("cells");
    if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Barrier(world);
    if (rank == 0) receive(1, 1);
    MPI_Win_lock_all(0, win);
}
static void window_missing(void) {
    if (rank == 0) window_of("cells");
    receive(0, 1);
}
static MPI_Group group_of(int one) {
    MPI_Group all, group;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &one, &group);
    return group;
}
static void window_start(void) {
    MPI_Win win = window_of("cells");
    if (rank == 0) MPI_Win_start(group_of(1), 0, win);
    receive(0, 1);
}
static void window_wait(void) {
    MPI_Win win = window_of("cells");
    if (rank == 0) {
        MPI_Win_post(group_of(1), 0, win);
        MPI_Win_wait(win);
    }
    receive(0, 1);
}
static void window_fence(void) {
    MPI_Win win = window_of("cells");
    if (rank == size - 1)
        MPI_Barrier(world);
    else
        MPI_Win_fence(0, win);
}

/* --- threads --- */

static void* receive_in_thread(void* tag) {
    MPI_Recv(&value, 1, MPI_INT, next, *(int*)tag, world, MPI_STATUS_IGNORE);
    return NULL;
}
static void with_thread(void* (*work)(void*), void* argument) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, argument);
    receive(next, 1);
    pthread_join(thread, NULL);
}
static void threads(void) {
    int tag = 2;
    with_thread(receive_in_thread, &tag);
}
static void* receive_both_in_thread(void* unused) {
    (void)unused;
    rest(0.3);
    receive(before, 1);
    receive(before, 3);
    return NULL;
}
/* The thread takes the message that was near by when the main thread went to sleep. */
static void wrong_tag_taken(void) {
    MPI_Send(&rank, 1, MPI_INT, next, 1, world);
    pthread_t thread;
    pthread_create(&thread, NULL, receive_both_in_thread, NULL);
    receive(before, 2);
    pthread_join(thread, NULL);
}
static void many_threads(void) { /* more threads than the board has room for */
    enum { threads = 20 };
    static int tags[threads];
    pthread_t other[threads];
    for (int i = 0; i < threads; ++i) {
        tags[i] = 2 + i;
        pthread_create(&other[i], NULL, receive_in_thread, &tags[i]);
    }
    for (int i = 0; i < threads; ++i) pthread_join(other[i], NULL);
}
static void* idle(void* unused) {
    (void)unused;
    for (;;) pause();
    return NULL;
}
static void idle_thread(void) { with_thread(idle, NULL); }
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* lock_in_thread(void* unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    MPI_Send(&rank, 1, MPI_INT, before, 1, world);
    pthread_mutex_unlock(&mutex);
    return NULL;
}
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void* wait_for_condition(void* unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;) pthread_cond_wait(&condition, &mutex);
    return NULL;
}
static void idle_pool(void) { with_thread(wait_for_condition, NULL); }
static void joined(void) { /* the thread that waits in MPI is not the main one */
    pthread_t thread;
    int tag = 1;
    pthread_create(&thread, NULL, receive_in_thread, &tag);
    pthread_join(thread, NULL);
}
static void mutex_and_message(void) {
    pthread_mutex_lock(&mutex);
    with_thread(lock_in_thread, NULL);
}

/* --- no deadlock --- */

static void computes(void) {
    if (rank == 0) compute(20);
    receive(0, 1);
}
static void polls(void) {
    if (rank != 0) receive(0, 1);
    MPI_Request request;
    int done = 0;
    MPI_Irecv(&value, 1, MPI_INT, 1, 1, world, &request);
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}
static void polls_for_any(void) {
    if (rank != 0) receive(0, 1);
    MPI_Request requests[2];
    int which, done = 0;
    MPI_Irecv(&value, 1, MPI_INT, 1, 1, world, &requests[0]);
    MPI_Irecv(&value, 1, MPI_INT, 1, 2, world, &requests[1]);
    while (!done) MPI_Testany(2, requests, &which, &done, MPI_STATUS_IGNORE);
}
static void polls_now_and_then(void) {
    if (rank != 0) {
        MPI_Send(&value, 1, MPI_INT, 0, 2, world);
        receive(0, 1);
    }
    int found = 0;
    while (!found) {
        rest(0.002);
        MPI_Iprobe(1, 1, world, &found, MPI_STATUS_IGNORE);
    }
}
static void late_in(void (*work)(void)) {
    for (int i = 0; i < 3; ++i) {
        if (rank == i % size) rest(0.9);
        work();
    }
}
static void exchange_all(void) {
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 1, &value, 1, MPI_INT, before, 1, world,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(world);
    MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, world);
}
static void late(void) { late_in(exchange_all); }
static void* wake_up(void* unused) {
    (void)unused;
    rest(1.5);
    MPI_Send(&rank, 1, MPI_INT, before, 1, world);
    return NULL;
}
static void late_thread(void) { with_thread(wake_up, NULL); }
static MPI_Request pending;
static void* complete_late(void* unused) {
    (void)unused;
    rest(1.5);
    MPI_Grequest_complete(pending);
    return NULL;
}
static void late_generalized(void) {
    pthread_t thread;
    MPI_Grequest_start(query, release, cancel, NULL, &pending);
    MPI_Request mine = pending;
    pthread_create(&thread, NULL, complete_late, NULL);
    MPI_Wait(&mine, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
}

/* --- sessions --- */

static void session_ended(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "hangs", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &world);
    MPI_Comm_rank(world, &rank);
    if (rank == 0) receive(1, 1);
    MPI_Comm_free(&world);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    exit(0);
}

static void session_mismatch(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "hangs", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &world);
    MPI_Comm_set_name(world, "everybody");
    MPI_Comm_rank(world, &rank);
    if (rank == 0)
        MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, world);
    else
        MPI_Barrier(world);
    receive(1 - rank, 1);
}

/* --- files --- */

/* Opens a file. It has no name once all ranks have it open, so that nothing is left of it. */
static MPI_File open_file(const char* prefix) {
    char path[64], name[128];
    int id = (int)getpid();
    MPI_File file;
    MPI_Bcast(&id, 1, MPI_INT, 0, world);
    snprintf(path, sizeof path, "/tmp/hangs-%d", id);
    snprintf(name, sizeof name, "%s%s", prefix, path);
    MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (rank == 0) unlink(path);
    return file;
}
static void open_alone(void) {
    MPI_File file;
    MPI_File_open(world, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
}
static void file_collective(void) {
    MPI_File file = open_file("");
    if (rank == 0)
        receive(1, 5);
    else
        MPI_File_write_at_all(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}
static void file_missing(void) { /* the last rank does not open it */
    if (rank == size - 1)
        receive(0, 5);
    else
        open_alone();
}
/* Writes slowly: a transfer takes an hour. */
static void file_slow(void) {
    MPI_File file = open_file("faulty:slow=3600000:");
    MPI_File_write_at(file, 4096 * (rank + 1), &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}
static void file_slow_request(void) {
    MPI_File file = open_file("faulty:slow=3600000:");
    MPI_Request request;
    MPI_File_iread_at(file, 4096 * (rank + 1), &value, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static const struct {
    const char* name;
    int level;
    void (*run)(void);
} programs[] = {
    {"recv_recv", MPI_THREAD_SINGLE, recv_recv},
    {"ssend_ssend", MPI_THREAD_SINGLE, ssend_ssend},
    {"send_send", MPI_THREAD_SINGLE, send_send},
    {"self_recv", MPI_THREAD_SINGLE, self_recv},
    {"self_ssend", MPI_THREAD_SINGLE, self_ssend},
    {"any_source", MPI_THREAD_SINGLE, any_source},
    {"wrong_tag", MPI_THREAD_SINGLE, wrong_tag},
    {"wrong_communicator", MPI_THREAD_SINGLE, wrong_communicator},
    {"wrong_source", MPI_THREAD_SINGLE, wrong_source},
    {"wrong_tag_late", MPI_THREAD_SINGLE, wrong_tag_late},
    {"sendrecv", MPI_THREAD_SINGLE, sendrecv},
    {"pair_beside", MPI_THREAD_SINGLE, pair_beside},
    {"any_tag_beside", MPI_THREAD_SINGLE, any_tag_beside},
    {"from_finished", MPI_THREAD_SINGLE, from_finished},
    {"buffered", MPI_THREAD_SINGLE, buffered},
    {"waitall", MPI_THREAD_SINGLE, waitall},
    {"waitall_half", MPI_THREAD_SINGLE, waitall_half},
    {"waitany", MPI_THREAD_SINGLE, waitany},
    {"waitsome", MPI_THREAD_SINGLE, waitsome},
    {"many_requests", MPI_THREAD_SINGLE, many_requests},
    {"issend", MPI_THREAD_SINGLE, issend},
    {"waitany_mixed", MPI_THREAD_SINGLE, waitany_mixed},
    {"persistent", MPI_THREAD_SINGLE, persistent},
    {"probe", MPI_THREAD_SINGLE, probe},
    {"mprobe", MPI_THREAD_SINGLE, mprobe},
    {"partitioned", MPI_THREAD_SINGLE, partitioned},
    {"partitions_missing", MPI_THREAD_SINGLE, partitions_missing},
    {"generalized", MPI_THREAD_SINGLE, generalized},
    {"mismatch", MPI_THREAD_SINGLE, mismatch},
    {"mismatch_nonblocking", MPI_THREAD_SINGLE, mismatch_nonblocking},
    {"two_communicators", MPI_THREAD_SINGLE, two_communicators},
    {"order_of_communicators", MPI_THREAD_SINGLE, order_of_communicators},
    {"split_missing", MPI_THREAD_SINGLE, split_missing},
    {"neighbors", MPI_THREAD_SINGLE, neighbors},
    {"missing_barrier", MPI_THREAD_SINGLE, missing_barrier},
    {"finalized_early", MPI_THREAD_SINGLE, finalized_early},
    {"ibarrier", MPI_THREAD_SINGLE, ibarrier},
    {"comm_dup", MPI_THREAD_SINGLE, comm_dup},
    {"large_allreduce", MPI_THREAD_SINGLE, large_allreduce},
    {"subgroup", MPI_THREAD_SINGLE, subgroup},
    {"any_of_subgroup", MPI_THREAD_SINGLE, any_of_subgroup},
    {"intercommunicator", MPI_THREAD_SINGLE, intercommunicator},
    {"intercommunicator_missing", MPI_THREAD_SINGLE, intercommunicator_missing},
    {"intercommunicator_barrier", MPI_THREAD_SINGLE, intercommunicator_barrier},
    {"window_lock", MPI_THREAD_SINGLE, window_lock},
    {"window_order", MPI_THREAD_SINGLE, window_order},
    {"window_lock_all", MPI_THREAD_SINGLE, window_lock_all},
    {"window_missing", MPI_THREAD_SINGLE, window_missing},
    {"window_start", MPI_THREAD_SINGLE, window_start},
    {"window_wait", MPI_THREAD_SINGLE, window_wait},
    {"window_fence", MPI_THREAD_SINGLE, window_fence},
    {"threads", MPI_THREAD_MULTIPLE, threads},
    {"wrong_tag_taken", MPI_THREAD_MULTIPLE, wrong_tag_taken},
    {"many_threads", MPI_THREAD_MULTIPLE, many_threads},
    {"idle_thread", MPI_THREAD_MULTIPLE, idle_thread},
    {"idle_thread_funneled", MPI_THREAD_FUNNELED, idle_thread},
    {"idle_pool", MPI_THREAD_MULTIPLE, idle_pool},
    {"joined", MPI_THREAD_MULTIPLE, joined},
    {"mutex_and_message", MPI_THREAD_MULTIPLE, mutex_and_message},
    {"computes", MPI_THREAD_SINGLE, computes},
    {"polls", MPI_THREAD_SINGLE, polls},
    {"polls_for_any", MPI_THREAD_SINGLE, polls_for_any},
    {"polls_now_and_then", MPI_THREAD_SINGLE, polls_now_and_then},
    {"late", MPI_THREAD_SINGLE, late},
    {"late_thread", MPI_THREAD_MULTIPLE, late_thread},
    {"late_generalized", MPI_THREAD_MULTIPLE, late_generalized},
    {"session_ended", -1, session_ended},
    {"session_mismatch", -1, session_mismatch},
    {"file_collective", MPI_THREAD_SINGLE, file_collective},
    {"file_missing", MPI_THREAD_SINGLE, file_missing},
    {"file_slow", MPI_THREAD_SINGLE, file_slow},
    {"file_slow_request", MPI_THREAD_SINGLE, file_slow_request},
};

int main(int argc, char** argv) {
    for (size_t i = 0; argc == 2 && i < sizeof programs / sizeof *programs; ++i) {
        if (strcmp(argv[1], programs[i].name) != 0) continue;
        if (programs[i].level >= 0) init(programs[i].level);
        programs[i].run();
        MPI_Finalize();
        return 0;
    }
    fprintf(stderr, "hangs: no such program\n");
    return 2;
}
