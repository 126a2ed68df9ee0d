/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks on several hosts communicate as the first argument says. A wrong value ends the job.
     ring     a token goes around, in messages of 0 to 4 MiB.
     all      every rank sends to every rank, and collectives.
     many     all ranks send to the first at once, 0 bytes to 64 KiB; then collectives in which some
              ranks receive from many.
     threads  four threads of each rank exchange messages with the next rank, each with a tag of its
              own.
     dups     thousands of communicators are made and freed, with a message around each.
     large    every rank says "under way", and exchanges large messages with one of another host for
              ever.
     stuck    every rank but the first waits for a message that the first never sends. */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void demand(int holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void fill(unsigned char* data, int bytes, int seed) {
    for (int i = 0; i < bytes; ++i) data[i] = (unsigned char)(i * 31 + seed);
}

static void check(const unsigned char* data, int bytes, int seed) {
    for (int i = 0; i < bytes; ++i)
        if (data[i] != (unsigned char)(i * 31 + seed)) demand(0, "a byte is another");
}

static void go_around(void) {
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    unsigned char* out = malloc(4 << 20);
    unsigned char* in = malloc(4 << 20);
    for (int bytes = 0; bytes <= 4 << 20; bytes = bytes == 0 ? 1 : bytes * 8) {
        MPI_Status status;
        int count = -1;
        fill(out, bytes, rank + bytes);
        MPI_Sendrecv(out, bytes, MPI_BYTE, next, 1, in, 4 << 20, MPI_BYTE, before, 1,
                     MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        demand(count == bytes && status.MPI_SOURCE == before, "a status is another");
        check(in, bytes, before + bytes);
    }
    free(out);
    free(in);
}

static void all_to_all(void) {
    int* out = malloc((size_t)size * 1000 * sizeof *out);
    int* in = malloc((size_t)size * 1000 * sizeof *in);
    for (int i = 0; i < size * 1000; ++i) out[i] = rank * 1000000 + i;
    MPI_Alltoall(out, 1000, MPI_INT, in, 1000, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size * 1000; ++i)
        demand(in[i] == i / 1000 * 1000000 + rank * 1000 + i % 1000,
               "a number of MPI_Alltoall is another");
    int sum = 0, one = rank + 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    demand(sum == size * (size + 1) / 2, "the sum is another");
    MPI_Bcast(out, 1000, MPI_INT, size - 1, MPI_COMM_WORLD);
    demand(out[7] == (size - 1) * 1000000 + 7, "what was broadcast is another");
    MPI_Barrier(MPI_COMM_WORLD);
    /* The receives take any source and any tag. */
    for (int to = 0; to < size; ++to)
        if (to != rank) MPI_Send(&rank, 1, MPI_INT, to, 10 + rank, MPI_COMM_WORLD);
    for (int i = 1; i < size; ++i) {
        MPI_Status status;
        int from = -1;
        MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        demand(status.MPI_SOURCE == from && status.MPI_TAG == 10 + from,
               "a message is of another rank");
    }
    free(out);
    free(in);
}

enum { window = 16, most = 60000 };
static const int lengths[] = {0, 8, 500, 3000, 16000, 30000, most};
static const int count_of_lengths = sizeof lengths / sizeof lengths[0];

static int length_of(int message) { return lengths[message * 5 % count_of_lengths]; }

static void receive_from_many(int each) {
    unsigned char* in = malloc(most);
    int* next = calloc((size_t)size, sizeof *next);
    for (long left = (long)(size - 1) * each; left > 0; --left) {
        MPI_Status status;
        int count = -1;
        MPI_Recv(in, most, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        const int from = status.MPI_SOURCE, message = next[from]++;
        demand(count == length_of(message), "a message is shorter or longer");
        check(in, count, from * 37 + message);
    }
    free(next);
    free(in);
}

static void send_to_one(int each) {
    unsigned char* out = malloc((size_t)window * most);
    MPI_Request requests[window];
    for (int sent = 0; sent < each; sent += window) {
        const int now = each - sent < window ? each - sent : window;
        for (int i = 0; i < now; ++i) {
            unsigned char* begin = out + (size_t)i * most;
            fill(begin, length_of(sent + i), rank * 37 + sent + i);
            MPI_Isend(begin, length_of(sent + i), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(now, requests, MPI_STATUSES_IGNORE);
    }
    free(out);
}

/* Sends from every rank to every rank, and from all to one. */
static void collect(int bytes, int round) {
    unsigned char* out = malloc((size_t)size * bytes + 1);
    unsigned char* in = malloc((size_t)size * bytes + 1);
    for (int to = 0; to < size; ++to) fill(out + (size_t)to * bytes, bytes, rank * 7 + to + round);
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int from = 0; from < size; ++from)
        check(in + (size_t)from * bytes, bytes, from * 7 + rank + round);
    const int root = round % size;
    fill(out, bytes, rank * 11 + round);
    MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int from = 0; from < size && rank == root; ++from)
        check(in + (size_t)from * bytes, bytes, from * 11 + round);
    MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int from = 0; from < size; ++from)
        check(in + (size_t)from * bytes, bytes, from * 11 + round);
    free(out);
    free(in);
}

static void many_to_one(void) {
    const int each = 2000 / size;
    if (rank == 0)
        receive_from_many(each);
    else
        send_to_one(each);
    for (int round = 0; round < 12; ++round) collect(lengths[round % count_of_lengths], round);
    collect(1 << 20, size);
}

static void* exchange(void* argument) {
    const int tag = *(int*)argument;
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < 200; ++i) {
        int got = -1, value = i * 4 + tag;
        MPI_Sendrecv(&value, 1, MPI_INT, next, tag, &got, 1, MPI_INT, before, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        demand(got == value, "a thread has got another's message");
    }
    return NULL;
}

static void with_threads(void) {
    pthread_t threads[4];
    int tags[4];
    for (int i = 0; i < 4; ++i) {
        tags[i] = i;
        pthread_create(&threads[i], NULL, exchange, &tags[i]);
    }
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}

static void make_and_free(void) {
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < 1500; ++i) {
        MPI_Comm made;
        int got = -1;
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        MPI_Sendrecv(&i, 1, MPI_INT, next, 3, &got, 1, MPI_INT, before, 3, made, MPI_STATUS_IGNORE);
        demand(got == i, "a communicator has got another's message");
        MPI_Comm_free(&made);
    }
}

static void exchange_large(void) {
    const int partner = (rank + size / 2) % size;
    unsigned char* out = malloc(8 << 20);
    unsigned char* in = malloc(8 << 20);
    fill(out, 8 << 20, rank);
    for (int round = 0;; ++round) {
        const int bytes = (1 << 20) + round % 8 * 1000003 % (7 << 20);
        memset(in, 0, (size_t)bytes);
        MPI_Sendrecv(out, bytes, MPI_BYTE, partner, 2, in, bytes, MPI_BYTE, partner, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(in, bytes, partner);
        if (round != 3) continue;
        printf("rank %d is under way\n", rank);
        fflush(stdout);
    }
}

static void wait_for_the_first(void) {
    if (rank != 0) MPI_Recv(NULL, 0, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (;;) pause();
}

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char* what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "ring") == 0) go_around();
    if (strcmp(what, "all") == 0) all_to_all();
    if (strcmp(what, "many") == 0) many_to_one();
    if (strcmp(what, "threads") == 0) with_threads();
    if (strcmp(what, "dups") == 0) make_and_free();
    if (strcmp(what, "large") == 0) exchange_large();
    if (strcmp(what, "stuck") == 0) wait_for_the_first();
    MPI_Finalize();
    printf("rank %d has done %s\n", rank, what);
    return 0;
}
