/* SPDX-License-Identifier: BSD-3-Clause */
/* A library before a program of MPICH's ABI. It changes the first byte of each message that
 * MPI_Recv receives. */
#define _GNU_SOURCE
#include <dlfcn.h>

typedef int Receive(void*, int, int, int, int, int, void*);

int MPI_Recv(void* buffer, int count, int type, int source, int tag, int comm, void* status) {
    static Receive* receive;
    if (receive == 0) receive = (Receive*)dlsym(RTLD_DEFAULT, "PMPI_Recv");
    const int error = receive(buffer, count, type, source, tag, comm, status);
    if (count > 0) *(unsigned char*)buffer ^= 1;
    return error;
}
