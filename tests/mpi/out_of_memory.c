/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory runs out while unexpected messages come. The call that needs memory answers
 * MPI_ERR_NO_MEM, holds nothing when it returns, and loses nothing. With memory the next calls
 * work, and all messages are there, in their order. */
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

enum { messages = 20000, ints = 500, numbers = 1, nothing = 2, threads_tag = 3 };

static rlim_t address_space(void) {
    FILE* file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void limit_address_space(rlim_t bytes) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static int class_of(int code) {
    int answer = MPI_SUCCESS;
    MPI_Error_class(code, &answer);
    return answer;
}

/* Looks for a message that does not come, until no memory is left for those that do. */
static void run_out(MPI_Comm comm, int source) {
    limit_address_space(address_space() + (8 << 20));
    for (int failures = 0; failures < 3;) {
        int flag = 0;
        const int error = source == 0
            ? MPI_Iprobe(0, nothing, comm, &flag, MPI_STATUS_IGNORE)
            : MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
        CHECK(error == MPI_SUCCESS || class_of(error) == MPI_ERR_NO_MEM);
        failures += error != MPI_SUCCESS;
    }
    limit_address_space(RLIM_INFINITY);
}

static void send_all(MPI_Comm comm) {
    static int data[messages];
    static int payload[messages][ints];
    MPI_Request* requests = malloc(messages * sizeof *requests);
    for (int i = 0; i < messages; ++i) {
        data[i] = i;
        for (int k = 0; k < ints; ++k) payload[i][k] = i + k;
        OK(MPI_Isend(payload[i], ints, MPI_INT, 1, numbers, comm, &requests[i]));
    }
    OK(MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE));
    free(requests);
}

static void receive_all(MPI_Comm comm, int tag) {
    int payload[ints];
    for (int i = 0; i < messages; ++i) {
        OK(MPI_Recv(payload, ints, MPI_INT, 0, tag, comm, MPI_STATUS_IGNORE));
        for (int k = 0; k < ints; ++k) CHECK(payload[k] == i + k);
    }
}

int main(void) {
    int rank, size;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    MPI_Comm other;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
    for (int round = 0; round < 2; ++round) {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0)
            send_all(round == 0 ? MPI_COMM_WORLD : other);
        else if (rank == 1) {
            /* Receives by exact tags, and by wildcards, which put messages in order. */
            run_out(other, round);
            receive_all(round == 0 ? MPI_COMM_WORLD : other, round == 0 ? numbers : MPI_ANY_TAG);
        }
    }
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
