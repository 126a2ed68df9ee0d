/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that cannot be opened, and accesses that fail in the middle. Their errors have class, call,
   path, offset, the system's words, and the amount that was moved. Large ones, too: counts beyond
   2^31, and a file of 5 GiB. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int rank, size;
static char path[256], name[600];

/* Checks that MPI_Error_string has all of the words. */
static void says(int error, const char* first, const char* second, const char* third) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    OK(MPI_Error_string(error, text, &length));
    const char* const words[] = {first, second, third};
    for (int i = 0; i < 3; ++i) {
        if (strstr(text, words[i]) != NULL) continue;
        fprintf(stderr, "\"%s\" is not in: %s\n", words[i], text);
        CHECK(!"said");
    }
}

static int open_name(const char* file_name, int amode, MPI_File* file) {
    *file = MPI_FILE_NULL;
    return MPI_File_open(MPI_COMM_WORLD, file_name, amode, MPI_INFO_NULL, file);
}

static void remove_file(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_File fresh(const char* prefix) {
    MPI_File file;
    remove_file();
    snprintf(name, sizeof name, "%s%s", prefix, path);
    OK(open_name(name, MPI_MODE_CREATE | MPI_MODE_RDWR, &file));
    return file;
}

static void refuses(const char* file_name, int amode, int error_class, int system_error) {
    MPI_File file;
    const int error = open_name(file_name, amode, &file);
    FAILS(error, error_class);
    CHECK(file == MPI_FILE_NULL);
    says(error, "MPI_File_open", file_name, strerror(system_error));
}

static void what_cannot_be_opened(void) {
    char other[300], program[300];
    MPI_File file = fresh("");
    OK(MPI_File_close(&file));
    refuses("/no/such/folder/x", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_ERR_NO_SUCH_FILE, ENOENT);
    refuses("/tmp", MPI_MODE_RDONLY, MPI_ERR_BAD_FILE, EISDIR);
    refuses(path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_ERR_FILE_EXISTS, EEXIST);
    snprintf(other, sizeof other, "%s/x", path);
    refuses(other, MPI_MODE_RDONLY, MPI_ERR_BAD_FILE, ENOTDIR);
    memset(other, 'n', sizeof other - 1);
    other[0] = '/';
    other[sizeof other - 1] = '\0';
    refuses(other, MPI_MODE_RDONLY, MPI_ERR_BAD_FILE, ENAMETOOLONG);
    snprintf(other, sizeof other, "%s-loop", path);
    if (rank == 0) CHECK(symlink(other, other) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    refuses(other, MPI_MODE_RDONLY, MPI_ERR_BAD_FILE, ELOOP);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(unlink(other) == 0);
    /* This program, which is running, may not be written. */
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    CHECK(length > 0);
    program[length] = '\0';
    refuses(program, MPI_MODE_RDWR, MPI_ERR_FILE_IN_USE, ETXTBSY);
    /* No process may write a kernel's file, or make a file in the kernel's folder. */
    refuses("/proc/self/no-such-file", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_ERR_NO_SUCH_FILE,
            ENOENT);
    if (geteuid() != 0) refuses("/proc/1/mem", MPI_MODE_RDWR, MPI_ERR_ACCESS, EACCES);
    int error = MPI_File_delete("/no/such/folder/x", MPI_INFO_NULL);
    FAILS(error, MPI_ERR_NO_SUCH_FILE);
    says(error, "MPI_File_delete", "/no/such/folder/x", strerror(ENOENT));
    FAILS(MPI_File_delete("/tmp", MPI_INFO_NULL), MPI_ERR_BAD_FILE);
    /* One process alone has another mode, or another name. */
    if (size > 1) {
        error = open_name(path, MPI_MODE_RDWR | (rank == 1 ? MPI_MODE_APPEND : 0), &file);
        FAILS(error, MPI_ERR_NOT_SAME);
        says(error, "MPI_File_open", "amode", "differs between the processes");
    }
    OK(open_name(path, MPI_MODE_RDWR, &file)); /* no effect of the failure is left */
    OK(MPI_File_close(&file));
}

/* Descriptors run out on one process, which did not open the file first. */
static void descriptors_of_one(void) {
    struct rlimit limit, low;
    MPI_File file = fresh("");
    OK(MPI_File_close(&file));
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    low = limit;
    low.rlim_cur = 0; /* open descriptors stay open */
    if (rank == size - 1) CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
    const int error = open_name(path, MPI_MODE_RDWR, &file);
    if (rank == size - 1) CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    FAILS(error, MPI_ERR_IO);
    CHECK(file == MPI_FILE_NULL);
    says(error, path, strerror(EMFILE), size > 1 ? "although rank 0" : "opening");
    OK(open_name(path, MPI_MODE_RDWR, &file));
    OK(MPI_File_close(&file));
}

static void many_openings(int times) {
    MPI_File file = fresh("");
    OK(MPI_File_close(&file));
    const int before = dup(0);
    close(before);
    for (int i = 0; i < times; ++i) {
        OK(open_name(path, MPI_MODE_RDWR, &file));
        OK(MPI_File_close(&file));
    }
    const int after = dup(0);
    close(after);
    CHECK(before == after); /* no descriptor is leaked */
}

static int count_of(const MPI_Status* status) {
    int count = -1;
    OK(MPI_Get_count(status, MPI_CHAR, &count));
    return count;
}

/* Every kind of access writes at an offset from which on there is no room. */
static void no_room(void) {
    static char block[3000];
    MPI_Status status;
    MPI_Request request;
    MPI_File file = fresh("faulty:full=9000:");
    const MPI_Offset at = 8000;
    memset(block, 'x', sizeof block);
    char where[100];
    snprintf(where, sizeof where, "writing %d bytes at byte %d", (int)sizeof block, (int)at);
    int error = MPI_File_write_at(file, at, block, sizeof block, MPI_CHAR, &status);
    FAILS(error, MPI_ERR_NO_SPACE);
    says(error, "MPI_File_write_at", where, strerror(ENOSPC));
    says(error, path, "MPI_ERR_NO_SPACE: ", "errno 28");
    CHECK(count_of(&status) == 1000);
    error = MPI_File_write_at_all(file, at, block, sizeof block, MPI_CHAR, &status);
    FAILS(error, MPI_ERR_NO_SPACE);
    says(error, "MPI_File_write_at_all", where, strerror(ENOSPC));
    OK(MPI_File_iwrite_at(file, at, block, sizeof block, MPI_CHAR, &request));
    error = MPI_Wait(&request, &status);
    FAILS(error, MPI_ERR_NO_SPACE);
    says(error, "MPI_Wait", where, strerror(ENOSPC));
    CHECK(request == MPI_REQUEST_NULL && count_of(&status) == 1000);
    OK(MPI_File_iwrite_at_all(file, at, block, sizeof block, MPI_CHAR, &request));
    FAILS(MPI_Wait(&request, &status), MPI_ERR_NO_SPACE);
    OK(MPI_File_write_at_all_begin(file, at, block, sizeof block, MPI_CHAR));
    FAILS(MPI_File_write_at_all_end(file, block, &status), MPI_ERR_NO_SPACE);
    OK(MPI_File_seek(file, at, MPI_SEEK_SET));
    FAILS(MPI_File_write(file, block, sizeof block, MPI_CHAR, &status), MPI_ERR_NO_SPACE);
    OK(MPI_File_seek_shared(file, at, MPI_SEEK_SET));
    FAILS(MPI_File_write_shared(file, block, sizeof block, MPI_CHAR, &status), MPI_ERR_NO_SPACE);
    FAILS(MPI_File_preallocate(file, 10000), MPI_ERR_NO_SPACE);
    /* The data in the file may be read, and the file closed, as if no call had failed. */
    OK(MPI_File_read_at(file, at, block, sizeof block, MPI_CHAR, &status));
    CHECK(count_of(&status) == 1000);
    OK(MPI_File_close(&file));
    /* If no file has failed with a class, its text is the class's alone. */
    char text[MPI_MAX_ERROR_STRING];
    int length;
    OK(MPI_Error_string(MPI_ERR_QUOTA, text, &length));
    CHECK(strchr(text, ';') == NULL);
}

/* Writes pieces that alternate: by aggregators, or each process by itself. */
static void no_room_for_pieces(const char* by_aggregators) {
    enum { pieces = 2000 };
    static char data[4 * pieces];
    MPI_Info info;
    MPI_File file;
    MPI_Datatype cells;
    MPI_Status status;
    remove_file();
    snprintf(name, sizeof name, "faulty:full=%d:%s", 1000 * size, path);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "romio_cb_write", by_aggregators));
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    OK(MPI_Info_free(&info));
    OK(MPI_Type_vector(pieces, 4, 4 * size, MPI_CHAR, &cells));
    OK(MPI_Type_commit(&cells));
    OK(MPI_File_set_view(file, 4 * rank, MPI_CHAR, cells, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&cells));
    memset(data, 'a' + rank, sizeof data);
    const int error = MPI_File_write_all(file, data, sizeof data, MPI_CHAR, &status);
    FAILS(error, MPI_ERR_NO_SPACE);
    says(error, "MPI_File_write_all", path, strerror(ENOSPC));
    /* The status counts the bytes that a process has written itself, which it does alone or without
     * aggregators. */
    const int itself = size == 1 || strcmp(by_aggregators, "disable") == 0;
    CHECK(count_of(&status) == (itself ? 1000 : 0));
    OK(MPI_File_close(&file));
}

/* Signals do not end the program: the size of files is limited, and no process reads from a
 * pipe. */
static void limited_size(void) {
    static char block[3000];
    struct rlimit limit, low;
    MPI_Request request;
    MPI_Status status;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    low = limit;
    low.rlim_cur = 9000;
    CHECK(setrlimit(RLIMIT_FSIZE, &low) == 0);
    MPI_File file = fresh("");
    int error = MPI_File_write_at(file, 8000, block, sizeof block, MPI_CHAR, &status);
    FAILS(error, MPI_ERR_IO);
    says(error, "MPI_File_write_at", path, strerror(EFBIG));
    CHECK(count_of(&status) == 1000);
    FAILS(MPI_File_write_at_all(file, 8000, block, sizeof block, MPI_CHAR, &status), MPI_ERR_IO);
    OK(MPI_File_iwrite_at(file, 8000, block, sizeof block, MPI_CHAR, &request));
    FAILS(MPI_Wait(&request, &status), MPI_ERR_IO);
    error = MPI_File_set_size(file, 10000);
    FAILS(error, MPI_ERR_IO);
    says(error, "MPI_File_set_size", path, strerror(EFBIG));
    FAILS(MPI_File_preallocate(file, 10000), MPI_ERR_IO);
    OK(MPI_File_write_at(file, 6000, block, sizeof block, MPI_CHAR, &status));
    OK(MPI_File_close(&file));
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void pipe_without_reader(void) {
    char pipe[300];
    const char byte = 'x';
    MPI_File file;
    snprintf(pipe, sizeof pipe, "%s-pipe-%d", path, rank);
    CHECK(mkfifo(pipe, 0600) == 0);
    const int end = open(pipe, O_RDWR | O_NONBLOCK);
    CHECK(end >= 0);
    OK(MPI_File_open(MPI_COMM_SELF, pipe, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL,
                     &file));
    CHECK(close(end) == 0);
    const int error = MPI_File_write_shared(file, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    FAILS(error, MPI_ERR_IO);
    says(error, "MPI_File_write_shared", pipe, strerror(EPIPE));
    OK(MPI_File_close(&file));
    CHECK(unlink(pipe) == 0);
}

/* One process alone makes a mistake. It gets its error, and the others are not held up. */
static void mistake_of_one(void) {
    char data[8] = "mistake";
    const int mistaken = size - 1;
    MPI_Status status;
    MPI_File file = fresh("");
    MPI_Request request;
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    const int count = rank == mistaken ? 7 : 8; /* not a multiple of the etype */
    int error = MPI_File_write_at_all(file, 2 * rank, data, count, MPI_CHAR, &status);
    if (rank == mistaken)
        FAILS(error, MPI_ERR_TYPE);
    else
        OK(error);
    error = MPI_File_iwrite_at_all(file, 2 * rank, data, count, MPI_CHAR, &request);
    if (rank == mistaken) {
        FAILS(error, MPI_ERR_TYPE);
        CHECK(request == MPI_REQUEST_NULL);
    } else {
        OK(error);
        OK(MPI_Wait(&request, &status));
    }
    error = MPI_File_write_ordered(file, data, count, MPI_CHAR, &status);
    if (rank == mistaken)
        FAILS(error, MPI_ERR_TYPE);
    else
        OK(error);
    /* It leaves no split access open on any process. */
    error = MPI_File_write_at_all_begin(file, 2 * rank, data, count, MPI_CHAR);
    if (rank == mistaken) {
        FAILS(error, MPI_ERR_TYPE);
        FAILS(MPI_File_write_at_all_end(file, data, &status), MPI_ERR_OTHER);
    } else {
        OK(error);
        OK(MPI_File_write_at_all_end(file, data, &status));
    }
    FAILS(MPI_File_write_at(file, -1, data, 4, MPI_CHAR, &status), MPI_ERR_ARG);
    FAILS(MPI_File_read_at(file, -1, data, 4, MPI_CHAR, &status), MPI_ERR_ARG);
    FAILS(MPI_File_write(file, data, -1, MPI_CHAR, &status), MPI_ERR_COUNT);
    FAILS(MPI_File_write(file, data, 1, MPI_DATATYPE_NULL, &status), MPI_ERR_TYPE);
    FAILS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    FAILS(MPI_File_preallocate(file, -1), MPI_ERR_ARG);
    OK(MPI_File_close(&file));
}

static void handles_that_are_gone(void) {
    char byte = 'x';
    MPI_Offset offset;
    MPI_File file = fresh("");
    MPI_File copy = file;
    OK(MPI_File_close(&file));
    FAILS(MPI_File_write(copy, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    FAILS(MPI_File_get_size(copy, &offset), MPI_ERR_FILE);
    FAILS(MPI_File_set_view(copy, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_ERR_FILE);
    FAILS(MPI_File_sync(copy), MPI_ERR_FILE);
    FAILS(MPI_File_close(&copy), MPI_ERR_FILE);
    FAILS(MPI_File_read_all(MPI_FILE_NULL, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_FILE);
}

/* Sequential mode: every call with an offset is refused, and a pipe is a file. */
static void sequential(void) {
    char byte = (char)('a' + rank), got[64];
    MPI_Request request;
    MPI_Offset offset;
    MPI_File file;
    int end = -1;
    remove_file();
    if (rank == 0) {
        CHECK(mkfifo(path, 0600) == 0);
        end = open(path, O_RDWR | O_NONBLOCK); /* a reader, so that no open waits for one */
        CHECK(end >= 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    refuses(path, MPI_MODE_WRONLY, MPI_ERR_BAD_FILE, ESPIPE);
    OK(open_name(path, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, &file));
    FAILS(MPI_File_write_at(file, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE),
          MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_iwrite(file, &byte, 1, MPI_CHAR, &request), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_write_all(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE),
          MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_get_position(file, &offset), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_get_position_shared(file, &offset), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_get_byte_offset(file, 0, &offset), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_preallocate(file, 10), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_set_size(file, 10), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_read_shared(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    OK(MPI_File_write_shared(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK(read(end, got, sizeof got) == size);
        for (char who = 'a'; who < 'a' + size; ++who) CHECK(memchr(got, who, (size_t)size) != NULL);
    }
    /* A file without offsets has its order of ranks in time. */
    for (int round = 0; round < 50; ++round) {
        const char three[] = {byte, byte, byte};
        OK(MPI_File_write_ordered(file, three, 3, MPI_CHAR, MPI_STATUS_IGNORE));
        OK(MPI_File_write_ordered_begin(file, three, 3, MPI_CHAR));
        OK(MPI_File_write_ordered_end(file, three, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank != 0) continue;
        CHECK(read(end, got, sizeof got) == 6 * size);
        for (int i = 0; i < 6 * size; ++i) CHECK(got[i] == 'a' + i / 3 % size);
    }
    OK(MPI_File_close(&file));
    if (rank == 0) close(end);
    remove_file();
}

static unsigned char pattern(long i) { return (unsigned char)(i % 251 + i / 65536); }

/* Reads all of a pipe. Returns the exit code of the process. */
static int reader(const char* pipe, long bytes) {
    unsigned char some[3000];
    const int from = open(pipe, O_RDONLY);
    long all = 0;
    ssize_t got = 0;
    while ((got = read(from, some, sizeof some)) > 0)
        for (ssize_t i = 0; i < got; ++i)
            if (some[i] != pattern(all++)) return 1;
    return got == 0 && all == bytes ? 0 : 2;
}

static void ignore(int number) { (void)number; }

/* Writes into a pipe that is emptied slowly, while signals interrupt every system call. All data
 * comes once. */
static void pipe_with_signals(void) {
    enum { bytes = 2 << 20 };
    static unsigned char data[bytes];
    const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = ignore}, before; /* calls are not restarted */
    char pipe[300];
    int code = -1;
    MPI_File file;
    MPI_Status status;
    for (long i = 0; i < bytes; ++i) data[i] = pattern(i);
    snprintf(pipe, sizeof pipe, "%s-pipe-%d", path, rank);
    CHECK(mkfifo(pipe, 0600) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) _exit(reader(pipe, bytes));
    CHECK(sigaction(SIGALRM, &action, &before) == 0);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    OK(MPI_File_open(MPI_COMM_SELF, pipe, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL,
                     &file));
    OK(MPI_File_write_shared(file, data, bytes, MPI_BYTE, &status));
    CHECK(count_of(&status) == bytes);
    OK(MPI_File_close(&file));
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK(sigaction(SIGALRM, &before, NULL) == 0);
    while (waitpid(child, &code, 0) < 0) CHECK(errno == EINTR);
    CHECK(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    CHECK(unlink(pipe) == 0);
}

/* Combines modes for different things. */
static void combinations(void) {
    char byte = 'x', back = 0;
    MPI_File file, other;
    MPI_Status status;
    MPI_Offset bytes = -1;
    file = fresh("");
    OK(MPI_File_write_ordered(file, &byte, 1, MPI_CHAR, &status));
    OK(MPI_File_close(&file));
    /* Append: all pointers are at the end; a write elsewhere goes to its offset. */
    OK(open_name(path, MPI_MODE_WRONLY | MPI_MODE_APPEND, &file));
    OK(MPI_File_get_position(file, &bytes));
    CHECK(bytes == size);
    FAILS(MPI_File_read_at(file, 0, &back, 1, MPI_CHAR, &status), MPI_ERR_ACCESS);
    OK(MPI_File_close(&file));
    /* The file is opened twice at once. */
    OK(open_name(path, MPI_MODE_RDONLY, &file));
    OK(open_name(path, MPI_MODE_RDWR, &other));
    OK(MPI_File_read_at(file, 0, &back, 1, MPI_CHAR, &status));
    CHECK(back == 'x' && count_of(&status) == 1);
    FAILS(MPI_File_iwrite_shared(file, &byte, 1, MPI_CHAR, &(MPI_Request){MPI_REQUEST_NULL}),
          MPI_ERR_READ_ONLY);
    OK(MPI_File_close(&other));
    OK(MPI_File_close(&file));
    /* The file is removed while it is open: the bytes are there until it is closed. */
    OK(open_name(path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN, &file));
    remove_file();
    OK(MPI_File_read_at(file, size - 1, &back, 1, MPI_CHAR, &status));
    CHECK(back == 'x');
    int error = MPI_File_close(&file); /* no file is left to be deleted */
    FAILS(error, MPI_ERR_NO_SUCH_FILE);
    CHECK(file == MPI_FILE_NULL);
}

/* Writes and reads more than 2^31 elements of memory that repeats: to nowhere, and from zeros. */
static void counts_beyond_int(void) {
    enum { block = 1 << 20 };
    const MPI_Count many = (MPI_Count)3 << 30;
    static char data[block];
    MPI_File file;
    MPI_Datatype again;
    MPI_Status status;
    MPI_Count got = 0;
    MPI_Request request;
    /* Each byte at the place of the one before. */
    OK(MPI_Type_create_resized(MPI_BYTE, 0, 0, &again));
    OK(MPI_Type_commit(&again));
    OK(open_name("/dev/null", MPI_MODE_RDWR, &file));
    OK(MPI_File_write_at_c(file, 0, data, 100 * (MPI_Count)block, again, &status));
    OK(MPI_Get_count_c(&status, again, &got));
    CHECK(got == 100 * (MPI_Count)block);
    OK(MPI_Type_free(&again));
    /* One type has 3 GiB. */
    OK(MPI_Type_create_hvector_c(many / block, block, 0, MPI_BYTE, &again));
    OK(MPI_Type_commit(&again));
    OK(MPI_File_write_at_c(file, 0, data, 1, again, &status));
    OK(MPI_Get_elements_c(&status, MPI_BYTE, &got));
    CHECK(got == many);
    int small = 0;
    OK(MPI_Get_elements(&status, MPI_BYTE, &small));
    CHECK(small == MPI_UNDEFINED);
    OK(MPI_File_iwrite_at_c(file, 0, data, 1, again, &request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Get_elements_c(&status, MPI_BYTE, &got));
    CHECK(got == many);
    OK(MPI_Type_free(&again));
    FAILS(MPI_File_write_at_c(file, 0, data, INT64_MAX, MPI_INT, &status), MPI_ERR_COUNT);
    OK(MPI_File_close(&file));
}

/* Writes and reads pieces on both sides of 2 and 4 GiB, by every kind. The file is mostly holes. */
static void five_gigabytes(void) {
    enum { pieces = 6 };
    const MPI_Aint gigabyte = (MPI_Aint)1 << 30;
    MPI_Datatype filetype;
    MPI_Status status;
    MPI_Offset bytes = 0;
    int mine[pieces][4], back[pieces][4];
    MPI_File file = fresh("");
    OK(MPI_Type_create_hvector(pieces, 16, gigabyte - 8, MPI_BYTE, &filetype));
    OK(MPI_Type_commit(&filetype));
    OK(MPI_File_set_view(file, 16 * rank, MPI_INT, filetype, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&filetype));
    for (int i = 0; i < pieces; ++i)
        for (int k = 0; k < 4; ++k) mine[i][k] = 1000 * rank + 10 * i + k;
    for (int way = 0; way < 3; ++way) {
        memset(back, 0, sizeof back);
        if (way == 0) OK(MPI_File_write_at_all(file, 0, mine, 4 * pieces, MPI_INT, &status));
        if (way == 1) OK(MPI_File_write_at(file, 0, mine, 4 * pieces, MPI_INT, &status));
        if (way == 2) {
            MPI_Request request;
            OK(MPI_File_iwrite_at_all(file, 0, mine, 4 * pieces, MPI_INT, &request));
            OK(MPI_Wait(&request, &status));
        }
        OK(MPI_File_sync(file));
        MPI_Barrier(MPI_COMM_WORLD);
        if (way == 0) OK(MPI_File_read_at_all(file, 0, back, 4 * pieces, MPI_INT, &status));
        if (way != 0) OK(MPI_File_read_at(file, 0, back, 4 * pieces, MPI_INT, &status));
        CHECK(memcmp(mine, back, sizeof mine) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == (pieces - 1) * (gigabyte - 8) + 16 * size);
    OK(MPI_File_get_byte_offset(file, 4 * (pieces - 1), &bytes));
    CHECK(bytes == 16 * rank + (pieces - 1) * (gigabyte - 8));
    struct stat there;
    CHECK(stat(path, &there) == 0 &&
          there.st_blocks < 2 * 1024 * 8); /* in blocks of 512 bytes: holes are left */
    OK(MPI_File_close(&file));
}

int main(void) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    name_file(path, sizeof path, "file-errors");
    what_cannot_be_opened();
    descriptors_of_one();
    many_openings(size == 1 ? 10000 : 300);
    no_room();
    limited_size();
    no_room_for_pieces("enable");
    no_room_for_pieces("disable");
    mistake_of_one();
    handles_that_are_gone();
    sequential();
    pipe_with_signals();
    pipe_without_reader();
    combinations();
    counts_beyond_int();
    five_gigabytes();
    remove_file();
    MPI_Finalize();
    return 0;
}
