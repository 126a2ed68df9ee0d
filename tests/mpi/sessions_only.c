/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without the world model (MPI 5.0, 9.3 and 11.3). Calls of the world model are refused.
   Errors that belong to no object go to the initial error handler, which returns here. */
#include <mpi.h>
#include <stdio.h>

static int failed;

#define EXPECT(expected, call)                                                                 \
    do {                                                                                       \
        const int got = (call);                                                                \
        if (got != (expected)) {                                                               \
            fprintf(stderr, "line %d: %s gave %d, not %s\n", __LINE__, #call, got, #expected); \
            failed = 1;                                                                        \
        }                                                                                      \
    } while (0)

static void without_world(void) {
    int number = -1;
    MPI_Group group;
    EXPECT(MPI_ERR_COMM, MPI_Comm_rank(MPI_COMM_WORLD, &number));
    EXPECT(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_SELF, &number));
    EXPECT(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_WORLD));
    EXPECT(MPI_ERR_COMM, MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    EXPECT(MPI_ERR_COMM, MPI_Comm_group(MPI_COMM_WORLD, &group));
    EXPECT(MPI_ERR_COMM, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    EXPECT(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &number));
    EXPECT(MPI_ERR_RANK, MPI_Group_incl(MPI_GROUP_EMPTY, 1, (int[]){0}, &group));
    EXPECT(MPI_ERR_TYPE, MPI_Type_size(MPI_DATATYPE_NULL, &number));
}

int main(void) {
    MPI_Session session;
    int rank;
    EXPECT(MPI_SUCCESS, MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    without_world();

    MPI_Init(NULL, NULL);
    EXPECT(MPI_SUCCESS, MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    EXPECT(MPI_ERR_COUNT,
           MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD)); /* the initial one, too */
    EXPECT(MPI_SUCCESS, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    MPI_Finalize();
    without_world();
    EXPECT(MPI_SUCCESS, MPI_Session_finalize(&session));
    return failed;
}
