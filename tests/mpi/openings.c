/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI is opened again after its last user has left, as the first argument says.
     again N   N openings. In each, odd ranks have two sessions that overlap. In between the world
               model is used.
     storm N   N openings. In each, all ranks send to all at once. They leave no descriptors behind.
     absent N  the last rank stays away for N seconds, in which the others wait for it.
     early     a message of the world model comes while its receiver has a session. MPI is closed
               before it is received.
     abort N   the last rank aborts with that code in the second opening.
     leave N   the last N ranks end after the first opening. The others go on, beyond the time after
               which silent ranks are called. */
#include <mpi.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { large = 1 << 18 };

static int rank, size;

static void expect(int holds, const char* what, int line) {
    if (holds) return;
    fprintf(stderr, "rank %d, line %d: not true: %s\n", rank, line, what);
    fflush(stderr);
    _exit(3);
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)
#define OK(call) expect((call) == MPI_SUCCESS, #call, __LINE__)

struct opened {
    MPI_Session session;
    MPI_Comm comm;
};

static MPI_Comm comm_of(MPI_Session session, int count, const char* what, int number) {
    char tag[64];
    MPI_Group world, group;
    MPI_Comm comm;
    int first_ranks[1][3] = {{0, count - 1, 1}};
    snprintf(tag, sizeof tag, "%s %d", what, number);
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    OK(MPI_Group_size(world, &size));
    OK(MPI_Group_rank(world, &rank));
    if (count == 0) first_ranks[0][1] = size - 1;
    OK(MPI_Group_range_incl(world, 1, first_ranks, &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
    return comm;
}

/* Opens a session and a communicator of the first `count` ranks; 0 means all. */
static struct opened open_one(int count, const char* what, int number) {
    struct opened it;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &it.session));
    it.comm = comm_of(it.session, count, what, number);
    return it;
}

static void close_one(struct opened* it) {
    OK(MPI_Comm_free(&it->comm));
    OK(MPI_Session_finalize(&it->session));
}

/* Exchanges a small and a large message with every rank, in both directions. */
static void exchange(MPI_Comm comm, int number) {
    static int out[large], in[large];
    int me, ranks;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &ranks);
    for (int step = 0; step < ranks; ++step) {
        const int to = (me + step) % ranks, from = (me + ranks - step) % ranks;
        for (int count = 1; count <= large; count += large - 1) {
            out[0] = number * 1000 + me;
            out[count - 1] = out[0];
            OK(MPI_Sendrecv(out, count, MPI_INT, to, number, in, count, MPI_INT, from, number, comm,
                            MPI_STATUS_IGNORE));
            EXPECT(in[0] == number * 1000 + from && in[count - 1] == in[0]);
        }
    }
    OK(MPI_Allreduce(&number, in, 1, MPI_INT, MPI_MAX, comm));
    EXPECT(in[0] == number);
}

static void again(int openings) {
    for (int i = 0; i < openings; ++i) {
        struct opened first = open_one(0, "first", i), second = {MPI_SESSION_NULL, MPI_COMM_NULL};
        exchange(first.comm, i);
        if (rank % 2 == 1)
            second = open_one(0, "second", i);
        else
            second.comm = comm_of(first.session, 0, "second", i);
        if (rank % 2 == 1) close_one(&first);
        exchange(second.comm, i);
        if (rank % 2 == 1) {
            close_one(&second);
        } else {
            OK(MPI_Comm_free(&second.comm));
            close_one(&first);
        }
        if (i != openings / 2) continue;
        OK(MPI_Init(NULL, NULL));
        exchange(MPI_COMM_WORLD, i);
        OK(MPI_Finalize());
    }
}

static int descriptors(void) {
    DIR* const folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder) != NULL) ++count;
    closedir(folder);
    return count;
}

static void storm(int openings) {
    int after_first = 0;
    for (int i = 0; i < openings; ++i) {
        struct opened it = open_one(0, "storm", i);
        int out[1000], in[1000];
        for (int to = 0; to < size; ++to) out[to] = 1000 * rank + to + i;
        OK(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, it.comm));
        for (int from = 0; from < size; ++from) EXPECT(in[from] == 1000 * from + rank + i);
        /* Every pair is connected. */
        OK(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, it.comm));
        close_one(&it);
        if (i == 0) after_first = descriptors();
    }
    /* Two ranks that call each other at once may have had two connections. */
    EXPECT(descriptors() <= after_first + 2 * size);
}

static void be_absent(unsigned seconds) {
    struct opened it = open_one(0, "absent", 0);
    exchange(it.comm, 0);
    close_one(&it);
    if (rank == size - 1) sleep(seconds);
    it = open_one(0, "absent", 1);
    exchange(it.comm, 1);
    close_one(&it);
}

static void send_early(void) {
    struct opened it = open_one(0, "early", 0);
    int value = 41, there = 0, told = 0;
    if (rank == 0) {
        OK(MPI_Init(NULL, NULL));
        for (int to = 1; to < size; ++to) OK(MPI_Send(&value, 1, MPI_INT, to, 7, MPI_COMM_WORLD));
        for (int to = 1; to < size; ++to) OK(MPI_Send(&value, 1, MPI_INT, to, 8, it.comm));
    } else {
        OK(MPI_Recv(&told, 1, MPI_INT, 0, 8, it.comm, MPI_STATUS_IGNORE));
        /* The calls take in all messages that have come. */
        for (int i = 0; i < 1000; ++i)
            OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, it.comm, &there, MPI_STATUS_IGNORE));
    }
    close_one(&it);
    if (rank != 0) {
        OK(MPI_Init(NULL, NULL));
        value = 0;
        OK(MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EXPECT(value == 41);
    }
    OK(MPI_Finalize());
}

static void give_up(int code) {
    struct opened it = open_one(0, "abort", 0);
    close_one(&it);
    it = open_one(0, "abort", 1);
    exchange(it.comm, 1);
    if (rank == size - 1) MPI_Abort(it.comm, code);
    OK(MPI_Recv(&code, 1, MPI_INT, size - 1, 9, it.comm, MPI_STATUS_IGNORE));
}

static void leave(int count) {
    struct opened it = open_one(0, "leave", 0);
    exchange(it.comm, 0);
    close_one(&it);
    if (rank >= size - count) return;
    const time_t begin = time(NULL);
    for (int i = 1, on = 1; on; ++i) {
        it = open_one(size - count, "leave", i);
        exchange(it.comm, i);
        on = time(NULL) - begin < 4;
        OK(MPI_Bcast(&on, 1, MPI_INT, 0, it.comm));
        close_one(&it);
    }
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "again";
    const int number = argc > 2 ? atoi(argv[2]) : 10;
    if (strcmp(what, "again") == 0) again(number);
    if (strcmp(what, "storm") == 0) storm(number);
    if (strcmp(what, "absent") == 0) be_absent((unsigned)number);
    if (strcmp(what, "early") == 0) send_early();
    if (strcmp(what, "abort") == 0) give_up(number);
    if (strcmp(what, "leave") == 0) leave(number);
    return 0;
}
