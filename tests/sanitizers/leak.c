/* SPDX-License-Identifier: BSD-3-Clause */
/* Loses memory of its own, which MPI has sent and received, and knows the address of. */
#include <stdlib.h>

#include "../mpi/check.h"

/* No register and no place on the stack of main() remembers the addresses. */
static __attribute__((noinline)) void lose(int count) {
    MPI_Request request;
    char* out = calloc(1, (size_t)count);
    char* in = malloc((size_t)count);
    OK(MPI_Irecv(in, count, MPI_CHAR, 0, 0, MPI_COMM_SELF, &request));
    OK(MPI_Send(out, count, MPI_CHAR, 0, 0, MPI_COMM_SELF));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Isend(out, count, MPI_CHAR, 0, 0, MPI_COMM_SELF, &request));
    OK(MPI_Recv(in, count, MPI_CHAR, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(void) {
    int rank, size;
    start(&rank, &size, MPI_THREAD_SINGLE);
    lose(1234);
    lose(123400);
    OK(MPI_Finalize());
    return 0;
}
