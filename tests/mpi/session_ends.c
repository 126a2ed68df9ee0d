/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Session_finalize waits for the sends of its session only. Operations of another session and
 * of the world model may wait for later calls of this process. A thread that waits there is woken.
 * It is woken also while another thread of the process sleeps in MPI and listens for all. */
#include <pthread.h>
#include <stdint.h>

#include "check.h"

enum { bytes = 1 << 20, given_up = 1, last = 2, for_other_thread = 3 };

static char* large;

static MPI_Comm open_session(MPI_Session* session, const char* name) {
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session));
    OK(MPI_Group_from_session_pset(*session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    OK(MPI_Group_free(&group));
    return comm;
}

static void send_and_give_up(MPI_Comm comm) {
    MPI_Request request;
    OK(MPI_Issend(large, bytes, MPI_CHAR, 1, given_up, comm, &request));
    OK(MPI_Request_free(&request));
}

/* The sends of other sessions are matched only after this process has told that the session is
 * over. */
static void others_may_wait(int rank) {
    MPI_Session first, second;
    MPI_Comm one = open_session(&first, "one"), other = open_session(&second, "other");
    if (rank == 0) {
        send_and_give_up(other);
        send_and_give_up(MPI_COMM_WORLD);
    }
    OK(MPI_Comm_free(&one));
    OK(MPI_Session_finalize(&first));
    if (rank == 0) {
        OK(MPI_Send(NULL, 0, MPI_CHAR, 1, last, other));
    } else if (rank == 1) {
        OK(MPI_Recv(NULL, 0, MPI_CHAR, 0, last, other, MPI_STATUS_IGNORE));
        OK(MPI_Recv(large, bytes, MPI_CHAR, 0, given_up, other, MPI_STATUS_IGNORE));
        OK(MPI_Recv(large, bytes, MPI_CHAR, 0, given_up, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    OK(MPI_Comm_free(&other));
    OK(MPI_Session_finalize(&second));
}

static void* sleep_in_mpi(void* nothing) {
    OK(MPI_Recv(NULL, 0, MPI_CHAR, 1, for_other_thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return nothing;
}

/* The receiver takes the message after both threads sleep. It tells the other thread after that. */
static void is_woken(int rank) {
    for (int round = 0; round < 20; ++round) {
        MPI_Session session;
        MPI_Comm comm = open_session(&session, "woken");
        pthread_t other;
        if (rank == 0) {
            CHECK(pthread_create(&other, NULL, sleep_in_mpi, NULL) == 0);
            send_and_give_up(comm);
            OK(MPI_Comm_free(&comm));
            OK(MPI_Session_finalize(&session));
            OK(MPI_Send(NULL, 0, MPI_CHAR, 1, last, MPI_COMM_WORLD));
            pthread_join(other, NULL);
        } else {
            if (rank == 1) {
                /* In this time the others mostly fall asleep; the test is right whether they do or
                 * not. */
                const double start = MPI_Wtime();
                while (MPI_Wtime() - start < 0.01) {}
                OK(MPI_Recv(large, bytes, MPI_CHAR, 0, given_up, comm, MPI_STATUS_IGNORE));
                OK(MPI_Recv(NULL, 0, MPI_CHAR, 0, last, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                OK(MPI_Send(NULL, 0, MPI_CHAR, 0, for_other_thread, MPI_COMM_WORLD));
            }
            OK(MPI_Comm_free(&comm));
            OK(MPI_Session_finalize(&session));
        }
    }
}

int main(void) {
    int rank, size;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    large = calloc(bytes, 1);
    others_may_wait(rank);
    is_woken(rank);
    MPI_Finalize();
    free(large);
    return 0;
}
