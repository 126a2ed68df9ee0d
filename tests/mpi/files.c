/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: modes, sizes, pointers, views, representations, hints, and errors. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static int rank, size;
static char path[256], faulty[512];

static MPI_File open_with(int amode) {
    MPI_File file = MPI_FILE_NULL;
    OK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file));
    CHECK(file != MPI_FILE_NULL);
    return file;
}

static MPI_File fresh(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    return open_with(MPI_MODE_CREATE | MPI_MODE_RDWR);
}

static void modes(void) {
    MPI_File file = fresh();
    int amode = 0;
    OK(MPI_File_get_amode(file, &amode));
    CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
    MPI_Group group, world;
    int same = MPI_UNEQUAL;
    OK(MPI_File_get_group(file, &group));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_compare(group, world, &same));
    CHECK(same == MPI_IDENT);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
    CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);
    OK(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);

    static const int wrong[] = {0,
                                MPI_MODE_RDONLY | MPI_MODE_WRONLY,
                                MPI_MODE_RDONLY | MPI_MODE_CREATE,
                                MPI_MODE_RDONLY | MPI_MODE_EXCL,
                                MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
                                MPI_MODE_CREATE,
                                MPI_MODE_RDWR | MPI_MODE_NOCHECK,
                                1 << 30};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        FAILS(MPI_File_open(MPI_COMM_WORLD, path, wrong[i], MPI_INFO_NULL, &file), MPI_ERR_AMODE);
        CHECK(file == MPI_FILE_NULL);
    }
    FAILS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR,
                        MPI_INFO_NULL, &file),
          MPI_ERR_FILE_EXISTS);
    FAILS(MPI_File_open(MPI_COMM_WORLD, "/no/such/folder/x", MPI_MODE_RDWR | MPI_MODE_CREATE,
                        MPI_INFO_NULL, &file),
          MPI_ERR_NO_SUCH_FILE);
    FAILS(MPI_File_open(MPI_COMM_WORLD, "/tmp", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
          MPI_ERR_BAD_FILE);
    FAILS(MPI_File_open(MPI_COMM_WORLD, "", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
          MPI_ERR_BAD_FILE);
    FAILS(MPI_File_open(MPI_COMM_NULL, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_COMM);
    if (size > 1) {
        FAILS(MPI_File_open(MPI_COMM_WORLD, path, rank == 1 ? MPI_MODE_RDONLY : MPI_MODE_RDWR,
                            MPI_INFO_NULL, &file),
              MPI_ERR_NOT_SAME);
        FAILS(MPI_File_open(MPI_COMM_WORLD, rank == 1 ? "/tmp/other" : path, MPI_MODE_RDWR,
                            MPI_INFO_NULL, &file),
              MPI_ERR_NOT_SAME);
    }
    file = open_with(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_close(&file));
    CHECK(access(path, F_OK) != 0);
    FAILS(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
}

static void wrong_directions(void) {
    char byte = 'x';
    MPI_File file = fresh();
    OK(MPI_File_close(&file));
    file = open_with(MPI_MODE_RDONLY);
    FAILS(MPI_File_write(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    FAILS(MPI_File_write_at_all(file, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    FAILS(MPI_File_set_size(file, 5), MPI_ERR_READ_ONLY);
    FAILS(MPI_File_preallocate(file, 5), MPI_ERR_READ_ONLY);
    OK(MPI_File_close(&file));
    file = open_with(MPI_MODE_WRONLY);
    FAILS(MPI_File_read(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    OK(MPI_File_close(&file));
    file = open_with(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    FAILS(MPI_File_write(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE),
          MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_write_at(file, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE),
          MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    OK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native",
                         MPI_INFO_NULL));
    OK(MPI_File_write_ordered(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    /* The next view begins at the shared pointer. */
    OK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_SHORT, MPI_SHORT, "native",
                         MPI_INFO_NULL));
    OK(MPI_File_write_ordered(file, "yy", 1, MPI_SHORT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    struct stat status;
    CHECK(stat(path, &status) == 0 && status.st_size == 3 * size);
}

static void sizes(void) {
    MPI_File file = fresh();
    MPI_Offset bytes = -1;
    OK(MPI_File_set_size(file, 1000));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 1000);
    OK(MPI_File_preallocate(file, 500));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 1000);
    OK(MPI_File_preallocate(file, 5000));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 5000);
    FAILS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    if (size > 1) FAILS(MPI_File_set_size(file, rank), MPI_ERR_NOT_SAME);
    /* The data lies beyond 2 and 4 GiB, with holes. */
    const MPI_Offset far = ((MPI_Offset)5 << 30) + rank;
    char byte = (char)('a' + rank), got = 0;
    OK(MPI_File_write_at_all(file, far, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == ((MPI_Offset)5 << 30) + size);
    OK(MPI_File_read_at(file, far, &got, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(got == byte);
    FAILS(MPI_File_write_at(file, INT64_MAX - 3, "abcd", 4, MPI_CHAR, MPI_STATUS_IGNORE),
          MPI_ERR_ARG);
    OK(MPI_File_close(&file));
    file = open_with(MPI_MODE_RDWR | MPI_MODE_APPEND);
    OK(MPI_File_get_position(file, &bytes));
    CHECK(bytes == ((MPI_Offset)5 << 30) + size);
    OK(MPI_File_get_position_shared(file, &bytes));
    CHECK(bytes == ((MPI_Offset)5 << 30) + size);
    OK(MPI_File_close(&file));
}

static void pointers(void) {
    MPI_File file = fresh();
    MPI_Datatype pairs;
    OK(MPI_Type_create_resized(MPI_INT, 0, 8, &pairs));
    OK(MPI_Type_commit(&pairs));
    OK(MPI_File_set_view(file, 100, MPI_INT, pairs, "native", MPI_INFO_NULL));
    MPI_Offset offset = -1;
    OK(MPI_File_get_byte_offset(file, 3, &offset));
    CHECK(offset == 100 + 3 * 8);
    FAILS(MPI_File_get_byte_offset(file, -3, &offset), MPI_ERR_ARG);
    OK(MPI_File_seek(file, 10, MPI_SEEK_SET));
    OK(MPI_File_seek(file, -4, MPI_SEEK_CUR));
    OK(MPI_File_get_position(file, &offset));
    CHECK(offset == 6);
    FAILS(MPI_File_seek(file, -7, MPI_SEEK_CUR), MPI_ERR_ARG);
    FAILS(MPI_File_seek(file, 0, 12345), MPI_ERR_ARG);
    OK(MPI_File_set_size(file, 100 + 8 * 5 + 2)); /* ends within the sixth cell */
    OK(MPI_File_seek(file, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(file, &offset));
    CHECK(offset == 6);
    OK(MPI_File_seek_shared(file, 2, MPI_SEEK_END));
    OK(MPI_File_get_position_shared(file, &offset));
    CHECK(offset == 8);
    FAILS(MPI_File_seek_shared(file, -9, MPI_SEEK_CUR), MPI_ERR_ARG);
    if (size > 1) FAILS(MPI_File_seek_shared(file, rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
    OK(MPI_Type_free(&pairs));
    OK(MPI_File_close(&file));
}

static void views(void) {
    MPI_File file = fresh();
    MPI_Offset displacement = -1;
    MPI_Datatype etype, filetype, made, odd;
    char representation[MPI_MAX_DATAREP_STRING];
    OK(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
    CHECK(displacement == 0 && etype == MPI_BYTE && filetype == MPI_BYTE);
    CHECK(strcmp(representation, "native") == 0);
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &made));
    FAILS(MPI_File_set_view(file, 0, MPI_INT, made, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    OK(MPI_Type_commit(&made));
    FAILS(MPI_File_set_view(file, -5, MPI_INT, made, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    FAILS(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, made, "native", MPI_INFO_NULL),
          MPI_ERR_ARG);
    FAILS(MPI_File_set_view(file, 0, MPI_INT, made, "klingon", MPI_INFO_NULL),
          MPI_ERR_UNSUPPORTED_DATAREP);
    OK(MPI_Type_contiguous(3, MPI_CHAR, &odd));
    OK(MPI_Type_commit(&odd));
    FAILS(MPI_File_set_view(file, 0, odd, made, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    OK(MPI_Type_free(&odd));
    const int lengths[] = {1, 1}, down[] = {3, 1}, twice[] = {1, 1};
    OK(MPI_Type_indexed(2, lengths, down, MPI_INT, &odd));
    OK(MPI_Type_commit(&odd));
    FAILS(MPI_File_set_view(file, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    OK(MPI_Type_free(&odd));
    OK(MPI_Type_indexed(2, lengths, twice, MPI_INT, &odd));
    OK(MPI_Type_commit(&odd));
    FAILS(MPI_File_set_view(file, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    if (size > 1) /* wrong on one process alone: no process hangs */
        FAILS(
            MPI_File_set_view(file, 0, MPI_INT, rank == 1 ? odd : MPI_INT, "native", MPI_INFO_NULL),
            MPI_ERR_TYPE);
    OK(MPI_File_set_view(file, 7, MPI_INT, made, "internal", MPI_INFO_NULL));
    OK(MPI_Type_free(&made));
    OK(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
    CHECK(displacement == 7 && etype == MPI_INT && strcmp(representation, "internal") == 0);
    int bytes = 0;
    OK(MPI_Type_size(filetype, &bytes));
    CHECK(bytes == 8);
    OK(MPI_Type_free(&filetype));
    char three[3] = "ab";
    FAILS(MPI_File_write_at(file, 0, three, 3, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    FAILS(MPI_File_write_at(file, -1, three, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    FAILS(MPI_File_write_at(file, 0, NULL, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    OK(MPI_File_close(&file));
    /* Overlapping data may be read. */
    file = open_with(MPI_MODE_RDONLY);
    OK(MPI_File_set_view(file, 0, MPI_INT, odd, "native", MPI_INFO_NULL));
    OK(MPI_File_close(&file));
    OK(MPI_Type_free(&odd));
}

/* Integers in the file are big endian, and a long has 4 bytes. */
static void external32(void) {
    MPI_File file = fresh();
    MPI_Aint extent = 0;
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    OK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
    CHECK(extent == 8);
    const int mine[2] = {0x01020304 + rank, -2};
    int back[2] = {0, 0}, count = 0;
    MPI_Status status;
    OK(MPI_File_write_at_all(file, 2 * rank, mine, 2, MPI_INT, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 2);
    MPI_Request request;
    OK(MPI_File_iread_at(file, 2 * rank, back, 2, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 2 && back[0] == mine[0] && back[1] == mine[1]);
    /* A request that is not waited for is converted as well: close waits for it. */
    MPI_File other;
    int freed[2] = {0, 0};
    OK(MPI_File_sync(file));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &other));
    OK(MPI_File_set_view(other, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    OK(MPI_File_iread_at(other, 2 * rank, freed, 2, MPI_INT, &request));
    OK(MPI_Request_free(&request));
    OK(MPI_File_close(&other));
    CHECK(freed[0] == mine[0] && freed[1] == mine[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned char raw[8];
    const int descriptor = open(path, O_RDONLY);
    CHECK(pread(descriptor, raw, 8, 8 * rank) == 8);
    CHECK(raw[0] == 1 && raw[1] == 2 && raw[2] == 3 && raw[3] == 4 + rank && raw[7] == 0xfe);
    close(descriptor);
    OK(MPI_File_close(&file));
}

/* A representation of the program: every integer has a byte more, and its bytes are reversed. */
static int calls_of_write, calls_of_read;
static int wide_extent(MPI_Datatype type, MPI_Aint* extent, void* extra) {
    (void)type;
    CHECK(extra == &calls_of_write);
    *extent = 5;
    return MPI_SUCCESS;
}
static int wide_write(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                      void* extra) {
    (void)type, (void)extra;
    const int* from = (const int*)user + position;
    for (int i = 0; i < count; ++i) {
        unsigned char* to = (unsigned char*)file + 5 * i;
        to[0] = 'w';
        for (int k = 0; k < 4; ++k) to[1 + k] = (unsigned char)~((unsigned)from[i] >> (8 * k));
    }
    ++calls_of_write;
    return MPI_SUCCESS;
}
static int wide_read(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                     void* extra) {
    (void)type, (void)extra;
    int* to = (int*)user + position;
    for (int i = 0; i < count; ++i) {
        const unsigned char* from = (const unsigned char*)file + 5 * i;
        unsigned value = 0;
        if (from[0] != 'w') return MPI_ERR_OTHER;
        for (int k = 0; k < 4; ++k) value |= (unsigned)(unsigned char)~from[1 + k] << (8 * k);
        to[i] = (int)value;
    }
    ++calls_of_read;
    return MPI_SUCCESS;
}

static void representation_of_the_program(void) {
    OK(MPI_Register_datarep("wide", wide_read, wide_write, wide_extent, &calls_of_write));
    FAILS(MPI_Register_datarep("wide", wide_read, wide_write, wide_extent, NULL),
          MPI_ERR_DUP_DATAREP);
    FAILS(MPI_Register_datarep("native", wide_read, wide_write, wide_extent, NULL),
          MPI_ERR_DUP_DATAREP);
    MPI_File file = fresh();
    MPI_Datatype cells;
    OK(MPI_Type_vector(4, 1, size, MPI_INT, &cells));
    MPI_Datatype tiled;
    OK(MPI_Type_contiguous(1, cells, &tiled));
    OK(MPI_Type_commit(&tiled));
    OK(MPI_Type_free(&cells));
    OK(MPI_File_set_view(file, 5 * rank, MPI_INT, tiled, "wide", MPI_INFO_NULL));
    OK(MPI_Type_free(&tiled));
    int mine[4], back[4] = {0};
    for (int i = 0; i < 4; ++i) mine[i] = 1000 * rank + i;
    MPI_Status status;
    int count = -1;
    OK(MPI_File_write_at_all(file, 0, mine, 4, MPI_INT, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 4 && calls_of_write > 0);
    MPI_Request request;
    OK(MPI_File_iread_at_all(file, 0, back, 4, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(memcmp(mine, back, sizeof mine) == 0 && calls_of_read > 0);
    MPI_Offset bytes = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 5 * 4 * size);
    /* A conversion fails. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(truncate(path, 0) == 0 && truncate(path, 20 * size) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    FAILS(MPI_File_read_at(file, 0, back, 1, MPI_INT, &status), MPI_ERR_CONVERSION);
    OK(MPI_File_close(&file));
}

static void hints(void) {
    MPI_Info info, used;
    MPI_File file;
    char value[64];
    int flag = 0, length = sizeof value;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_buffer_size", "8192"));
    OK(MPI_Info_set(info, "romio_ds_write", "enable"));
    OK(MPI_Info_set(info, "cb_nodes", "not a number"));
    OK(MPI_Info_set(info, "file_perm", "600"));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    OK(MPI_File_get_info(file, &used));
    OK(MPI_Info_get_string(used, "cb_buffer_size", &length, value, &flag));
    CHECK(flag && strcmp(value, "8192") == 0);
    length = sizeof value;
    OK(MPI_Info_get_string(used, "romio_ds_write", &length, value, &flag));
    CHECK(flag && strcmp(value, "disable") == 0); /* the value in force, not the one asked for */
    length = sizeof value;
    OK(MPI_Info_get_string(used, "cb_nodes", &length, value, &flag));
    CHECK(flag && atoi(value) == size);
    OK(MPI_Info_free(&used));
    OK(MPI_Info_set(info, "cb_buffer_size", "16384"));
    OK(MPI_File_set_info(file, info));
    OK(MPI_File_get_info(file, &used));
    length = sizeof value;
    OK(MPI_Info_get_string(used, "cb_buffer_size", &length, value, &flag));
    CHECK(flag && strcmp(value, "16384") == 0);
    OK(MPI_Info_free(&used));
    OK(MPI_Info_free(&info));
    struct stat status;
    CHECK(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600);
    OK(MPI_File_close(&file));
}

static int handled, handled_class;
static MPI_File handled_file;
static void handler(MPI_File* file, int* code, ...) {
    ++handled;
    handled_file = *file;
    MPI_Error_class(*code, &handled_class);
}

static void handlers(void) {
    MPI_Errhandler mine, got;
    MPI_File file;
    OK(MPI_File_create_errhandler(handler, &mine));
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, mine));
    FAILS(MPI_File_open(MPI_COMM_WORLD, "/no/such/folder/x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
          MPI_ERR_NO_SUCH_FILE);
    CHECK(handled == 1 && handled_file == MPI_FILE_NULL && handled_class == MPI_ERR_NO_SUCH_FILE);
    file = fresh(); /* the file inherits it */
    FAILS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK(handled == 2 && handled_file == file && handled_class == MPI_ERR_ARG);
    OK(MPI_File_call_errhandler(file, MPI_ERR_IO));
    CHECK(handled == 3 && handled_class == MPI_ERR_IO);
    OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    FAILS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK(handled == 3);
    FAILS(MPI_Comm_set_errhandler(MPI_COMM_SELF, mine), MPI_ERR_ERRHANDLER);
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_File_close(&file));
    MPI_Offset offset;
    FAILS(MPI_File_get_size(MPI_FILE_NULL, &offset), MPI_ERR_FILE);
    FAILS(MPI_File_close(&file), MPI_ERR_FILE);
}

static void split(void) {
    MPI_File file = fresh();
    int data = rank, other = 0;
    MPI_Status status;
    FAILS(MPI_File_write_all_end(file, &data, &status), MPI_ERR_OTHER);
    OK(MPI_File_write_at_all_begin(file, 4 * rank, &data, 1, MPI_INT));
    FAILS(MPI_File_write_all_begin(file, &data, 1, MPI_INT), MPI_ERR_OTHER);
    FAILS(MPI_File_read_at_all_end(file, &data, &status), MPI_ERR_OTHER);
    FAILS(MPI_File_write_at_all_end(file, &other, &status), MPI_ERR_BUFFER);
    FAILS(MPI_File_close(&file), MPI_ERR_FILE);
    OK(MPI_File_write_at_all_end(file, &data, &status));
    MPI_Request request;
    OK(MPI_File_iwrite_at(file, 4 * rank, &data, 1, MPI_INT, &request));
    FAILS(MPI_File_close(&file), MPI_ERR_FILE);
    OK(MPI_Wait(&request, &status));
    OK(MPI_File_iwrite_at(file, 4 * rank, &data, 1, MPI_INT, &request));
    OK(MPI_Request_free(&request)); /* close waits for it */
    OK(MPI_File_close(&file));
}

/* Starts many requests at once, beside messages. None is dropped. */
static void many_requests(void) {
    enum { many = 500 };
    static MPI_Request requests[many + 2];
    static int data[many], back[many];
    MPI_File file = fresh();
    int got = -1;
    OK(MPI_File_set_view(file, (MPI_Offset)rank * many * 4, MPI_INT, MPI_INT, "native",
                         MPI_INFO_NULL));
    for (int i = 0; i < many; ++i) {
        data[i] = rank * many + i;
        OK(MPI_File_iwrite(file, &data[i], 1, MPI_INT, &requests[i]));
    }
    OK(MPI_Irecv(&got, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[many]));
    OK(MPI_Isend(&rank, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 &requests[many + 1]));
    OK(MPI_Waitall(many + 2, requests, MPI_STATUSES_IGNORE));
    CHECK(got == (rank + 1) % size);
    OK(MPI_File_read_at(file, 0, back, many, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(memcmp(data, back, sizeof data) == 0);
    OK(MPI_File_close(&file));
}

static MPI_File open_faulty(const char* faults) {
    MPI_File file;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    snprintf(faulty, sizeof faulty, "faulty:%s:%s", faults, path);
    OK(MPI_File_open(MPI_COMM_WORLD, faulty, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                     &file));
    return file;
}

static void faults(void) {
    char block[1000];
    int count = -1;
    MPI_Status status, both[2];
    memset(block, 'x', sizeof block);
    MPI_File file = open_faulty("full=400");
    FAILS(MPI_File_write_at(file, 0, block, 1000, MPI_CHAR, &status), MPI_ERR_NO_SPACE);
    OK(MPI_Get_count(&status, MPI_CHAR, &count));
    CHECK(count == 400);
    FAILS(MPI_File_set_size(file, 500), MPI_ERR_NO_SPACE);
    /* The error of a request is raised on its file, which returns the error. */
    MPI_Request requests[2];
    OK(MPI_File_iwrite_at(file, 0, block, 100, MPI_CHAR, &requests[0]));
    OK(MPI_File_iwrite_at(file, 350, block, 100, MPI_CHAR, &requests[1]));
    FAILS(MPI_Waitall(2, requests, both), MPI_ERR_IN_STATUS);
    CHECK(both[0].MPI_ERROR == MPI_SUCCESS && both[1].MPI_ERROR == MPI_ERR_NO_SPACE);
    OK(MPI_Get_count(&both[1], MPI_CHAR, &count));
    CHECK(count == 50);
    OK(MPI_File_iwrite_at(file, 350, block, 100, MPI_CHAR, &requests[1]));
    FAILS(MPI_Wait(&requests[1], &status), MPI_ERR_NO_SPACE);
    OK(MPI_File_close(&file));

    file = open_faulty("quota=10");
    FAILS(MPI_File_write(file, block, 100, MPI_CHAR, &status), MPI_ERR_QUOTA);
    OK(MPI_File_close(&file));

    file = open_faulty("fail_sync=1,fail_close=1");
    FAILS(MPI_File_sync(file), MPI_ERR_IO);
    FAILS(MPI_File_close(&file), MPI_ERR_IO);
    CHECK(file == MPI_FILE_NULL);

    /* In two phases an aggregator fails, and all ranks get the error. */
    file = open_faulty("full=64");
    MPI_Datatype cells;
    OK(MPI_Type_vector(100, 4, 4 * size, MPI_CHAR, &cells));
    OK(MPI_Type_commit(&cells));
    OK(MPI_File_set_view(file, 4 * rank, MPI_CHAR, cells, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&cells));
    FAILS(MPI_File_write_all(file, block, 400, MPI_CHAR, &status), MPI_ERR_NO_SPACE);
    OK(MPI_File_close(&file));

    FAILS(MPI_File_open(MPI_COMM_WORLD, "faulty:nonsense:/tmp/x", MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file),
          MPI_ERR_BAD_FILE);
}

/* Descriptors run out. Open files stay open, and once they are closed others can be opened
 * again. */
static void many_openings(void) {
    enum { many = 400 };
    static MPI_File files[many];
    struct rlimit limit, low;
    int opened = 0, error = MPI_SUCCESS, error_class = MPI_SUCCESS;
    MPI_File file = fresh();
    OK(MPI_File_close(&file));
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    low = limit;
    low.rlim_cur = 200;
    CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
    while (opened < many && error == MPI_SUCCESS) {
        error = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &files[opened]);
        opened += error == MPI_SUCCESS;
    }
    OK(MPI_Error_class(error, &error_class));
    CHECK(error_class == MPI_ERR_IO && opened > 50 && opened < many);
    for (int i = 0; i < opened; ++i) OK(MPI_File_close(&files[i]));
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    const int again = size == 1 ? 3000 : 200;
    for (int i = 0; i < again; ++i) {
        OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
        OK(MPI_File_close(&file));
    }
}

static void devices(void) {
    MPI_File file;
    char byte = 'x';
    OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    FAILS(MPI_File_write(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    if (rank == 0) CHECK(mkfifo(path, 0600) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    FAILS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
          MPI_ERR_BAD_FILE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
}

int main(int argc, char** argv) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    if (argc > 1) { /* one host alone sees the file: the program ends with a message that says so */
        MPI_File file;
        OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL));
        MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file);
        CHECK(!"reached");
    }
    name_file(path, sizeof path, "file");
    modes();
    wrong_directions();
    sizes();
    pointers();
    views();
    external32();
    representation_of_the_program();
    hints();
    handlers();
    split();
    many_requests();
    faults();
    many_openings();
    devices();
    MPI_Finalize();
    return 0;
}
