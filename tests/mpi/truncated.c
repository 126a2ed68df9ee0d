/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages longer than their receives: the error names the sender and the length (MPI 5.0, 3.2.3
 * and 9.3). */
#include <stdlib.h>

#include "check.h"

enum { tag = 17, room = 6 };
static const int lengths[] = {7, 5000, 100000, 6000000};

/* Checks that the words of the last error are about this message. */
static void check_words(int source, int length, int other_tag) {
    char text[MPI_MAX_ERROR_STRING], wanted[200];
    int size = 0;
    OK(MPI_Error_string(MPI_ERR_TRUNCATE, text, &size));
    snprintf(wanted, sizeof wanted,
             "the message from rank %d with tag %d has %d bytes, the receive has room for %d",
             source, other_tag, length, room);
    if (strstr(text, wanted) == NULL) fprintf(stderr, "'%s' is not in '%s'\n", wanted, text);
    CHECK(strstr(text, wanted) != NULL);
}

static void check_collective_words(int source, int length, int space) {
    char text[MPI_MAX_ERROR_STRING], wanted[200];
    int size = 0;
    OK(MPI_Error_string(MPI_ERR_TRUNCATE, text, &size));
    snprintf(wanted, sizeof wanted, "rank %d sent %d bytes, and this process expects %d of it",
             source, length, space);
    if (strstr(text, wanted) == NULL) fprintf(stderr, "'%s' is not in '%s'\n", wanted, text);
    CHECK(strstr(text, wanted) != NULL);
}

/* Receives on ranks 0 and 1 by all calls, before the message comes and after it. */
static void receive(char* buffer, int length, int late) {
    MPI_Status status;
    MPI_Request request, both[2];
    MPI_Message message;
    char* small = buffer + 8;
    int sink = 0, index;
    if (late) {
        OK(MPI_Recv(&sink, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &status));
    }
    FAILS(MPI_Recv(small, room, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE);
    check_words(1, length, tag);
    OK(MPI_Irecv(small, room, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    check_words(1, length, tag);
    OK(MPI_Recv_init(small, room, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &request));
    OK(MPI_Start(&request));
    FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    check_words(1, length, tag);
    OK(MPI_Request_free(&request));
    OK(MPI_Mprobe(1, tag, MPI_COMM_WORLD, &message, &status));
    FAILS(MPI_Mrecv(small, room, MPI_CHAR, &message, &status), MPI_ERR_TRUNCATE);
    check_words(1, length, tag);
    OK(MPI_Irecv(small, room, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &both[0]));
    OK(MPI_Irecv(&sink, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &both[1]));
    OK(MPI_Wait(&both[1], MPI_STATUS_IGNORE));
    FAILS(MPI_Waitany(1, both, &index, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    check_words(1, length, tag);
    FAILS(MPI_Sendrecv(&sink, 1, MPI_INT, 1, 3, small, room, MPI_CHAR, 1, tag, MPI_COMM_WORLD,
                       &status),
          MPI_ERR_TRUNCATE);
    check_words(1, length, tag);
    OK(MPI_Isendrecv(&sink, 1, MPI_INT, 1, 4, small, room, MPI_CHAR, 1, tag, MPI_COMM_WORLD,
                     &request));
    FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    check_words(1, length, tag);
}

static void send(char* buffer, int length, int late) {
    MPI_Request requests[7];
    int word = 0, i;
    for (i = 0; i < 7; ++i)
        OK(MPI_Isend(buffer, length, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &requests[i]));
    if (late) OK(MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    OK(MPI_Send(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
    OK(MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Recv(&word, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(7, requests, MPI_STATUSES_IGNORE));
}

/* Receives several at once: the error is about the first that failed. */
static void at_once(char* buffer) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    char text[MPI_MAX_ERROR_STRING];
    int size;
    OK(MPI_Irecv(buffer, 100, MPI_CHAR, 0, 5, MPI_COMM_SELF, &requests[0]));
    OK(MPI_Irecv(buffer + 100, room, MPI_CHAR, 0, 6, MPI_COMM_SELF, &requests[1]));
    OK(MPI_Send(buffer + 200, 100, MPI_CHAR, 0, 5, MPI_COMM_SELF));
    OK(MPI_Send(buffer + 200, 90, MPI_CHAR, 0, 6, MPI_COMM_SELF));
    FAILS(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK(statuses[1].MPI_ERROR == MPI_ERR_TRUNCATE);
    OK(MPI_Error_string(MPI_ERR_IN_STATUS, text, &size));
    CHECK(strstr(text, "from rank 0 with tag 6 has 90 bytes") != NULL);
}

/* Rank 1 sends more than the other ranks expect. */
static void collectives(int rank, char* buffer, int length) {
    char* const to = buffer + 8;
    MPI_Request request;
    int got = MPI_Bcast(to, rank == 1 ? length : room, MPI_CHAR, 1, MPI_COMM_WORLD);
    CHECK(got == (rank == 1 ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
    if (rank == 0) check_collective_words(1, length, room);
    OK(MPI_Ibcast(to, rank == 1 ? length : room, MPI_CHAR, 1, MPI_COMM_WORLD, &request));
    got = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == (rank == 1 ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
    if (rank == 0) check_collective_words(1, length, room);
}

int main(int argc, char** argv) {
    int rank, size, late;
    size_t i;
    char* buffer = calloc(1, 6000100);
    OK(MPI_Init(&argc, &argv));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    at_once(buffer);
    for (i = 0; size > 1 && i < sizeof lengths / sizeof *lengths; ++i) {
        for (late = 0; late < 2; ++late) {
            if (rank == 0) receive(buffer, lengths[i], late);
            if (rank == 1) send(buffer, lengths[i], late);
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    /* Longer messages use an algorithm in which each side must know the length. */
    if (size == 2) collectives(rank, buffer, 7);
    if (size == 2) collectives(rank, buffer, 5000);
    free(buffer);
    MPI_Finalize();
    return 0;
}
