/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective accesses of communicators whose ranks are not those of MPI_COMM_WORLD. Several are
   under way at once: of one file, and of two files in another order on each process. Pieces of all
   ranks alternate, so that aggregators have work. */
#include <unistd.h>

#include "check.h"

enum { pieces = 700, piece = 12 };
static int rank, size;
static char path[2][300];

static void remove_files(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unlink(path[0]);
        unlink(path[1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_File open_on(MPI_Comm comm, const char* name) {
    MPI_Info info;
    MPI_File file;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_buffer_size", "4096"));
    OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    OK(MPI_Info_set(info, "romio_cb_read", "enable"));
    OK(MPI_Info_set(info, "striping_unit", "1000"));
    OK(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    OK(MPI_Info_free(&info));
    return file;
}

/* Sets the view: piece i of rank `me` of `all` is at (i * all + me) * piece from `begin` on. */
static void set_view(MPI_File file, MPI_Offset begin, int me, int all) {
    MPI_Datatype cells;
    OK(MPI_Type_vector(pieces, piece, piece * all, MPI_CHAR, &cells));
    OK(MPI_Type_commit(&cells));
    OK(MPI_File_set_view(file, begin + (MPI_Offset)piece * me, MPI_CHAR, cells, "native",
                         MPI_INFO_NULL));
    OK(MPI_Type_free(&cells));
}

static char letter(int me, int which) { return (char)('0' + me % 30 + 31 * which); }

static void fill(char* data, int me, int which) { memset(data, letter(me, which), piece * pieces); }

/* Checks the content by the plain system call of each process. */
static void expect(const char* name, long begin, int all, int which) {
    static char content[piece * pieces * 64];
    const long bytes = (long)piece * pieces * all;
    FILE* const file = fopen(name, "rb");
    CHECK(file != NULL && fseek(file, begin, SEEK_SET) == 0);
    CHECK(fread(content, 1, (size_t)bytes, file) == (size_t)bytes);
    for (long i = 0; i < bytes; ++i) CHECK(content[i] == letter((int)(i / piece % all), which));
    fclose(file);
}

static void on_communicator(MPI_Comm comm) {
    static char data[piece * pieces], back[piece * pieces];
    int me, all;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &all));
    MPI_File file = open_on(comm, path[0]);
    set_view(file, 50, me, all);
    fill(data, me, 0);
    OK(MPI_File_write_all(file, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    MPI_Barrier(comm);
    expect(path[0], 50, all, 0);
    /* Reads the pieces of the next rank. */
    set_view(file, 50, (me + 1) % all, all);
    OK(MPI_File_read_all(file, back, sizeof back, MPI_CHAR, MPI_STATUS_IGNORE));
    fill(data, (me + 1) % all, 0);
    CHECK(memcmp(data, back, sizeof data) == 0);
    /* Writes in the order of its ranks. */
    int mine = me, first = -1;
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_ordered(file, &mine, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(comm);
    OK(MPI_File_read_at(file, me, &first, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(first == me);
    OK(MPI_File_close(&file));
}

static void communicators(void) {
    const int dims[2] = {size, 1}, periods[2] = {1, 0};
    MPI_Comm comm;
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm)); /* the ranks in reverse order */
    remove_files();
    on_communicator(comm);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &comm));
    remove_files();
    on_communicator(comm);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2 == size % 2 ? 0 : MPI_UNDEFINED, -rank, &comm));
    remove_files();
    if (comm != MPI_COMM_NULL) {
        on_communicator(comm);
        OK(MPI_Comm_free(&comm));
    }
    remove_files();
    if (rank == size - 1) on_communicator(MPI_COMM_SELF);
    remove_files();
}

/* Writes two files at once, in one order on even processes and in the other on odd ones. */
static void two_files(void) {
    static char data[2][piece * pieces];
    MPI_File file[2];
    MPI_Request requests[4];
    remove_files();
    for (int i = 0; i < 2; ++i) file[i] = open_on(MPI_COMM_WORLD, path[i]);
    for (int i = 0; i < 2; ++i) {
        set_view(file[i], 0, rank, size);
        fill(data[i], rank, i);
    }
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < 2; ++i) {
            const int which = (rank + i) % 2;
            OK(MPI_File_iwrite_at_all(file[which], 0, data[which], piece * pieces, MPI_CHAR,
                                      &requests[2 * round + i]));
        }
    OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2; ++i) OK(MPI_File_close(&file[i]));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; ++i) expect(path[i], 0, size, i);
    remove_files();
}

/* Writes one file by a nonblocking access, a split one and a blocking one at once, each its own
 * part. */
static void at_once(void) {
    static char data[3][piece * pieces], back[3][piece * pieces];
    const MPI_Offset all = pieces; /* of this process in a part, as pieces */
    MPI_Datatype cell, cells;
    MPI_Request requests[2];
    remove_files();
    MPI_File file = open_on(MPI_COMM_WORLD, path[0]);
    OK(MPI_Type_contiguous(piece, MPI_CHAR, &cell));
    OK(MPI_Type_create_resized(cell, 0, piece * size, &cells));
    OK(MPI_Type_commit(&cell));
    OK(MPI_Type_commit(&cells));
    OK(MPI_File_set_view(file, piece * rank, cell, cells, "native", MPI_INFO_NULL));
    for (int part = 0; part < 3; ++part) fill(data[part], rank, part);
    for (int round = 0; round < 20; ++round) {
        OK(MPI_File_iwrite_at_all(file, 0, data[0], pieces, cell, &requests[0]));
        OK(MPI_File_write_at_all_begin(file, all, data[1], pieces, cell));
        OK(MPI_File_write_at_all(file, 2 * all, data[2], pieces, cell, MPI_STATUS_IGNORE));
        OK(MPI_File_write_at_all_end(file, data[1], MPI_STATUS_IGNORE));
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        OK(MPI_File_sync(file));
        MPI_Barrier(MPI_COMM_WORLD);
        memset(back, 0, sizeof back);
        OK(MPI_File_iread_at_all(file, 0, back[0], pieces, cell, &requests[0]));
        OK(MPI_File_iread_at_all(file, all, back[1], pieces, cell, &requests[1]));
        OK(MPI_File_read_at_all(file, 2 * all, back[2], pieces, cell, MPI_STATUS_IGNORE));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(memcmp(data, back, sizeof data) == 0);
    }
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int part = 0; part < 3; ++part)
        expect(path[0], (long)part * piece * pieces * size, size, part);
    OK(MPI_Type_free(&cell));
    OK(MPI_Type_free(&cells));
    remove_files();
}

int main(void) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    name_file(path[0], sizeof path[0], "files-together-0");
    name_file(path[1], sizeof path[1], "files-together-1");
    communicators();
    two_files();
    at_once();
    MPI_Finalize();
    return 0;
}
