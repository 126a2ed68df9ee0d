/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Win_post is local, and messages without bytes are not withheld. This holds also if a process
   is short of memory for unexpected messages (HEDDLE_UNEXPECTED_LIMIT). Rank 2 floods rank 1, which
   then uses windows with rank 0 and with itself before it receives. */
#include "check.h"

enum { MESSAGES = 400, BYTES = 2000, ROUNDS = 300, FLOOD = 1, GO = 2, EMPTY = 3 };

static MPI_Win win;
static MPI_Group first, second;
static char data[MESSAGES][BYTES];

static void flood(void) {
    static MPI_Request requests[MESSAGES];
    for (int i = 0; i < MESSAGES; ++i)
        OK(MPI_Isend(data[i], BYTES, MPI_CHAR, 1, FLOOD, MPI_COMM_WORLD, &requests[i]));
    OK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
}

/* Posts before rank 1 may start: each Ssend comes after its post. */
static void expose(void) {
    int round = 0;
    /* The memory is full. */
    OK(MPI_Recv(&round, 1, MPI_INT, 1, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (; round < ROUNDS; ++round) {
        OK(MPI_Send(NULL, 0, MPI_BYTE, 1, EMPTY, MPI_COMM_WORLD));
        OK(MPI_Win_post(second, 0, win));
        OK(MPI_Ssend(&round, 1, MPI_INT, 1, GO, MPI_COMM_WORLD));
        OK(MPI_Win_wait(win));
    }
}

static void access_it(void) {
    int round = 0, flag, none = 0;
    double begin = MPI_Wtime();
    /* If no more messages come, all that rank 2 can send without a receive have come. */
    while (MPI_Wtime() - begin < 0.5)
        OK(MPI_Iprobe(0, GO, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Send(&round, 1, MPI_INT, 0, GO, MPI_COMM_WORLD));
    for (int i = 0; i < ROUNDS; ++i) {
        OK(MPI_Recv(&round, 1, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(round == i);
        OK(MPI_Win_start(first, 0, win));
        OK(MPI_Put(&i, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
        OK(MPI_Win_complete(win));
        OK(MPI_Win_post(second, 0, win)); /* to itself */
        OK(MPI_Win_start(second, 0, win));
        OK(MPI_Win_complete(win));
        OK(MPI_Win_wait(win));
        OK(MPI_Send(&none, 0, MPI_BYTE, 1, EMPTY, MPI_COMM_WORLD));
        OK(MPI_Recv(&none, 0, MPI_BYTE, 1, EMPTY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < ROUNDS; ++i)
        OK(MPI_Recv(&none, 0, MPI_BYTE, 0, EMPTY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < MESSAGES; ++i)
        OK(MPI_Recv(data[0], BYTES, MPI_CHAR, 2, FLOOD, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
    int rank, size, one = 0;
    int* memory;
    MPI_Group world;
    (void)argc;
    (void)argv;
    start(&rank, &size, MPI_THREAD_SINGLE);
    CHECK(size == 3);
    OK(MPI_Win_allocate(64, sizeof one, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &one, &first));
    one = 1;
    OK(MPI_Group_incl(world, 1, &one, &second));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) expose();
    if (rank == 1) access_it();
    if (rank == 2) flood();
    if (rank == 0) CHECK(*memory == ROUNDS - 1);
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&first));
    OK(MPI_Group_free(&second));
    OK(MPI_Win_free(&win));
    OK(MPI_Finalize());
    return 0;
}
