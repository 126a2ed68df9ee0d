/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of files, and the hints in force: those of the first process, whatever hints the others
 * give. */
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "counter.h"

enum { pieces = 1500, piece = 4 };
static int rank, size;
static char path[300], data[piece * pieces];

/* Returns how much a counter has grown since the last call. */
static unsigned long long grown(const char* name, unsigned long long* before) {
    const unsigned long long now = counter(name), much = now - *before;
    *before = now;
    return much;
}

static struct {
    unsigned long long opens, accesses, transfers, read, written, exchanged, windows, small;
} seen;

static void forget(void) {
    grown("file_opens", &seen.opens);
    grown("file_accesses", &seen.accesses);
    grown("file_transfers", &seen.transfers);
    grown("file_read_bytes", &seen.read);
    grown("file_written_bytes", &seen.written);
    grown("file_exchanged_bytes", &seen.exchanged);
    grown("file_windows", &seen.windows);
    grown("file_small_writes", &seen.small);
}

static MPI_File fresh(const char* prefix, MPI_Info info) {
    char name[400];
    MPI_File file;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(name, sizeof name, "%s%s", prefix, path);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    return file;
}

static void set_view(MPI_File file) {
    MPI_Datatype cells;
    OK(MPI_Type_vector(pieces, piece, piece * size, MPI_CHAR, &cells));
    OK(MPI_Type_commit(&cells));
    OK(MPI_File_set_view(file, piece * rank, MPI_CHAR, cells, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&cells));
}

static void accesses(void) {
    forget();
    MPI_File file = fresh("", MPI_INFO_NULL);
    CHECK(grown("file_opens", &seen.opens) == 1);
    set_view(file);
    /* Each piece is written by itself, because of the gaps. */
    OK(MPI_File_write_at(file, 0, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(grown("file_accesses", &seen.accesses) == 1);
    CHECK(grown("file_transfers", &seen.transfers) == (size == 1 ? 1 : pieces));
    CHECK(grown("file_written_bytes", &seen.written) == sizeof data);
    CHECK(grown("file_small_writes", &seen.small) == (size == 1 ? 0 : pieces));
    MPI_Barrier(MPI_COMM_WORLD);
    /* Long runs: one process writes all of it in one window. */
    OK(MPI_File_write_at_all(file, 0, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(grown("file_accesses", &seen.accesses) == 1);
    CHECK(grown("file_small_writes", &seen.small) == 0);
    unsigned long long mine[3], all[3];
    mine[0] = grown("file_written_bytes", &seen.written);
    mine[1] = grown("file_windows", &seen.windows);
    mine[2] = grown("file_exchanged_bytes", &seen.exchanged);
    OK(MPI_Allreduce(mine, all, 3, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK(all[0] == (unsigned long long)size * sizeof data);
    CHECK(all[1] == (size == 1 ? 0 : 1));
    CHECK(all[2] == (unsigned long long)(size - 1) * sizeof data);
    /* Reads count all bytes read, with those that lie between. */
    grown("file_read_bytes", &seen.read);
    OK(MPI_File_read_at(file, 0, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE));
    const unsigned long long read = grown("file_read_bytes", &seen.read);
    CHECK(read >= sizeof data && read <= (unsigned long long)size * sizeof data);
    CHECK(counter("file_system_time") > 0);
    CHECK(size == 1 || counter("file_message_time") > 0);
    /* Accesses one after the other, as of a log, are not small pieces. */
    forget();
    OK(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    OK(MPI_File_seek(file, 100000, MPI_SEEK_SET));
    for (int i = 0; i < 100; ++i) OK(MPI_File_write(file, data, 10, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(grown("file_small_writes", &seen.small) <= 1);
    OK(MPI_File_close(&file));
}

static void expect(MPI_File file, const char* key, const char* wanted) {
    MPI_Info used;
    char value[100] = "";
    int flag = 0, length = sizeof value;
    OK(MPI_File_get_info(file, &used));
    OK(MPI_Info_get_string(used, key, &length, value, &flag));
    OK(MPI_Info_free(&used));
    if (wanted == NULL) {
        CHECK(!flag);
        return;
    }
    if (!flag || strcmp(value, wanted) != 0) fprintf(stderr, "%s is %s\n", key, value);
    CHECK(flag && strcmp(value, wanted) == 0);
}

/* Every process gives other hints: those of the first count, and nothing hangs or is written
 * twice. */
static void hints(void) {
    static const char* const buffers[] = {"4096", "8192", "65536"};
    char number[20];
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_buffer_size", buffers[rank % 3]));
    OK(MPI_Info_set(info, "striping_unit", rank == 0 ? "4096" : "10000"));
    OK(MPI_Info_set(info, "romio_cb_write", rank == 0 ? "enable" : "disable"));
    snprintf(number, sizeof number, "%d", rank + 1);
    OK(MPI_Info_set(info, "cb_nodes", number));
    OK(MPI_Info_set(info, "access_style", "read_once,random"));
    OK(MPI_Info_set(info, "nb_proc", "17"));
    OK(MPI_Info_set(info, "romio_no_indep_rw", "true"));
    MPI_File file = fresh("", info);
    expect(file, "cb_buffer_size", "4096");
    expect(file, "striping_unit", "4096");
    expect(file, "romio_cb_write", "enable");
    expect(file, "cb_nodes", "1");
    expect(file, "access_style", "random");
    expect(file, "nb_proc", NULL); /* the hint has no effect */
    expect(file, "romio_no_indep_rw", "false");
    expect(file, "striping_factor", NULL); /* the hint is not known */
    set_view(file);
    memset(data, 'A' + rank, sizeof data);
    OK(MPI_File_write_at_all(file, 0, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE));
    /* Processes may change hints differently, too. */
    OK(MPI_Info_set(info, "cb_buffer_size", buffers[(rank + 1) % 3]));
    OK(MPI_Info_set(info, "access_style", "sequential"));
    OK(MPI_File_set_info(file, info));
    expect(file, "access_style", "sequential");
    OK(MPI_Info_free(&info));
    OK(MPI_File_write_at_all(file, 0, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    char got[piece * 8];
    OK(MPI_File_read_at(file, 0, got, piece * size, MPI_CHAR, MPI_STATUS_IGNORE));
    for (int i = 0; i < piece * size; ++i) CHECK(got[i] == 'A' + i / piece);
    OK(MPI_File_close(&file));
}

/* The file system spreads files over servers: domains are made of whole stripes. */
static void striping(void) {
    MPI_File file = fresh("faulty:stripe=16384,stripes=3:", MPI_INFO_NULL);
    expect(file, "striping_unit", "16384");
    expect(file, "striping_factor", "3");
    set_view(file);
    OK(MPI_File_write_at_all(file, 0, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
}

int main(void) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    name_file(path, sizeof path, "file-counters");
    accesses();
    hints();
    striping();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    MPI_Finalize();
    return 0;
}
