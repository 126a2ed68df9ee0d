/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of derived datatypes: one layout sends and another receives, on every path of a message.
   After packing by MPI_Pack, both sides must have the same bytes. */

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { kinds = 5, room = 8 << 20 };

static int rank, ranks;

/* Returns a committed layout of n ints; `way` 0 is the plain one. */
static MPI_Datatype layout(int way, int n) {
    MPI_Datatype type, inner;
    switch (way) {
        case 0: MPI_Type_contiguous(n, MPI_INT, &type); break;
        case 1: MPI_Type_vector(n, 1, 3, MPI_INT, &type); break;
        case 2: {
            int lengths[3] = {n / 4, n / 2, n - n / 4 - n / 2};
            int places[3] = {n, 0, 3 * n};
            MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
            break;
        }
        case 3: {
            /* Ints with gaps behind them, in reverse order. */
            MPI_Type_create_resized(MPI_INT, 0, 12, &inner);
            MPI_Type_create_hvector(n, 1, -12, inner, &type);
            MPI_Type_free(&inner);
            break;
        }
        default: {
            /* The data lies at an absolute address. */
            int length = n;
            MPI_Aint place = 40;
            MPI_Type_create_hindexed(1, &length, &place, MPI_INT, &type);
        }
    }
    MPI_Type_commit(&type);
    return type;
}

static int *out_memory, *in_memory;

static char* buffer_of(int* memory, int way) { return (char*)memory + (way == 3 ? room / 2 : 0); }

static void fill(int way, int n, int seed) {
    for (int i = 0; i < room / 4; ++i) out_memory[i] = i * 7 + seed;
    memset(in_memory, 0x5a, room);
    (void)way, (void)n;
}

static void* packed(const char* data, MPI_Datatype type, int* bytes) {
    MPI_Pack_size(1, type, MPI_COMM_WORLD, bytes);
    char* place = malloc(*bytes > 0 ? *bytes : 1);
    int position = 0;
    MPI_Pack(data, 1, type, place, *bytes, &position, MPI_COMM_WORLD);
    CHECK(position == *bytes);
    return place;
}

/* Checks the data received, and that no other memory was touched. */
static void check_received(MPI_Datatype sent, int out_way, MPI_Datatype received, int in_way) {
    int wanted_bytes, bytes;
    char* wanted = packed(buffer_of(out_memory, out_way), sent, &wanted_bytes);
    char* got = packed(buffer_of(in_memory, in_way), received, &bytes);
    CHECK(bytes == wanted_bytes && memcmp(wanted, got, bytes) == 0);
    char* blank = malloc(bytes > 0 ? bytes : 1);
    memset(blank, 0x5a, bytes);
    int position = 0;
    MPI_Unpack(blank, bytes, &position, buffer_of(in_memory, in_way), 1, received, MPI_COMM_WORLD);
    int touched = 0;
    for (int i = 0; i < room / 4; ++i) touched += in_memory[i] != 0x5a5a5a5a;
    CHECK(touched == 0);
    free(wanted), free(got), free(blank);
}

enum { standard, synchronous, nonblocking, persistent, buffered, matched, both_ways, modes };

/* Sends to `to` and receives from `from`. */
static void pass(int mode, int n, int out_way, int in_way, int to, int from) {
    MPI_Datatype sent = layout(out_way, n), received = layout(in_way, n);
    fill(out_way, n, rank);
    char *out = buffer_of(out_memory, out_way), *in = buffer_of(in_memory, in_way);
    MPI_Request requests[2];
    MPI_Status status;
    int count;
    if (mode == persistent) {
        MPI_Recv_init(in, 1, received, from, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Send_init(out, 1, sent, to, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Datatype a = sent, b = received;
        MPI_Type_free(&a), MPI_Type_free(&b);
        sent = layout(out_way, n), received = layout(in_way, n);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Request_free(&requests[0]), MPI_Request_free(&requests[1]);
    } else if (mode == matched) {
        MPI_Message message;
        MPI_Isend(out, 1, sent, to, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Mprobe(from, 3, MPI_COMM_WORLD, &message, &status);
        MPI_Get_elements(&status, received, &count);
        CHECK(count == n);
        MPI_Mrecv(in, 1, received, &message, &status);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else if (mode == both_ways) {
        MPI_Sendrecv(out, 1, sent, to, 3, in, 1, received, from, 3, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, received, &count);
        CHECK(count == (n > 0 ? 1 : 0) || n == 0);
    } else {
        MPI_Irecv(in, 1, received, from, 3, MPI_COMM_WORLD, &requests[0]);
        requests[1] = MPI_REQUEST_NULL;
        if (mode == standard)
            MPI_Send(out, 1, sent, to, 3, MPI_COMM_WORLD);
        else if (mode == synchronous)
            MPI_Ssend(out, 1, sent, to, 3, MPI_COMM_WORLD);
        else if (mode == buffered)
            MPI_Bsend(out, 1, sent, to, 3, MPI_COMM_WORLD);
        else
            MPI_Isend(out, 1, sent, to, 3, MPI_COMM_WORLD, &requests[1]);
        /* The types live as long as an operation needs them. */
        MPI_Datatype a = sent, b = received;
        MPI_Type_free(&a), MPI_Type_free(&b);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        sent = layout(out_way, n), received = layout(in_way, n);
    }
    for (int i = 0; i < room / 4; ++i) out_memory[i] = i * 7 + from; /* the data of `from` */
    check_received(sent, out_way, received, in_way);
    MPI_Type_free(&sent), MPI_Type_free(&received);
}

static void replace(int n, int way, int to, int from) {
    MPI_Datatype type = layout(way, n);
    fill(way, n, rank);
    memcpy(in_memory, out_memory, room);
    MPI_Sendrecv_replace(buffer_of(in_memory, way), 1, type, to, 4, from, 4, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    for (int i = 0; i < room / 4; ++i) out_memory[i] = i * 7 + from;
    int bytes;
    char* wanted = packed(buffer_of(out_memory, way), type, &bytes);
    char* got = packed(buffer_of(in_memory, way), type, &bytes);
    CHECK(memcmp(wanted, got, bytes) == 0);
    free(wanted), free(got);
    MPI_Type_free(&type);
}

/* Tests absolute addresses, and a message that is too long. */
static void corners(int to, int from) {
    int value = rank, got = -1, length = 1;
    MPI_Aint place;
    MPI_Datatype type;
    MPI_Get_address(&got, &place);
    MPI_Type_create_hindexed(1, &length, &place, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Request request;
    MPI_Irecv(MPI_BOTTOM, 1, type, from, 5, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_INT, to, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == from);
    MPI_Type_free(&type);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int n = 10; n < 200000; n *= 100) {
        MPI_Datatype large = layout(1, n), small = layout(1, n / 2);
        fill(1, n, rank);
        MPI_Irecv(in_memory, 1, small, from, 6, MPI_COMM_WORLD, &request);
        MPI_Send(out_memory, 1, large, to, 6, MPI_COMM_WORLD);
        const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
        int class;
        MPI_Error_class(error, &class);
        CHECK(class == MPI_ERR_TRUNCATE);
        CHECK(in_memory[3 * (n / 2 - 1)] == 3 * (n / 2 - 1) * 7 + from);
        CHECK(in_memory[3 * (n / 2)] == 0x5a5a5a5a);
        MPI_Type_free(&large), MPI_Type_free(&small);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Tests displacements that are addresses, from MPI_BOTTOM, in a ring with neighbours left and
 * right. */
static void addresses(int right, int left) {
    enum { most = 8 };
    int in[2] = {-1, -1}, out[2] = {2 * rank, 2 * rank + 1}, everyone[most], periodic = 1;
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
    const int counts[] = {1, 1};
    const MPI_Datatype types[] = {MPI_INT, MPI_INT};
    MPI_Aint from[2], to[2];
    for (int i = 0; i < 2; ++i) MPI_Get_address(&out[i], &from[i]), MPI_Get_address(&in[i], &to[i]);
    MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, from, types, MPI_BOTTOM, counts, to, types, ring);
    CHECK(in[0] == 2 * left + 1 && in[1] == 2 * right);
    MPI_Comm_free(&ring);

    MPI_Count ones[most];
    MPI_Aint here[most], there[most];
    MPI_Datatype ints[most];
    CHECK(ranks <= most);
    for (int r = 0; r < ranks; ++r) {
        ones[r] = 1, ints[r] = MPI_INT;
        MPI_Get_address(&out[1], &here[r]), MPI_Get_address(&everyone[r], &there[r]);
    }
    MPI_Alltoallw_c(MPI_BOTTOM, ones, here, ints, MPI_BOTTOM, ones, there, ints, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; ++r) CHECK(everyone[r] == 2 * r + 1);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    out_memory = malloc(room), in_memory = malloc(room);
    char* attached = malloc(room);
    MPI_Buffer_attach(attached, room);
    const int sizes[] = {0, 1, 8, 9, 500, 2048, 2100, 20000, 100000};
    const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); ++s)
        for (int out_way = 0; out_way < kinds; ++out_way)
            for (int in_way = 0; in_way < kinds; ++in_way) {
                /* Each mode has some layouts, since all with all would take long. */
                const int mode = (out_way * kinds + in_way + s) % modes;
                if (ranks == 1 && mode == synchronous)
                    continue; /* the rank would wait for itself in between */
                pass(mode, sizes[s], out_way, in_way, to, from);
                if (in_way == 0) replace(sizes[s], out_way, to, from);
            }
    corners(to, from);
    addresses(to, from);
    void* detached;
    int bytes;
    MPI_Buffer_detach(&detached, &bytes);
    free(attached), free(out_memory), free(in_memory);
    MPI_Finalize();
    return 0;
}
