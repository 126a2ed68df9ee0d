/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory runs out on one rank in the middle of a collective access, at each place that
   allocates. The access ends on all ranks, with MPI_ERR_NO_MEM on those that failed. The next
   access is right. */
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

enum { cell = 16, most_pieces = 1200 };
static int rank, size, pieces;
static char path[300];

/* The program's malloc() is the library's, too. */
extern void* __libc_malloc(size_t);
static atomic_int is_limited;
static atomic_int left; /* this number of calls finds memory, and the next one does not */
static atomic_int refused;
static int goes_on; /* only large ones are counted, and none succeeds after that */
enum { large = 8192 };

__attribute__((visibility("default"))) void* malloc(size_t bytes) {
    if (is_limited && (!goes_on || bytes >= large)) {
        const int now = atomic_fetch_sub(&left, 1);
        if (now == 0 || (goes_on && now < 0)) {
            ++refused;
            errno = ENOMEM;
            return NULL;
        }
    }
    return __libc_malloc(bytes);
}

static void limit(int calls) {
    refused = 0;
    left = calls;
    is_limited = 1;
}
static void unlimit(void) { is_limited = 0; }

static int length(int i, int me) { return 1 + (i * 7 + me) % (cell - 1); }
static char content(int i, int me, int round) { return (char)(i + 31 * me + 7 * round); }

/* The data of a process: uneven pieces between those of the others, in memory with gaps. */
static char* data;
static MPI_Datatype in_memory, in_file;
static int bytes;

static void make_types(const char* representation, MPI_File file) {
    static int lengths[most_pieces], in[most_pieces], out[most_pieces];
    bytes = 0;
    for (int i = 0; i < pieces; ++i) {
        lengths[i] = length(i, rank);
        in[i] = i * cell + 1;
        out[i] = (i * size + rank) * cell;
        bytes += lengths[i];
    }
    OK(MPI_Type_indexed(pieces, lengths, in, MPI_CHAR, &in_memory));
    OK(MPI_Type_indexed(pieces, lengths, out, MPI_CHAR, &in_file));
    OK(MPI_Type_commit(&in_memory));
    OK(MPI_Type_commit(&in_file));
    OK(MPI_File_set_view(file, 0, MPI_CHAR, in_file, representation, MPI_INFO_NULL));
}
static void free_types(void) {
    OK(MPI_Type_free(&in_memory));
    OK(MPI_Type_free(&in_file));
}

static void fill(int round) {
    memset(data, '-', (size_t)(most_pieces * cell));
    for (int i = 0; i < pieces; ++i)
        memset(data + i * cell + 1, content(i, rank, round), (size_t)length(i, rank));
}
static void expect(int round) {
    for (int i = 0; i < pieces; ++i)
        for (int k = 0; k < cell; ++k)
            CHECK(data[i * cell + k] ==
                  (k >= 1 && k <= length(i, rank) ? content(i, rank, round) : '-'));
}
static void clear(void) {
    for (int i = 0; i < pieces; ++i) memset(data + i * cell + 1, '?', (size_t)length(i, rank));
}

typedef int Access(MPI_File);
static int write_at_all(MPI_File file) {
    return MPI_File_write_at_all(file, 0, data, 1, in_memory, MPI_STATUS_IGNORE);
}
static int read_at_all(MPI_File file) {
    return MPI_File_read_at_all(file, 0, data, 1, in_memory, MPI_STATUS_IGNORE);
}
/* Completes a request. A wait that finds no memory for other messages leaves the request as it
 * is. */
static int complete(int error, MPI_Request* request) {
    if (error != MPI_SUCCESS) return error;
    do error = MPI_Wait(request, MPI_STATUS_IGNORE);
    while (*request != MPI_REQUEST_NULL);
    return error;
}
static int iwrite_at_all(MPI_File file) {
    MPI_Request request;
    return complete(MPI_File_iwrite_at_all(file, 0, data, 1, in_memory, &request), &request);
}
static int iread_at_all(MPI_File file) {
    MPI_Request request;
    return complete(MPI_File_iread_at_all(file, 0, data, 1, in_memory, &request), &request);
}

/* Makes one access after the other. Each time `victim` has memory for one more call, until it is
 * enough. */
static void starve(MPI_File file, Access* access, int writes, int victim) {
    for (int calls = 0, enough = 0; !enough; ++calls) {
        fill(calls);
        if (!writes) {
            OK(write_at_all(file));
            clear();
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == victim) limit(calls);
        const int error = access(file);
        const int was_refused = refused != 0;
        unlimit();
        int class = MPI_SUCCESS, worst = 0;
        MPI_Error_class(error, &class);
        CHECK(class == MPI_SUCCESS || class == MPI_ERR_NO_MEM);
        CHECK(rank != victim || was_refused || class == MPI_SUCCESS);
        OK(MPI_Allreduce(&class, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
        enough = rank == victim && !was_refused;
        OK(MPI_Bcast(&enough, 1, MPI_INT, victim, MPI_COMM_WORLD));
        CHECK(!enough || worst == MPI_SUCCESS);
        if (worst != MPI_SUCCESS) {
            /* Later data is not mixed up with the data left out. */
            fill(calls);
            OK(write_at_all(file));
            OK(MPI_File_sync(file));
        }
        if (writes || worst != MPI_SUCCESS) {
            OK(MPI_Barrier(MPI_COMM_WORLD));
            clear();
            OK(read_at_all(file));
        }
        expect(calls);
        refused = 0;
    }
}

static void starve_all(const char* representation) {
    MPI_Info info;
    MPI_File file;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_buffer_size", "16384"));
    OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    OK(MPI_Info_set(info, "romio_cb_read", "enable"));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    OK(MPI_Info_free(&info));
    make_types(representation, file);
    for (goes_on = 0; goes_on < 2; ++goes_on)
        for (int victim = 0; victim < size; victim += size - 1 > 1 ? size - 1 : 1) {
            starve(file, write_at_all, 1, victim);
            starve(file, read_at_all, 0, victim);
            starve(file, iwrite_at_all, 1, victim);
            starve(file, iread_at_all, 0, victim);
        }
    free_types();
    OK(MPI_File_close(&file));
}

int main(void) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    name_file(path, sizeof path, "no-memory");
    data = malloc(most_pieces * cell);
    /* Little data goes by messages, more through memory of the node. */
    for (pieces = 40; pieces <= most_pieces; pieces = pieces == 40 ? most_pieces : pieces + 1) {
        starve_all("native");
        starve_all("external32");
    }
    free(data);
    if (rank == 0) unlink(path);
    MPI_Finalize();
    return 0;
}
