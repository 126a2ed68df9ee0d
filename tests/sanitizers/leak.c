/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaks memory of its own, which MPI has sent and received, and whose address MPI knows. */
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

/* Copies leave addresses in vector registers, where they count as known. */
static void empty_registers(void) {
#ifdef __x86_64__
    __asm__ volatile(
        "pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\tpxor %%xmm2, %%xmm2\n\tpxor %%xmm3, "
        "%%xmm3\n\t"
        "pxor %%xmm4, %%xmm4\n\tpxor %%xmm5, %%xmm5\n\tpxor %%xmm6, %%xmm6\n\tpxor %%xmm7, "
        "%%xmm7\n\t"
        "pxor %%xmm8, %%xmm8\n\tpxor %%xmm9, %%xmm9\n\tpxor %%xmm10, %%xmm10\n\t"
        "pxor %%xmm11, %%xmm11\n\tpxor %%xmm12, %%xmm12\n\tpxor %%xmm13, %%xmm13\n\t"
        "pxor %%xmm14, %%xmm14\n\tpxor %%xmm15, %%xmm15" ::
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
              "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

int main(void) {
    int rank, size;
    start(&rank, &size, MPI_THREAD_SINGLE);
    lose(1234);
    lose(123400);
    OK(MPI_Finalize());
    empty_registers();
    return 0;
}
