/* SPDX-License-Identifier: BSD-3-Clause */
/* A log that all processes write by the shared file pointer whenever they have a line. No line is
   lost, and none is within another. At the end all processes say goodbye in the order of ranks.

       mpiexec -n 4 shared_log [FILE] */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { lines = 100, length = 40 };

/* Makes a line of `length` characters, with blanks behind the text. */
static void make_line(char* line, const char* format, int rank, int step) {
    char text[length];
    snprintf(text, sizeof text, format, rank, step);
    snprintf(line, length + 1, "%-*s\n", length - 1, text);
}

int main(int argc, char** argv) {
    char line[length + 1], want[length + 1];
    int rank, size, wrong = 0;
    MPI_File log;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char* const name = argc > 1 ? argv[1] : "/tmp/heddle-log";
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &log);
    MPI_File_set_size(log, 0);
    for (int i = 0; i < lines; ++i) {
        make_line(line, "rank %d has done step %d", rank, i);
        MPI_File_write_shared(log, line, length, MPI_CHAR, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    make_line(line, "rank %d says goodbye after %d steps", rank, lines);
    MPI_File_write_ordered(log, line, length, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_sync(log);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Offset bytes = 0;
    MPI_File_get_size(log, &bytes);
    wrong += bytes != (MPI_Offset)length * size * (lines + 1);
    for (int i = 0; i < size; ++i) {
        memset(line, 0, sizeof line);
        make_line(want, "rank %d says goodbye after %d steps", i, lines);
        MPI_File_read_at(log, (MPI_Offset)length * (size * lines + i), line, length, MPI_CHAR,
                         MPI_STATUS_IGNORE);
        wrong += strcmp(line, want) != 0;
    }
    MPI_File_close(&log);
    if (rank == 0) {
        MPI_File_delete(name, MPI_INFO_NULL);
        printf("a log of %d lines: %d wrong, %s\n", size * (lines + 1), wrong,
               wrong != 0 ? "WRONG" : "correct");
    }
    MPI_Finalize();
    return wrong != 0;
}
