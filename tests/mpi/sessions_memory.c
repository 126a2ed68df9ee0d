/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions one after the other. Each works as the first one did, though memory went back in
   between. None leaves address space behind, nor pages of rings. Objects that belong to no session
   live on. */
#include <malloc.h>

#include "counter.h"

enum { rounds = 12, elements = 100000, small = 300 };

static int failed;
#define EXPECT(condition)                                                     \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition); \
            failed = 1;                                                       \
        }                                                                     \
    } while (0)

static long address_space(void) {
    malloc_trim(0); /* Memory that the C library keeps for itself does not count. */
    long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld", &pages) != 1) pages = -1;
    if (file != NULL) fclose(file);
    return pages * 4;
}

static void on_error(MPI_Session* session, int* code, ...) { (void)session, (void)code; }

/* Sends messages on many tags, so that rings of many instances come and go, and reduces. */
static void communicate(MPI_Comm comm, int round) {
    int rank, size, sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int tag = 0; tag < small; ++tag) {
        int out = 1000 * round + tag, in = -1;
        MPI_Sendrecv(&out, 1, MPI_INT, next, tag, &in, 1, MPI_INT, before, tag, comm,
                     MPI_STATUS_IGNORE);
        EXPECT(in == out);
    }
    int* many = malloc(elements * sizeof *many);
    int* result = malloc(elements * sizeof *result);
    for (int i = 0; i < elements; ++i) many[i] = rank + i + round;
    MPI_Sendrecv(many, elements, MPI_INT, next, 1, result, elements, MPI_INT, before, 1, comm,
                 MPI_STATUS_IGNORE);
    EXPECT(result[elements - 1] == before + elements - 1 + round);
    MPI_Allreduce(many, result, elements, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < size; ++i) sum += i;
    for (int i = 0; i < elements; i += 777) EXPECT(result[i] == sum + size * (i + round));
    free(many);
    free(result);
}

int main(void) {
    long first = 0;
    MPI_Errhandler handler;
    MPI_Info info;
    MPI_Session_create_errhandler(on_error, &handler);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Request stale_request = MPI_REQUEST_NULL;
    MPI_Datatype stale_type = MPI_DATATYPE_NULL;
    for (int round = 0; round < rounds; ++round) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        char text[16] = "";
        int length = sizeof text, there = 0, over = 0, size = 0;
        EXPECT(MPI_Session_init(info, handler, &session) == MPI_SUCCESS);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        EXPECT(MPI_Comm_create_from_group(group, "memory", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                          &comm) == MPI_SUCCESS);
        communicate(comm, round);
        MPI_Comm_size(comm, &size);
        /* The receivers had read them when they closed the session before. */
        EXPECT(round < 3 || size == 1 || counter("rings_dropped") > 0);
        /* Handles of an earlier session are invalid. */
        if (round > 0) {
            MPI_Request request = stale_request;
            EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS);
            EXPECT(MPI_Type_size(stale_type, &length) != MPI_SUCCESS);
        }
        length = sizeof text;
        MPI_Info_get_string(info, "key", &length, text, &there);
        EXPECT(there && strcmp(text, "value") == 0);
        MPI_Request request;
        MPI_Irecv(text, 1, MPI_CHAR, MPI_ANY_SOURCE, 9, comm, &request);
        stale_request = request;
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Type_contiguous(3, MPI_INT, &stale_type);
        MPI_Datatype type = stale_type;
        MPI_Type_free(&type);
        MPI_Group_free(&group);
        MPI_Comm_free(&comm);
        EXPECT(MPI_Session_finalize(&session) == MPI_SUCCESS);
        MPI_Finalized(&over);
        EXPECT(!over);
        if (round == 1) first = address_space();
    }
    const long last = address_space();
    if (last > first + 1024) {
        fprintf(stderr, "address space grew from %ld kB after two sessions to %ld kB after %d\n",
                first, last, rounds);
        failed = 1;
    }
    MPI_Info_free(&info);
    MPI_Errhandler_free(&handler);
    return failed;
}
