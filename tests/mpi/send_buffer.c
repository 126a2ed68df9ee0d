/* SPDX-License-Identifier: BSD-3-Clause */
/* HEDDLE_SEND_BUFFER=1000000: MPI_Send of a long message returns before its receive, as long as
 * there is room. */
#include "check.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

enum { big = 300000, room = 1000000, huge = 64 << 20 };

static int rank, size, next, before;
static unsigned char out[4 * big], in[4 * big];
static unsigned char out_of_huge[huge], in_of_huge[huge];

static void fill(unsigned char* data, int bytes, int seed) {
    for (int i = 0; i < bytes; ++i) data[i] = (unsigned char)(i * 7 + seed);
}
static int filled(const unsigned char* data, int bytes, int seed) {
    for (int i = 0; i < bytes; ++i)
        if (data[i] != (unsigned char)(i * 7 + seed)) return 0;
    return 1;
}

/* Sends on all ranks before any receives: without a buffer all would wait for ever. The answer
 * comes behind the notice that the message has left the buffer. */
static void around(MPI_Comm comm, int to, int from, int bytes, int tag) {
    unsigned char* data = malloc((size_t)bytes + 1);
    fill(data, bytes, tag);
    OK(MPI_Send(data, bytes, MPI_BYTE, to, tag, comm));
    memset(data, 0, (size_t)bytes);
    OK(MPI_Recv(data, bytes, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE));
    CHECK(filled(data, bytes, tag));
    OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, from, tag, NULL, 0, MPI_BYTE, to, tag, comm,
                    MPI_STATUS_IGNORE));
    free(data);
}
static void all_sizes(void) {
    const int sizes[] = {0, 1, 33, 8192, 8193, 16384, 16385, 70000, big, 500000};
    for (int i = 0; i < 10; ++i) {
        around(MPI_COMM_WORLD, next, before, sizes[i], i);
        around(MPI_COMM_SELF, 0, 0, sizes[i], i);
    }
}

static void with_gaps(void) {
    MPI_Datatype type;
    OK(MPI_Type_vector(big / 8, 4, 8, MPI_BYTE, &type));
    OK(MPI_Type_commit(&type));
    fill(out, big, 3);
    memset(in, 0, big);
    OK(MPI_Send(out, 1, type, next, 1, MPI_COMM_WORLD));
    memset(out, 0, big);
    OK(MPI_Recv(in, 1, type, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < big - 8; ++i) CHECK(in[i] == (i % 8 < 4 ? (unsigned char)(i * 7 + 3) : 0));
    OK(MPI_Type_free(&type));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Short and long messages with one tag, and sends of both kinds, come in the order of sending. */
static void in_order(void) {
    enum { messages = 12 };
    MPI_Request request;
    MPI_Status status;
    for (int i = 0; i < messages; ++i) {
        const int bytes = i % 3 == 0 ? 10 + i : i % 3 == 1 ? 20000 + i : 90000 + i;
        fill(out, bytes, i);
        OK(MPI_Send(out, bytes, MPI_BYTE, next, 2, MPI_COMM_WORLD));
    }
    fill(out, big, messages);
    OK(MPI_Isend(out, big, MPI_BYTE, next, 2, MPI_COMM_WORLD, &request));
    for (int i = 0; i <= messages; ++i) {
        int bytes = -1;
        OK(MPI_Recv(in, big, MPI_BYTE, before, 2, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
        CHECK(bytes % 10000 == (i == messages ? 0 : i % 3 == 0 ? 10 + i : i));
        CHECK(filled(in, bytes, i));
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Three of four messages fit. The last call waits until one of them is received. It does not wait
 * if there are rings of payload, into which they leave the buffer. */
static void full(int rings) {
    const int last = 3;
    if (rank == 0) {
        for (int i = 0; i <= last; ++i) {
            if (i == last) OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 10, MPI_COMM_WORLD));
            fill(out, big, i);
            OK(MPI_Send(out, big, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
        }
        OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 11, MPI_COMM_WORLD));
    } else if (rank == 1) {
        int flag = 1;
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < 1000; ++i) {
            OK(MPI_Iprobe(0, 11, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            CHECK(rings || !flag);
        }
        for (int i = 0; i <= last; ++i) {
            OK(MPI_Recv(in, big, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(filled(in, big, i));
        }
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* The message is longer than all of the room. */
static void never_fits(void) {
    fill(out, room + 1, 4);
    if (rank == 0) OK(MPI_Send(out, room + 1, MPI_BYTE, 1, 4, MPI_COMM_WORLD));
    if (rank != 1) return;
    OK(MPI_Recv(in, room + 1, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(filled(in, room + 1, 4));
}

/* MPI_Isend copies nothing: its request is complete when the message has been received. */
static void isend_waits(void) {
    MPI_Request request;
    int flag = 1;
    fill(out, big, 5);
    OK(MPI_Isend(out, big, MPI_BYTE, 0, 5, MPI_COMM_SELF, &request));
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Recv(in, big, MPI_BYTE, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(filled(in, big, 5));
}

static void* as_thread(void* number) {
    for (int i = 0; i < 30; ++i) {
        around(MPI_COMM_WORLD, next, before, 20000 + 3000 * i, 100 + (int)(size_t)number);
    }
    return NULL;
}
static void threads(void) {
    enum { count = 3 }; /* two messages of each fit, also if a receiver is late by one */
    pthread_t all[count];
    for (size_t i = 0; i < count; ++i)
        CHECK(pthread_create(&all[i], NULL, as_thread, (void*)i) == 0);
    for (size_t i = 0; i < count; ++i) CHECK(pthread_join(all[i], NULL) == 0);
}

/* The rest that the sender of the first message leaves in the buffer comes while it is in
 * MPI_Finalize. */
static void end(void) {
    if (rank == 0 && size > 1) {
        fill(out, big, 6);
        for (int i = 0; i < 2; ++i) OK(MPI_Send(out, big, MPI_BYTE, 1, 6, MPI_COMM_WORLD));
        memset(out, 0, big);
    } else if (rank == 1) {
        usleep(50000); /* time for a sender that does not wait to be gone */
        for (int i = 0; i < 2; ++i) {
            memset(in, 0, big);
            OK(MPI_Recv(in, big, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(filled(in, big, 6));
        }
    }
    OK(MPI_Finalize());
}

/* There is room in the buffer, but no memory: the call waits. */
static void no_memory(void) {
    struct rlimit limit;
    long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (30 << 20);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    fill(out_of_huge, huge, 1);
    if (rank == 0) OK(MPI_Send(out_of_huge, huge, MPI_BYTE, 1, 7, MPI_COMM_WORLD));
    if (rank == 1) {
        OK(MPI_Recv(in_of_huge, huge, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(filled(in_of_huge, huge, 1));
    }
    OK(MPI_Finalize());
}

int main(int argc, char** argv) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    if (argc > 1 && strcmp(argv[1], "no_memory") == 0) {
        no_memory();
        return 0;
    }
    all_sizes();
    with_gaps();
    in_order();
    if (size > 1) {
        full(!(argc > 1 && strcmp(argv[1], "no_rings") == 0));
        never_fits();
    }
    isend_waits();
    threads();
    end();
    return 0;
}
