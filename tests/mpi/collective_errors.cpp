// SPDX-License-Identifier: BSD-3-Clause
/* Wrong arguments of collective calls. Each gives its class and sends nothing, so that calls after
   it work. The receivers report messages that are too long. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static int rank, size, failed;

#define EXPECT(expected, call)                                                                    \
    do {                                                                                          \
        const int got = (call);                                                                   \
        if (got != (expected)) {                                                                  \
            fprintf(stderr, "rank %d, line %d: %s gave %d, not %s\n", rank, __LINE__, #call, got, \
                    #expected);                                                                   \
            failed = 1;                                                                           \
        }                                                                                         \
    } while (0)

static void keep_left(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    memcpy(inout, in, sizeof(int) * (size_t)*length);
}

/* Calls that do not wait make the same checks. A call with a wrong argument makes no request. */
static void without_waiting(void) {
    int in[64] = {0}, out[64] = {0}, i;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;

    EXPECT(MPI_ERR_COMM, MPI_Ibarrier(MPI_COMM_NULL, &request));
    EXPECT(MPI_ERR_ARG, MPI_Ibarrier(world, NULL));
    EXPECT(MPI_ERR_ROOT, MPI_Ibcast(in, 1, MPI_INT, size, world, &request));
    EXPECT(MPI_ERR_COUNT, MPI_Ibcast(in, -1, MPI_INT, 0, world, &request));
    EXPECT(MPI_ERR_OP, MPI_Iallreduce(in, out, 1, MPI_FLOAT, MPI_BAND, world, &request));
    EXPECT(MPI_ERR_BUFFER, MPI_Iallreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, world, &request));
    EXPECT(MPI_ERR_TRUNCATE, MPI_Iallgather(in, 2, MPI_INT, out, 1, MPI_INT, world, &request));
    EXPECT(MPI_ERR_INFO, MPI_Barrier_init(world, (MPI_Info)in, &request));
    EXPECT(MPI_ERR_TYPE,
           MPI_Bcast_init(in, 1, MPI_DATATYPE_NULL, 0, world, MPI_INFO_NULL, &request));
    EXPECT(1, request == MPI_REQUEST_NULL);

    EXPECT(MPI_SUCCESS, MPI_Barrier_init(world, MPI_INFO_NULL, &request));
    EXPECT(MPI_SUCCESS, MPI_Wait(&request, &status)); /* not started: complete at once */
    EXPECT(MPI_SUCCESS, MPI_Start(&request));
    EXPECT(MPI_ERR_REQUEST, MPI_Start(&request));
    EXPECT(MPI_SUCCESS, MPI_Wait(&request, &status));
    EXPECT(1, request != MPI_REQUEST_NULL);
    EXPECT(0, status.MPI_ERROR);
    EXPECT(MPI_SUCCESS, MPI_Request_free(&request));
    EXPECT(MPI_SUCCESS, MPI_Ibarrier(world, &request));
    EXPECT(MPI_ERR_REQUEST, MPI_Start(&request));
    EXPECT(MPI_SUCCESS, MPI_Wait(&request, MPI_STATUS_IGNORE));

    /* The call after an error is still the same one in all processes. */
    for (i = 0; i < 64; ++i) in[i] = rank;
    EXPECT(MPI_SUCCESS, MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, world, &request));
    EXPECT(MPI_SUCCESS, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT(size * (size - 1) / 2, out[0]);
}

/* The memory that a call reads and the memory that it fills must not overlap. */
static void aliases(void) {
    int all[64] = {0}, out[64] = {0}, counts[16], displacements[16], i;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype even;
    for (i = 0; i < 16; ++i) {
        counts[i] = 2;
        displacements[i] = 2 * i;
    }
    EXPECT(MPI_ERR_BUFFER, MPI_Allreduce(all, all, 2, MPI_INT, MPI_SUM, world));
    EXPECT(MPI_ERR_BUFFER, MPI_Allreduce(all, all + 1, 2, MPI_INT, MPI_SUM, world));
    EXPECT(MPI_ERR_BUFFER, MPI_Iallreduce(all, all, 2, MPI_INT, MPI_SUM, world, &request));
    EXPECT(MPI_ERR_BUFFER, MPI_Scan(all, all, 2, MPI_INT, MPI_SUM, world));
    EXPECT(MPI_ERR_BUFFER, MPI_Reduce_scatter_block(all, all, 2, MPI_INT, MPI_SUM, world));
    EXPECT(MPI_ERR_BUFFER, MPI_Allgather(all + 2 * rank, 2, MPI_INT, all, 2, MPI_INT, world));
    EXPECT(MPI_ERR_BUFFER,
           MPI_Allgatherv(all + 2 * rank, 2, MPI_INT, all, counts, displacements, MPI_INT, world));
    EXPECT(MPI_ERR_BUFFER, MPI_Alltoall(all, 2, MPI_INT, all, 2, MPI_INT, world));
    EXPECT(MPI_ERR_BUFFER,
           MPI_Alltoallv(all, counts, displacements, MPI_INT, all, counts, displacements, MPI_INT,
                         world));
    /* Equal addresses, but other data: nothing overlaps. */
    EXPECT(MPI_SUCCESS, MPI_Allreduce(all, all, 0, MPI_INT, MPI_SUM, world));
    EXPECT(MPI_SUCCESS, MPI_Allreduce(all, all + 2, 2, MPI_INT, MPI_SUM, world));
    MPI_Type_vector(16, 1, 2, MPI_INT, &even);
    MPI_Type_commit(&even);
    EXPECT(MPI_ERR_BUFFER, MPI_Alltoall(all, 1, even, all, 1, even, MPI_COMM_SELF));
    EXPECT(MPI_SUCCESS, MPI_Alltoall(all, 1, even, all + 1, 1, even, MPI_COMM_SELF));
    MPI_Type_free(&even);
    for (i = 0; i < 16; ++i) displacements[i] += 32;
    if (size == 1) {
        const int zero = 0;
        EXPECT(
            MPI_SUCCESS,
            MPI_Alltoallv(all, counts, &zero, MPI_INT, all, counts, displacements, MPI_INT, world));
        EXPECT(MPI_ERR_BUFFER, MPI_Gather(all, 1, MPI_INT, all, 1, MPI_INT, 0, world));
        EXPECT(MPI_ERR_BUFFER, MPI_Scatter(all, 1, MPI_INT, all, 1, MPI_INT, 0, world));
        EXPECT(MPI_ERR_BUFFER, MPI_Reduce(all, all, 1, MPI_INT, MPI_SUM, 0, world));
        EXPECT(MPI_SUCCESS, MPI_Exscan(all, all, 1, MPI_INT, MPI_SUM, world)); /* has no result */
    }
    for (i = 0; i < 64; ++i) all[i] = rank;
    EXPECT(MPI_SUCCESS, MPI_Allreduce(all, out, 64, MPI_INT, MPI_SUM, world));
    EXPECT(size * (size - 1) / 2, out[63]);
}

/* No process wants the operand: memory that cannot be read does no harm. */
static void exscan_of_one_process(void) {
    const size_t bytes = 1 << 20;
    void* const nothing = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Comm self = MPI_COMM_SELF;
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT(0, nothing == MAP_FAILED);
    EXPECT(MPI_SUCCESS, MPI_Exscan(nothing, NULL, 1 << 18, MPI_INT, MPI_SUM, self));
    EXPECT(MPI_SUCCESS, MPI_Exscan(nothing, NULL, 1000, MPI_DOUBLE_INT, MPI_MAXLOC, self));
    EXPECT(MPI_SUCCESS,
           MPI_Iexscan(nothing, NULL, 1000, MPI_SHORT_INT, MPI_MINLOC, self, &request));
    EXPECT(MPI_SUCCESS, MPI_Wait(&request, MPI_STATUS_IGNORE));
    munmap(nothing, bytes);
}

/* The operands of MPI_Reduce_local must not overlap. */
static void aliased_operands(void) {
    int all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    MPI_Datatype every_other;
    EXPECT(MPI_ERR_BUFFER, MPI_Reduce_local(all, all, 1, MPI_INT, MPI_SUM));
    EXPECT(MPI_ERR_BUFFER, MPI_Reduce_local(all, all + 3, 4, MPI_INT, MPI_SUM));
    EXPECT(MPI_ERR_BUFFER, MPI_Reduce_local(all + 3, all, 4, MPI_INT, MPI_SUM));
    EXPECT(0, all[0] != 0 || all[3] != 3 || all[7] != 7);
    EXPECT(MPI_SUCCESS, MPI_Reduce_local(all, all, 0, MPI_INT, MPI_SUM));
    EXPECT(MPI_SUCCESS, MPI_Reduce_local(all, all + 4, 4, MPI_INT, MPI_SUM));
    EXPECT(1, all[4] == 4 && all[7] == 10);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other);
    MPI_Type_commit(&every_other);
    MPI_Op op;
    EXPECT(MPI_SUCCESS, MPI_Op_create(keep_left, 1, &op));
    EXPECT(MPI_ERR_BUFFER, MPI_Reduce_local(all, all, 4, every_other, op));
    EXPECT(MPI_SUCCESS, MPI_Reduce_local(all, all + 1, 1, every_other, op));
    EXPECT(1, all[1] == all[0]);
    MPI_Op_free(&op);
    MPI_Type_free(&every_other);
}

/* Programs use operations on types that the standard does not mention. */
static void beyond_the_standard(void) {
    signed char chars[3] = {-1, 2, 3};
    const char low = 'a', high = (char)('b' + rank);
    char most = 0;
    MPI_Aint place[2] = {0, 5};
    MPI_Offset offset[2] = {7, 5};
    MPI_Count count[2] = {0, 0};
    MPI_Comm world = MPI_COMM_WORLD;
    EXPECT(MPI_SUCCESS, MPI_Allreduce(MPI_IN_PLACE, chars, 3, MPI_CHAR, MPI_SUM, world));
    EXPECT(1, chars[0] == -size && chars[1] == 2 * size && chars[2] == 3 * size);
    EXPECT(MPI_SUCCESS, MPI_Allreduce(&high, &most, 1, MPI_CHAR, MPI_MAX, world));
    EXPECT(1, most == (char)('a' + size));
    EXPECT(MPI_SUCCESS, MPI_Allreduce(&low, &most, 1, MPI_CHAR, MPI_BAND, world));
    EXPECT(1, most == 'a');
    EXPECT(MPI_SUCCESS, MPI_Reduce_local(&place[1], &place[0], 1, MPI_AINT, MPI_LOR));
    EXPECT(1, place[0] == 1);
    EXPECT(MPI_SUCCESS, MPI_Reduce_local(&offset[1], &offset[0], 1, MPI_OFFSET, MPI_LAND));
    EXPECT(1, offset[0] == 1);
    EXPECT(MPI_SUCCESS, MPI_Reduce_local(&count[1], &count[0], 1, MPI_COUNT, MPI_LXOR));
    EXPECT(1, count[0] == 0);
}

/* A program may free an operation that is under way. Its handle is then invalid. */
static void freed_operation(void) {
    int in = rank, out = -1;
    MPI_Op op, copy;
    MPI_Request request;
    MPI_Op_create(keep_left, 0, &op);
    copy = op;
    EXPECT(MPI_SUCCESS, MPI_Iallreduce(&in, &out, 1, MPI_INT, op, MPI_COMM_WORLD, &request));
    EXPECT(MPI_SUCCESS, MPI_Op_free(&op));
    EXPECT(MPI_ERR_OP, MPI_Op_free(&copy));
    EXPECT(MPI_SUCCESS, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT(0, out);
}

static void between_groups(void) {
    int in[4] = {0}, out[64] = {0}, place;
    MPI_Comm group, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 3, &both);
    MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    place = rank == 0 ? size - 1 : 1; /* the size of the other group */
    EXPECT(MPI_ERR_ROOT, MPI_Bcast(in, 1, MPI_INT, place, both));
    EXPECT(MPI_ERR_ROOT, MPI_Bcast(in, 1, MPI_INT, -17, both));
    EXPECT(MPI_ERR_COMM, MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, both));
    EXPECT(MPI_ERR_COMM, MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, both));
    EXPECT(MPI_ERR_BUFFER, MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, both));
    EXPECT(MPI_ERR_BUFFER, MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, both));
    EXPECT(MPI_ERR_COUNT, MPI_Alltoall(in, -1, MPI_INT, out, 1, MPI_INT, both));
    EXPECT(MPI_SUCCESS, MPI_Barrier(both));
    // Only the root's arguments are significant: no other rank checks the operation against the
    // datatype.
    const bool alone = rank == 0;
    EXPECT(MPI_SUCCESS,
           alone ? MPI_Reduce(in, nullptr, 1, MPI_INT, MPI_SUM, 0, both)
                 : MPI_Reduce(nullptr, rank == 1 ? out : nullptr, 1, rank == 1 ? MPI_INT : MPI_BYTE,
                              MPI_SUM, rank == 1 ? MPI_ROOT : MPI_PROC_NULL, both));
    MPI_Comm_free(&group);
    MPI_Comm_free(&both);
}

int main(int argc, char** argv) {
    int in[64] = {0}, out[1024] = {0}, ones[16], minus[16], zeros[16];
    MPI_Datatype types[16], no_types[16];
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Op op = MPI_OP_NULL, freed;
    int i, commutes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    if (MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) != MPI_SUCCESS) return 77;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (i = 0; i < 16; ++i) {
        ones[i] = 1;
        zeros[i] = 0;
        minus[i] = i == size - 1 ? -1 : 1;
        types[i] = MPI_INT;
        no_types[i] = i == size - 1 ? MPI_DATATYPE_NULL : MPI_INT;
    }

    EXPECT(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
    EXPECT(MPI_ERR_COMM, MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_NULL));
    EXPECT(MPI_ERR_ROOT, MPI_Bcast(in, 1, MPI_INT, size, world));
    EXPECT(MPI_ERR_ROOT, MPI_Bcast(in, 1, MPI_INT, -1, world));
    EXPECT(MPI_ERR_ROOT, MPI_Bcast(in, 1, MPI_INT, MPI_ROOT, world));
    EXPECT(MPI_ERR_COUNT, MPI_Bcast(in, -1, MPI_INT, 0, world));
    EXPECT(MPI_ERR_COUNT, MPI_Bcast_c(in, (MPI_Count)1 << 62, MPI_INT, 0, world));
    EXPECT(MPI_ERR_TYPE, MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, world));
    EXPECT(MPI_ERR_BUFFER, MPI_Bcast(NULL, 1, MPI_INT, 0, world));
    EXPECT(MPI_ERR_BUFFER, MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, world));

    EXPECT(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, world));
    EXPECT(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_INT, (MPI_Op)in, world));
    EXPECT(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_FLOAT, MPI_BAND, world));
    EXPECT(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_DOUBLE_INT, MPI_SUM, world));
    EXPECT(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_INT, MPI_MAXLOC, world));
    EXPECT(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_WCHAR, MPI_SUM, world));
    EXPECT(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_C_FLOAT_COMPLEX, MPI_MAX, world));
    EXPECT(MPI_ERR_OP, MPI_Reduce_scatter(in, out, ones, MPI_BYTE, MPI_SUM, world));
    EXPECT(MPI_ERR_OP, MPI_Reduce_local(in, out, 1, MPI_BYTE, MPI_SUM));
    EXPECT(MPI_ERR_BUFFER, MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, world));
    EXPECT(MPI_ERR_BUFFER, MPI_Allreduce(NULL, out, 1, MPI_INT, MPI_SUM, world));
    EXPECT(MPI_ERR_BUFFER,
           MPI_Reduce(MPI_IN_PLACE, rank == 0 ? NULL : out, 1, MPI_INT, MPI_SUM, 0, world));
    EXPECT(MPI_ERR_COUNT, MPI_Reduce_scatter(in, out, minus, MPI_INT, MPI_SUM, world));
    EXPECT(MPI_ERR_ARG, MPI_Reduce_scatter(in, out, NULL, MPI_INT, MPI_SUM, world));
    EXPECT(MPI_ERR_COUNT, MPI_Reduce_scatter_block(in, out, -3, MPI_INT, MPI_SUM, world));

    EXPECT(MPI_ERR_COUNT, MPI_Allgather(in, -1, MPI_INT, out, 1, MPI_INT, world));
    EXPECT(MPI_ERR_COUNT, MPI_Allgather(in, 1, MPI_INT, out, -1, MPI_INT, world));
    EXPECT(MPI_ERR_TYPE, MPI_Allgather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, world));
    EXPECT(MPI_ERR_BUFFER, MPI_Allgather(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, world));
    EXPECT(MPI_ERR_TRUNCATE, MPI_Allgather(in, 2, MPI_INT, out, 1, MPI_INT, world));
    EXPECT(MPI_ERR_COUNT, MPI_Allgatherv(in, 1, MPI_INT, out, minus, ones, MPI_INT, world));
    EXPECT(MPI_ERR_ARG, MPI_Allgatherv(in, 1, MPI_INT, out, ones, NULL, MPI_INT, world));
    EXPECT(MPI_ERR_ARG, MPI_Alltoallv(in, NULL, zeros, MPI_INT, out, ones, zeros, MPI_INT, world));
    EXPECT(MPI_ERR_COUNT,
           MPI_Alltoallv(in, ones, zeros, MPI_INT, out, minus, zeros, MPI_INT, world));
    EXPECT(MPI_ERR_TRUNCATE, MPI_Alltoall(in, 4, MPI_INT, out, 3, MPI_INT, world));
    // A block without elements may have any type.
    EXPECT(MPI_ERR_TYPE, MPI_Alltoallw(in, ones, zeros, types, out, ones, zeros, no_types, world));
    EXPECT(MPI_SUCCESS, MPI_Alltoallw(in, zeros, zeros, no_types, out, zeros, zeros, types, world));
    EXPECT(MPI_SUCCESS, MPI_Alltoallw(in, zeros, zeros, types, out, zeros, zeros, no_types, world));
    EXPECT(MPI_ERR_ARG, MPI_Alltoallw(in, zeros, zeros, NULL, out, zeros, zeros, types, world));
    if (rank == size - 1) {
        EXPECT(MPI_ERR_BUFFER, MPI_Gather(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, rank, world));
        EXPECT(MPI_ERR_COUNT, MPI_Gatherv(in, 1, MPI_INT, out, minus, ones, MPI_INT, rank, world));
        EXPECT(MPI_ERR_BUFFER, MPI_Scatter(MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, rank, world));
        EXPECT(MPI_ERR_BUFFER,
               MPI_Scatterv(NULL, ones, zeros, MPI_INT, out, 1, MPI_INT, rank, world));
    } else {
        EXPECT(MPI_ERR_BUFFER,
               MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, size - 1, world));
        EXPECT(MPI_ERR_BUFFER,
               MPI_Scatter(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, size - 1, world));
        EXPECT(MPI_ERR_BUFFER, MPI_Reduce(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, size - 1, world));
    }

    EXPECT(MPI_ERR_ARG, MPI_Op_create(NULL, 1, &op));
    EXPECT(MPI_ERR_ARG, MPI_Op_create(keep_left, 1, NULL));
    EXPECT(MPI_SUCCESS, MPI_Op_create(keep_left, 0, &op));
    EXPECT(MPI_SUCCESS, MPI_Op_commutative(op, &commutes));
    EXPECT(0, commutes);
    freed = op;
    EXPECT(MPI_SUCCESS, MPI_Op_free(&op));
    EXPECT(1, op == MPI_OP_NULL);
    EXPECT(MPI_ERR_OP, MPI_Op_free(&op));
    EXPECT(MPI_ERR_OP, MPI_Op_free(&freed));
    EXPECT(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_INT, freed, world));
    op = MPI_SUM;
    EXPECT(MPI_ERR_OP, MPI_Op_free(&op));
    EXPECT(1, op == MPI_SUM);
    EXPECT(MPI_ERR_OP, MPI_Op_commutative(MPI_OP_NULL, &commutes));

    /* Rank 0 sends more than the others expect. They get what fits, and no rank hangs. */
    for (i = 0; i < 64; ++i) in[i] = rank == 0 ? i + 1 : 0;
    EXPECT(rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE,
           MPI_Bcast(in, rank == 0 ? 20 : 10, MPI_INT, 0, world));
    EXPECT(10, in[9]);
    EXPECT(rank == 0 ? 11 : 0, in[10]);

    for (i = 0; i < 64; ++i) in[i] = rank;
    EXPECT(MPI_SUCCESS, MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, world));
    EXPECT(size * (size - 1) / 2, out[0]);
    without_waiting();
    aliases();
    beyond_the_standard();
    exscan_of_one_process();
    aliased_operands();
    freed_operation();
    if (size > 1) between_groups();
    MPI_Finalize();
    return failed;
}
