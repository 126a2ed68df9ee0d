/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_APPNUM: the number of this program among mpiexec's programs. The argument gives the same
 * number. */
#include "check.h"

int main(int argc, char** argv) {
    int rank, size, flag, *value = NULL;
    start(&rank, &size, MPI_THREAD_SINGLE);
    CHECK(argc == 2);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
    CHECK(flag && *value == atoi(argv[1]));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
    CHECK(!flag || *value >= size);
    FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_APPNUM, &size), MPI_ERR_KEYVAL);
    int code;
    OK(MPI_Add_error_class(&code));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    CHECK(flag && *value == code && code > MPI_ERR_LASTCODE);
    OK(MPI_Add_error_code(code, &code));
    CHECK(*value == code); /* the attribute has the value */
    MPI_Finalize();
    return 0;
}
