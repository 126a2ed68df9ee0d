// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

int main(void) {
    int version = 0;
    int subversion = 0;
    MPI_Get_version(&version, &subversion);
    return version == MPI_VERSION && subversion == MPI_SUBVERSION ? 0 : 1;
}
