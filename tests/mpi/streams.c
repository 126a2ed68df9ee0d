/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that go through rings of payload (node/payload_ring.hpp). Every size and layout arrives
 * as it was sent. It makes no difference what the receiver does meanwhile, and which unreceived
 * messages lie in the ring. */
#include "check.h"

enum {
    SMALL = 3000,    /* in one piece */
    MEDIUM = 50000,  /* several pieces */
    LARGE = 9000000, /* more than a ring holds */
    WARM = 60,       /* messages after which a channel has its ring */
    WINDOW = 80,
    GO = 99
};
static int rank, peer;
static unsigned char *out, *in;

static unsigned char byte_of(int number, long at) {
    return (unsigned char)(number * 37 + at * 11 + at / 251);
}
static void fill(unsigned char* data, long bytes, int number) {
    for (long at = 0; at < bytes; ++at) data[at] = byte_of(number, at);
}
static void check(const unsigned char* data, long bytes, int number) {
    for (long at = 0; at < bytes; ++at) CHECK(data[at] == byte_of(number, at));
}
static void send(long bytes, int tag, int number) {
    fill(out, bytes, number);
    OK(MPI_Send(out, (int)bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD));
}
static void receive(long bytes, int tag, int number) {
    MPI_Status status;
    int count;
    memset(in, 0, (size_t)bytes);
    OK(MPI_Recv(in, (int)bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(count == bytes && status.MPI_TAG == (tag == MPI_ANY_TAG ? status.MPI_TAG : tag));
    check(in, bytes, number);
}
static void tell(void) { OK(MPI_Send(NULL, 0, MPI_BYTE, peer, GO, MPI_COMM_WORLD)); }
static void hear(void) {
    OK(MPI_Recv(NULL, 0, MPI_BYTE, peer, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void compute(double seconds) {
    const double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end) continue;
}

static void every_size(int tag) {
    for (int i = 0; i < WARM; ++i) rank == 0 ? send(SMALL, tag, i) : receive(SMALL, tag, i);
    for (long bytes = 1; bytes < 3 * LARGE; bytes = bytes * 3 + 1)
        for (int i = 0; i < 4; ++i) rank == 0 ? send(bytes, tag, i) : receive(bytes, tag, i);
}

/* The first messages are received after the last have come. */
static void last_first(int tag) {
    MPI_Request requests[WINDOW];
    if (rank == 0) {
        for (int i = 0; i < WINDOW; ++i) {
            fill(out + (long)i * MEDIUM, MEDIUM, i);
            OK(MPI_Isend(out + (long)i * MEDIUM, MEDIUM, MPI_BYTE, peer, tag + 64 * i,
                         MPI_COMM_WORLD, &requests[i]));
        }
        OK(MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE));
    } else {
        for (int i = WINDOW - 1; i >= 0; --i) receive(MEDIUM, tag + 64 * i, i);
    }
}

/* The messages have one tag, so that all go through one ring; two communicators tell them apart. */
static void past_what_nobody_receives(int tag) {
    MPI_Comm other;
    MPI_Request requests[WINDOW];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    if (rank == 0) {
        for (int i = 0; i < WINDOW; ++i) fill(out + (long)i * MEDIUM, MEDIUM, i);
        for (int i = 0; i < WINDOW; ++i)
            OK(MPI_Isend(out + (long)i * MEDIUM, MEDIUM, MPI_BYTE, peer, tag,
                         i % 2 ? other : MPI_COMM_WORLD, &requests[i]));
        OK(MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE));
    } else {
        for (int i = 1; i < WINDOW; i += 2) {
            OK(MPI_Recv(in, MEDIUM, MPI_BYTE, peer, tag, other, MPI_STATUS_IGNORE));
            check(in, MEDIUM, i);
        }
        for (int i = 0; i < WINDOW; i += 2) receive(MEDIUM, i % 4 ? tag : MPI_ANY_TAG, i);
    }
    OK(MPI_Comm_free(&other));
}

/* Neither rank waits for the other's computing once the payload may be read. */
static void one_computes(int tag) {
    MPI_Request request;
    for (int i = 0; i < 6; ++i) {
        if (rank == 0) {
            fill(out, LARGE, i);
            OK(MPI_Isend(out, LARGE, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request));
            if (i % 2 == 0) compute(0.02);
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            hear();
        } else {
            OK(MPI_Irecv(in, LARGE, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request));
            if (i % 2 == 1) compute(0.02);
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            check(in, LARGE, i);
            tell();
        }
    }
}

static void both_send(int tag) {
    for (int i = 0; i < 5; ++i) {
        fill(out, LARGE, 2 * i + rank);
        OK(MPI_Sendrecv(out, LARGE, MPI_BYTE, peer, tag, in, LARGE, MPI_BYTE, peer, tag,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(in, LARGE, 2 * i + peer);
    }
}

/* A receive that is too short gets a part, and the ring is free for the next messages. */
static void too_short(int tag) {
    static const long lengths[] = {SMALL, MEDIUM, LARGE};
    for (int i = 0; i < 30; ++i) {
        const long bytes = lengths[i % 3], room = i % 2 ? bytes / 3 : 0;
        if (rank == 0) {
            send(bytes, tag, i);
            send(bytes, tag, i + 1);
        } else {
            OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
            FAILS(MPI_Recv(in, (int)room, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                  MPI_ERR_TRUNCATE);
            OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
            check(in, room, i);
            receive(bytes, tag, i + 1);
        }
    }
}

static void synchronous(int tag) {
    for (int i = 0; i < 6; ++i) {
        const long bytes = i % 2 ? LARGE : MEDIUM;
        if (rank == 0) {
            MPI_Request request;
            int done = 0;
            fill(out, bytes, i);
            OK(MPI_Issend(out, (int)bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request));
            for (int look = 0; look < 200; ++look) {
                OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
                CHECK(!done);
            }
            tell();
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            hear();
            receive(bytes, tag, i);
        }
    }
}

/* Sends every third of so many bytes, with gaps on one side or on both. */
static void with_gaps(int tag) {
    MPI_Datatype gaps;
    for (int i = 0; i < 12; ++i) {
        const int bytes = i % 3 == 0 ? SMALL : i % 3 == 1 ? MEDIUM : LARGE / 4;
        const int wide_out = i % 2, wide_in = i / 2 % 2;
        OK(MPI_Type_vector(bytes, 1, 3, MPI_BYTE, &gaps));
        OK(MPI_Type_commit(&gaps));
        if (rank == 0) {
            for (long at = 0; at < bytes; ++at) out[wide_out ? 3 * at : at] = byte_of(i, at);
            OK(MPI_Send(out, wide_out ? 1 : bytes, wide_out ? gaps : MPI_BYTE, peer, tag,
                        MPI_COMM_WORLD));
        } else {
            memset(in, 0, 3 * (size_t)bytes);
            OK(MPI_Recv(in, wide_in ? 1 : bytes, wide_in ? gaps : MPI_BYTE, peer, tag,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (long at = 0; at < bytes; ++at) CHECK(in[wide_in ? 3 * at : at] == byte_of(i, at));
            if (wide_in)
                for (long at = 0; at + 1 < bytes; ++at)
                    CHECK(in[3 * at + 1] == 0 && in[3 * at + 2] == 0);
        }
        OK(MPI_Type_free(&gaps));
    }
}

/* The message is probed, with a wildcard, and taken by the message handle. */
static void probed(int tag) {
    for (int i = 0; i < 12; ++i) {
        const long bytes = i % 3 == 0 ? SMALL : i % 3 == 1 ? MEDIUM : LARGE;
        if (rank == 0) {
            send(bytes, tag, i);
        } else {
            MPI_Message message;
            MPI_Status status;
            int count;
            OK(MPI_Mprobe(MPI_ANY_SOURCE, i % 2 ? MPI_ANY_TAG : tag, MPI_COMM_WORLD, &message,
                          &status));
            OK(MPI_Get_count(&status, MPI_BYTE, &count));
            CHECK(count == bytes);
            OK(MPI_Mrecv(in, count, MPI_BYTE, &message, MPI_STATUS_IGNORE));
            check(in, bytes, i);
        }
    }
}

int main(int argc, char** argv) {
    int size;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(size == 2);
    peer = 1 - rank;
    out = malloc(3 * (size_t)LARGE + 1);
    in = malloc(3 * (size_t)LARGE + 1);
    static void (*const parts[])(int) = {every_size,   last_first, past_what_nobody_receives,
                                         one_computes, both_send,  too_short,
                                         synchronous,  with_gaps,  probed};
    for (int round = 0; round < 2; ++round)
        for (unsigned i = 0; i < sizeof parts / sizeof *parts; ++i) {
            parts[i](7);
            OK(MPI_Barrier(MPI_COMM_WORLD));
        }
    /* The message stays in the ring when the job ends. */
    if (rank == 0) send(SMALL, 8, 0);
    free(out);
    free(in);
    OK(MPI_Finalize());
    return 0;
}
