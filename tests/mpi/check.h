/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts that tests of MPI calls share: a condition that ends the job with a clear message. */
#ifndef HEDDLE_TESTS_CHECK_H
#define HEDDLE_TESTS_CHECK_H

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            int rank_ = -1;                                                              \
            MPI_Comm_rank(MPI_COMM_WORLD, &rank_);                                       \
            fprintf(stderr, "rank %d, %s:%d: not true: %s\n", rank_, __FILE__, __LINE__, \
                    #condition);                                                         \
            fflush(stderr);                                                              \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                \
        }                                                                                \
    } while (0)

/* Checks that the call succeeds. */
#define OK(call) CHECK((call) == MPI_SUCCESS)

/* Checks that the call fails with an error of this class. */
#define FAILS(call, error_class)                                                             \
    do {                                                                                     \
        int code_ = (call);                                                                  \
        int class_ = MPI_SUCCESS;                                                            \
        MPI_Error_class(code_, &class_);                                                     \
        if (class_ != (error_class)) {                                                       \
            fprintf(stderr, "%s:%d: %s answered %d, class %d, not %s\n", __FILE__, __LINE__, \
                    #call, code_, class_, #error_class);                                     \
            fflush(stderr);                                                                  \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                    \
        }                                                                                    \
    } while (0)

/* Makes a name among temporary files that no other job has, the same in all ranks. */
static inline void name_file(char* path, size_t room, const char* what) {
    int id = (int)getpid();
    OK(MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD));
    const char* folder = getenv("TMPDIR");
    snprintf(path, room, "%s/heddle-%s-%d", folder != NULL ? folder : "/tmp", what, id);
}

/* Returns whether all processes share a host. */
static inline int on_one_host(int size) {
    MPI_Comm here;
    int count = 0;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
    OK(MPI_Comm_size(here, &count));
    OK(MPI_Comm_free(&here));
    return count == size;
}

static inline void start(int* rank, int* size, int level) {
    int provided = -1;
    MPI_Init_thread(NULL, NULL, level, &provided);
    CHECK(provided == level);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
}

#endif
