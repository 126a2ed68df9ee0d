// SPDX-License-Identifier: BSD-3-Clause
// Programs whose timelines are known. timeline NAME
//   late      rank 1 comes 20 ms late to each of ten MPI_Allreduce, and messages go round.
//   many      more events than are kept.
//   receives  receives that complete in another order than they are posted, from any source,
//             persistent.
//   objects   a duplicate, a window and a file.
//   between   two ranks with an intercommunicator.
//   hang      rank 0 waits for a message that rank 1 does not send; rank 1 computes.
//   killed    rank 1 kills itself.
//   threads   two threads of each rank communicate.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static void late(void) {
    const struct timespec delay = {0, 20000000};
    double mine = rank, sum;
    for (int i = 0; i < 10; ++i) {
        int sent = i, received;
        MPI_Request requests[2];
        MPI_Irecv(&received, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (received != i) MPI_Abort(MPI_COMM_WORLD, 1);
        if (rank == 1) nanosleep(&delay, NULL);
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void many(void) {
    int value = 0, flag;
    for (int i = 0; i < 20000; ++i) {
        if (rank == 0) MPI_Send(&i, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(&i, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
        if (value != i) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < 5000; ++i) MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void receives(void) {
    enum { messages = 6 };
    int values[messages];
    MPI_Request requests[messages];
    if (rank == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < messages; ++i) MPI_Send(&i, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    } else {
        for (int i = 0; i < messages; ++i)
            MPI_Irecv(&values[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : 0, i % 3 ? 3 : MPI_ANY_TAG,
                      MPI_COMM_WORLD, &requests[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = messages - 1; i >= 0; --i) {
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            if (values[i] != i) MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    int sent = rank, received;
    MPI_Request persistent[2];
    MPI_Recv_init(&received, 1, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD, &persistent[0]);
    MPI_Send_init(&sent, 1, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD, &persistent[1]);
    for (int i = 0; i < 3; ++i) {
        MPI_Startall(2, persistent);
        MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
}

static void objects(const char* path) {
    MPI_Comm copy;
    MPI_Win window;
    MPI_File file;
    int *memory, value = rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Bcast(&value, 1, MPI_INT, 1, copy);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, copy, &memory, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_File_open(copy, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof value, &value, 1, MPI_INT,
                          MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_free(&copy);
}

static void hang(int seconds) {
    int value;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (rank == 1) alarm((unsigned)seconds), pause();
}

static void between(void) {
    MPI_Comm own, both;
    int sent = rank, received = -1;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &both);
    MPI_Sendrecv(&sent, 1, MPI_INT, 0, 6, &received, 1, MPI_INT, 0, 6, both, MPI_STATUS_IGNORE);
    if (received != 1 - rank) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_free(&both);
    MPI_Comm_free(&own);
}

static void* communicate(void* which) {
    const int tag = (int)(long)which;
    for (int i = 0; i < 20; ++i) {
        int sent = i, received = -1;
        MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, tag, &received, 1, MPI_INT,
                     (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (received != i) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return NULL;
}

static void threads(void) {
    pthread_t other;
    pthread_create(&other, NULL, communicate, (void*)1L);
    communicate((void*)2L);
    pthread_join(other, NULL);
}

int main(int argc, char** argv) {
    int provided;
    const char* name = argc > 1 ? argv[1] : "";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(name, "late") == 0)
        late();
    else if (strcmp(name, "many") == 0)
        many();
    else if (strcmp(name, "receives") == 0)
        receives();
    else if (strcmp(name, "objects") == 0)
        objects(argv[2]);
    else if (strcmp(name, "between") == 0)
        between();
    else if (strcmp(name, "hang") == 0)
        hang(3600);
    else if (strcmp(name, "threads") == 0)
        threads();
    else if (strcmp(name, "killed") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) raise(SIGKILL);
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        fprintf(stderr, "timeline: %s is none of its names\n", name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Finalize();
    return 0;
}
