/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are not received yet hold a bounded amount of the receiver's memory
 * (HEDDLE_UNEXPECTED_LIMIT, here LIMIT). They come in their order all the same. Once they have been
 * received, others go at once. */
#include "check.h"

#include <sched.h>

enum {
    LIMIT = 1000000,
    MESSAGES = 20000, /* of one sender: many times the limit */
    TAGS = 7,
    LARGEST = 6000,
    ENTRY = 512, /* more than a message holds besides its payload */
    RING = 512,  /* messages that may be under way from an instance of a sender */
    QUIET = 20000,
    LAST_TAG = 99
};

static int rank, size;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle held, withheld;

static MPI_T_pvar_handle open_pvar(const char* name, int class) {
    MPI_T_pvar_handle handle;
    int index = -1, count = -1;
    OK(MPI_T_pvar_get_index(name, class, &index));
    OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    return handle;
}

static unsigned long long value_of(MPI_T_pvar_handle handle) {
    unsigned long long value = ~0ull;
    OK(MPI_T_pvar_read(session, handle, &value));
    return value;
}

/* Returns the bytes of message i: from 0 to more than a ring's cell takes, and more than an entry
 * keeps. */
static int bytes_of(int i) {
    static const int bytes[] = {0, 8, 40, 100, 1000, LARGEST};
    return bytes[i % 6];
}

static void fill(unsigned char* data, int i) {
    for (int at = 0; at < bytes_of(i); ++at) data[at] = (unsigned char)(i + at);
}

/* Receives all in the order of sending: a sender that waits for its payload to be taken sends
 * nothing after it. */
static void receive_all(int source) {
    static unsigned char data[LARGEST], expected[LARGEST];
    for (int i = 0; i < MESSAGES; ++i) {
        MPI_Status status;
        int bytes = -1;
        OK(MPI_Recv(data, LARGEST, MPI_BYTE, source, i % 3 == 0 ? MPI_ANY_TAG : i % TAGS,
                    MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
        CHECK(bytes == bytes_of(i) && status.MPI_TAG == i % TAGS);
        fill(expected, i);
        CHECK(memcmp(data, expected, (size_t)bytes) == 0);
    }
}

/* Makes progress until the limit is passed and no more messages come: all have come, or senders
 * wait. */
static unsigned long long let_come(MPI_Request* request) {
    unsigned long long level = 0;
    for (int quiet = 0; quiet < QUIET; ++quiet) {
        int done;
        OK(MPI_Test(request, &done, MPI_STATUS_IGNORE));
        CHECK(!done);
        const unsigned long long now = value_of(held);
        if (now != level || now <= LIMIT) quiet = 0;
        level = now;
        sched_yield();
    }
    return level;
}

static void blocking_sends(void) {
    static unsigned char data[LARGEST];
    MPI_Request last;
    if (rank == 0) {
        OK(MPI_Irecv(NULL, 0, MPI_BYTE, 1, LAST_TAG, MPI_COMM_WORLD, &last));
        const unsigned long long level = let_come(&last);
        CHECK(level < LIMIT + (size - 1ull) * TAGS * RING * (ENTRY + 64));
        for (int source = 1; source < size; ++source) receive_all(source);
        OK(MPI_Wait(&last, MPI_STATUS_IGNORE));
        CHECK(value_of(held) <= 4 * ENTRY); /* messages of a collective call may be there */
        return;
    }
    for (int i = 0; i < MESSAGES; ++i) {
        fill(data, i);
        OK(MPI_Send(data, bytes_of(i), MPI_BYTE, 0, i % TAGS, MPI_COMM_WORLD));
    }
    CHECK(value_of(withheld) > 0);
    if (rank == 1) OK(MPI_Send(NULL, 0, MPI_BYTE, 0, LAST_TAG, MPI_COMM_WORLD));
}

/* Nonblocking sends cost the receiver an entry each, also if sender and receiver are one rank. */
static void nonblocking_sends(int from, int synchronous) {
    static unsigned char data[LARGEST], got[LARGEST];
    static MPI_Request sends[MESSAGES];
    MPI_Request never;
    memset(data, 'x', sizeof data);
    if (rank == from)
        for (int i = 0; i < MESSAGES; ++i)
            OK((synchronous ? MPI_Issend : MPI_Isend)(data, LARGEST, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
                                                      &sends[i]));
    if (rank == 0) {
        OK(MPI_Irecv(NULL, 0, MPI_BYTE, 0, LAST_TAG, MPI_COMM_WORLD, &never));
        const unsigned long long level = let_come(&never);
        CHECK(level < LIMIT + MESSAGES * (unsigned long long)ENTRY + RING * LARGEST);
        for (int i = 0; i < MESSAGES; ++i) {
            got[LARGEST - 1] = 0;
            OK(MPI_Recv(got, LARGEST, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(got[LARGEST - 1] == 'x');
        }
        OK(MPI_Cancel(&never));
        OK(MPI_Wait(&never, MPI_STATUS_IGNORE));
        CHECK(value_of(held) <= 4 * ENTRY);
    }
    if (rank == from) OK(MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE));
}

/* Afterwards a few unexpected messages go at once, whatever either rank waits for. */
static void afterwards(void) {
    enum { FEW = 300 };
    const unsigned long long before = value_of(withheld);
    int other = rank ^ 1, data = rank;
    if (other >= size) return;
    for (int i = 0; i < FEW; ++i) OK(MPI_Send(&data, 1, MPI_INT, other, 5, MPI_COMM_WORLD));
    for (int i = 0; i < FEW; ++i) {
        OK(MPI_Recv(&data, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(data == other);
        data = rank;
    }
    CHECK(value_of(withheld) == before);
}

int main(void) {
    int provided;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    start(&rank, &size, MPI_THREAD_SINGLE);
    OK(MPI_T_pvar_session_create(&session));
    held = open_pvar("unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL);
    withheld = open_pvar("withheld", MPI_T_PVAR_CLASS_COUNTER);
    for (int round = 0; round < 2; ++round) {
        blocking_sends();
        OK(MPI_Barrier(MPI_COMM_WORLD));
        afterwards();
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int synchronous = 0; synchronous < 2; ++synchronous)
            for (int from = 0; from < 2; ++from) {
                nonblocking_sends(from, synchronous);
                OK(MPI_Barrier(MPI_COMM_WORLD));
            }
    }
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    OK(MPI_Finalize());
    return 0;
}
