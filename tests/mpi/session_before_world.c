/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank begins the world model and sends, while another one still has the session of before. The
 * message comes to a process that closes MPI and opens it again before it knows of the world. */
#include "counter.h"

static MPI_Session open_session(void) {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    return session;
}

/* Waits for a message, which is kept here. */
static void wait_for_message(MPI_Session session) {
    MPI_Group group;
    MPI_Comm self;
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "alone", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &self);
    MPI_Group_free(&group);
    for (int flag = 0; level("unexpected_queue") == 0;)
        MPI_Iprobe(0, 0, self, &flag, MPI_STATUS_IGNORE);
    MPI_Comm_free(&self);
}

int main(void) {
    int rank = -1, size = 0;
    MPI_Session session = open_session();
    /* Ranks are those of the world. */
    MPI_Group world;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Group_rank(world, &rank);
    MPI_Group_size(world, &size);
    MPI_Group_free(&world);
    if (rank != 0) wait_for_message(session);
    MPI_Session_finalize(&session);
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    int number = 7, got = 0;
    if (rank == 0)
        for (int i = 1; i < size; ++i) OK(MPI_Send(&number, 1, MPI_INT, i, 3, MPI_COMM_WORLD));
    else
        OK(MPI_Recv(&got, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(rank == 0 || got == number);
    MPI_Finalize();
    return 0;
}
