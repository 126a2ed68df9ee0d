/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of the last session waits for sends that the program no longer waits for. No ranks meet
   at the end of sessions, so that no rank could read from a sender that left. */
#include <unistd.h>

#include "check.h"

enum { bytes = 3 << 20 };

int main(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Request request;
    int rank, size, small = 5;
    char* out = malloc(bytes);
    char* in = malloc(bytes);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "end", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    memset(out, rank + 1, bytes);
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;

    /* Ranks with an even number free a request whose receive is long over, and leave. */
    if (rank % 2 == 0 && next != 0) {
        MPI_Isendrecv(out, bytes, MPI_CHAR, next, 1, &small, 1, MPI_INT, next, 2, comm, &request);
        MPI_Request_free(&request);
    }
    if (rank % 2 == 1) {
        MPI_Send(&small, 1, MPI_INT, before, 2, comm);
        usleep(100000); /* time for a sender that does not wait to be gone */
        MPI_Recv(in, bytes, MPI_CHAR, before, 1, comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < bytes; ++i)
            if (in[i] != before + 1) return 1;
    }
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    free(in);
    free(out);
    return 0;
}
