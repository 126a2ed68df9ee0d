/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank sends large messages to the next one: first in one direction (the sender has time to
   help), then all at once. In every other round it sends to the one before. With `bystander` as its
   argument the last rank takes no part, and its memory must stay as it is. */
#include "buffers.h"

#include "../mpi/check.h"

enum { rounds = 6 };
static const int sizes[] = {9000, 70000, most_bytes};

static unsigned char byte_of(int from, int round, int i) {
    return (unsigned char)(from * 31 + round * 7 + i % 251 + 1);
}

static void fill(unsigned char* at, int bytes, int from, int round) {
    for (int i = 0; i < bytes; ++i) at[i] = byte_of(from, round, i);
}

static void expect(const unsigned char* at, int bytes, int from, int round) {
    for (int i = 0; i < bytes; ++i) {
        if (at[i] == byte_of(from, round, i)) continue;
        fprintf(stderr, "message of %d bytes from rank %d: byte %d is wrong\n", bytes, from, i);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void one_way(unsigned char* memory, int bytes, int from, int to, int rank, int round) {
    if (rank == from) {
        fill(memory, bytes, from, round);
        OK(MPI_Send(memory, bytes, MPI_BYTE, to, round, MPI_COMM_WORLD));
    } else if (rank == to) {
        memset(memory + most_bytes, 0, (size_t)bytes);
        OK(MPI_Recv(memory + most_bytes, bytes, MPI_BYTE, from, round, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
        expect(memory + most_bytes, bytes, from, round);
    }
}

static void around(unsigned char* memory, int bytes, int rank, int ranks, int round) {
    const int step = round % 2 == 0 ? 1 : ranks - 1;
    const int before = (rank + ranks - step) % ranks;
    fill(memory, bytes, rank, round);
    OK(MPI_Sendrecv(memory, bytes, MPI_BYTE, (rank + step) % ranks, round, memory + most_bytes,
                    bytes, MPI_BYTE, before, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    expect(memory + most_bytes, bytes, before, round);
}

int main(int argc, char** argv) {
    int rank, size;
    start(&rank, &size, MPI_THREAD_SINGLE);
    const int bystanders = argc > 1 && strcmp(argv[1], "bystander") == 0;
    const int ranks = size - bystanders;
    unsigned char* memory = buffers();
    if (rank == ranks) memset(memory, 0xb5, buffer_bytes);
    for (int round = 0; round < rounds && rank < ranks; ++round)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
            one_way(memory, sizes[i], round % ranks, (round + 1) % ranks, rank, round);
            around(memory, sizes[i], rank, ranks, round);
        }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == ranks)
        for (size_t i = 0; i < buffer_bytes; ++i) CHECK(memory[i] == 0xb5);
    return MPI_Finalize();
}
