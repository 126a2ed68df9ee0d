/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a checkpoint of an array that is distributed by blocks. Each process has a block, and the
   file has the array as a whole, in the order of its rows. The processes write it collectively,
   read it by another number of blocks, and compare.

       mpiexec -n 4 checkpoint [FILE] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { rows = 240, columns = 360 };

static double value(int row, int column) { return row * 1000.0 + column; }

/* Computes the block of this process in a grid of processes, and makes a view of it. */
static MPI_Datatype block_of(const int grid[2], int rank, int begin[2], int length[2]) {
    const int all[2] = {rows, columns}, place[2] = {rank / grid[1], rank % grid[1]};
    MPI_Datatype block;
    for (int i = 0; i < 2; ++i) {
        begin[i] = all[i] * place[i] / grid[i];
        length[i] = all[i] * (place[i] + 1) / grid[i] - begin[i];
    }
    MPI_Type_create_subarray(2, all, length, begin, MPI_ORDER_C, MPI_DOUBLE, &block);
    MPI_Type_commit(&block);
    return block;
}

static void stop_if(int error, const char* what) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (error == MPI_SUCCESS) return;
    MPI_Error_string(error, text, &length);
    fprintf(stderr, "checkpoint: %s: %s\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
    int rank, size, grid[2] = {0, 0}, begin[2], length[2], wrong = 0;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char* const name = argc > 1 ? argv[1] : "/tmp/heddle-checkpoint";

    MPI_Dims_create(size, 2, grid);
    MPI_Datatype block = block_of(grid, rank, begin, length);
    double* data = malloc(sizeof *data * rows * columns);
    for (int i = 0; i < length[0]; ++i)
        for (int k = 0; k < length[1]; ++k)
            data[i * length[1] + k] = value(begin[0] + i, begin[1] + k);
    stop_if(
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
        name);
    stop_if(MPI_File_set_size(file, 0), "set_size");
    stop_if(MPI_File_set_view(file, 0, MPI_DOUBLE, block, "native", MPI_INFO_NULL), "set_view");
    stop_if(MPI_File_write_all(file, data, length[0] * length[1], MPI_DOUBLE, MPI_STATUS_IGNORE),
            "write_all");
    MPI_Type_free(&block);

    /* As after a restart: rows only. */
    const int stripes[2] = {size, 1};
    block = block_of(stripes, rank, begin, length);
    stop_if(MPI_File_set_view(file, 0, MPI_DOUBLE, block, "native", MPI_INFO_NULL), "set_view");
    stop_if(MPI_File_read_all(file, data, length[0] * length[1], MPI_DOUBLE, MPI_STATUS_IGNORE),
            "read_all");
    for (int i = 0; i < length[0]; ++i)
        for (int k = 0; k < length[1]; ++k)
            wrong += data[i * length[1] + k] != value(begin[0] + i, begin[1] + k);
    MPI_Type_free(&block);
    stop_if(MPI_File_close(&file), "close");
    if (rank == 0) MPI_File_delete(name, MPI_INFO_NULL);
    free(data);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("checkpoint of %d x %d numbers: %d wrong, %s\n", rows, columns, wrong,
               wrong != 0 ? "WRONG" : "correct");
    MPI_Finalize();
    return wrong != 0;
}
