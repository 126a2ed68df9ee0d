/* SPDX-License-Identifier: BSD-3-Clause */
/* A small program with a bit of everything that takes memory, for test_limits.py. */
#include "check.h"

enum { elements = 1 << 20, communicators = 70 };

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    puts("initialized");
    fflush(stdout);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    double* in = malloc(elements * sizeof *in);
    double* out = malloc(elements * sizeof *out);
    CHECK(in != NULL && out != NULL);
    for (int i = 0; i < elements; ++i) in[i] = i;
    for (int count = 1; count <= elements; count *= 32) {
        OK(MPI_Bcast(in, count, MPI_DOUBLE, 0, MPI_COMM_WORLD));
        OK(MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        CHECK(out[count - 1] == (double)size * (count - 1));
        OK(MPI_Sendrecv(in, count, MPI_DOUBLE, (rank + 1) % size, 0, out, count, MPI_DOUBLE,
                        (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(out[count - 1] == count - 1);
    }
    OK(MPI_Alltoall(in, 1000, MPI_DOUBLE, out, 1000, MPI_DOUBLE, MPI_COMM_WORLD));
    /* There are more communicators than stages, and each would use one. */
    MPI_Comm all[communicators];
    for (int i = 0; i < communicators; ++i) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &all[i]));
        OK(MPI_Allreduce(in, out, 5000, MPI_DOUBLE, MPI_SUM, all[i]));
        CHECK(out[4999] == (double)size * 4999);
    }
    for (int i = 0; i < communicators; ++i) OK(MPI_Comm_free(&all[i]));
    enum { pieces = 4, piece = 1 << 16 };
    char* memory[pieces];
    for (int i = 0; i < pieces; ++i) {
        OK(MPI_Alloc_mem(piece, MPI_INFO_NULL, &memory[i]));
        memory[i][piece - 1] = (char)(i + rank);
    }
    for (int i = 0; i < pieces; ++i) {
        CHECK(memory[i][piece - 1] == (char)(i + rank));
        OK(MPI_Free_mem(memory[i]));
    }
    /* One window stays, others come and go: more than the smallest file has room for at once. */
    MPI_Win kept, passing;
    int *counter, *cell, old = -1;
    const int one = 1;
    OK(MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                        &kept));
    *counter = 0;
    for (int i = 0; i < 150; ++i) {
        OK(MPI_Win_allocate(4000, sizeof *cell, MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &passing));
        CHECK(cell[7] == 0);
        OK(MPI_Win_fence(0, passing));
        OK(MPI_Put(&i, 1, MPI_INT, (rank + 1) % size, 7, 1, MPI_INT, passing));
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, passing));
        CHECK(cell[7] == i);
        OK(MPI_Win_free(&passing));
        OK(MPI_Win_lock_all(0, kept));
        OK(MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, kept));
        OK(MPI_Win_unlock_all(kept));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(rank != 0 || *counter == 150 * size);
    OK(MPI_Win_free(&kept));
    if (argc > 1) /* an argument gives a number of bytes that does not fit */
        MPI_Win_allocate(atoll(argv[1]), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &passing);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
