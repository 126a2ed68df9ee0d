/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of functions that take counts. Included twice: N(Send) is MPI_Send, or MPI_Send_c with
 *
 *     Count         int        MPI_Count
 *     Displacement  int        MPI_Aint    of collectives
 *     Step          int        MPI_Count   in a datatype
 *     Address       MPI_Aint   MPI_Count   in a datatype, in bytes
 *     Unit          int        MPI_Aint    of a window
 */

/* ---- Messages ---- */

/* Posts a receive before each send, which may be to the rank itself. */
#define RECEIVED(...)                                                \
    do {                                                             \
        MPI_Request receive_ = MPI_REQUEST_NULL;                     \
        fill();                                                      \
        OK(N(Irecv)(got, 2, MPI_INT, left, 7, world, &receive_));    \
        CHECK(receive_ != MPI_REQUEST_NULL);                         \
        OK(MPI_Barrier(world)); /* after it MPI_Rsend can be sure */ \
        __VA_ARGS__;                                                 \
        complete_receive(&receive_, left, 7, 2);                     \
        CHECK(got[0] == 100 * left && got[1] == 100 * left + 1);     \
    } while (0)
#define SEND(X) RECEIVED(OK(N(X)(given, 2, MPI_INT, right, 7, world)))
#define ISEND(X)                                                                                 \
    RECEIVED(MPI_Request r = MPI_REQUEST_NULL; OK(N(X)(given, 2, MPI_INT, right, 7, world, &r)); \
             complete(&r))
#define SEND_INIT(X)                                                                               \
    RECEIVED(MPI_Request r = MPI_REQUEST_NULL; OK(N(X)(given, 2, MPI_INT, right, 7, world, &r));   \
             CHECK(r != MPI_REQUEST_NULL); OK(MPI_Start(&r)); OK(MPI_Wait(&r, MPI_STATUS_IGNORE)); \
             CHECK(r != MPI_REQUEST_NULL); OK(MPI_Request_free(&r)); CHECK(r == MPI_REQUEST_NULL))

/* Sends to and receives from MPI_PROC_NULL: no message is sent. */
#define SEND_NOWHERE(X) OK(N(X)(given, 2, MPI_INT, MPI_PROC_NULL, 7, world))
#define ISEND_NOWHERE(X)                                          \
    do {                                                          \
        MPI_Request r = MPI_REQUEST_NULL;                         \
        OK(N(X)(given, 2, MPI_INT, MPI_PROC_NULL, 7, world, &r)); \
        complete(&r);                                             \
    } while (0)
#define SEND_INIT_NOWHERE(X)                                      \
    do {                                                          \
        MPI_Request r = MPI_REQUEST_NULL;                         \
        OK(N(X)(given, 2, MPI_INT, MPI_PROC_NULL, 7, world, &r)); \
        OK(MPI_Start(&r));                                        \
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));                      \
        OK(MPI_Request_free(&r));                                 \
    } while (0)
#define RECEIVES_NOTHING(...)                                             \
    do {                                                                  \
        MPI_Request request = MPI_REQUEST_NULL;                           \
        MPI_Status status;                                                \
        memset(&status, 0, sizeof status);                                \
        fill();                                                           \
        __VA_ARGS__;                                                      \
        if (request != MPI_REQUEST_NULL) OK(MPI_Wait(&request, &status)); \
        check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);             \
        CHECK(got[0] == -1);                                              \
    } while (0)

static void messages_of_nobody(void) {
    SEND_NOWHERE(Send);
    SEND_NOWHERE(Bsend);
    SEND_NOWHERE(Ssend);
    SEND_NOWHERE(Rsend);
    ISEND_NOWHERE(Isend);
    ISEND_NOWHERE(Ibsend);
    ISEND_NOWHERE(Issend);
    ISEND_NOWHERE(Irsend);
    SEND_INIT_NOWHERE(Send_init);
    SEND_INIT_NOWHERE(Bsend_init);
    SEND_INIT_NOWHERE(Ssend_init);
    SEND_INIT_NOWHERE(Rsend_init);
    RECEIVES_NOTHING(OK(N(Recv)(got, 2, MPI_INT, MPI_PROC_NULL, 7, world, &status)));
    RECEIVES_NOTHING(OK(N(Irecv)(got, 2, MPI_INT, MPI_PROC_NULL, 7, world, &request)));
    RECEIVES_NOTHING(OK(N(Recv_init)(got, 2, MPI_INT, MPI_PROC_NULL, 7, world, &request));
                     OK(MPI_Start(&request)); OK(MPI_Wait(&request, &status));
                     OK(MPI_Request_free(&request)));
    RECEIVES_NOTHING(OK(N(Sendrecv)(given, 2, MPI_INT, MPI_PROC_NULL, 7, got, 2, MPI_INT,
                                    MPI_PROC_NULL, 7, world, &status)));
    RECEIVES_NOTHING(OK(N(Sendrecv_replace)(given, 2, MPI_INT, MPI_PROC_NULL, 7, MPI_PROC_NULL, 7,
                                            world, &status)));
    RECEIVES_NOTHING(OK(N(Isendrecv)(given, 2, MPI_INT, MPI_PROC_NULL, 7, got, 2, MPI_INT,
                                     MPI_PROC_NULL, 7, world, &request)));
    RECEIVES_NOTHING(OK(N(Isendrecv_replace)(given, 2, MPI_INT, MPI_PROC_NULL, 7, MPI_PROC_NULL, 7,
                                             world, &request)));
    int flag = 0;
    RECEIVES_NOTHING(OK(MPI_Probe(MPI_PROC_NULL, 7, world, &status)));
    RECEIVES_NOTHING(OK(MPI_Iprobe(MPI_PROC_NULL, 7, world, &flag, &status)); CHECK(flag));
    MPI_Message message;
    RECEIVES_NOTHING(OK(MPI_Mprobe(MPI_PROC_NULL, 7, world, &message, &status));
                     CHECK(message == MPI_MESSAGE_NO_PROC));
    RECEIVES_NOTHING(OK(N(Mrecv)(got, 2, MPI_INT, &message, &status));
                     CHECK(message == MPI_MESSAGE_NULL));
    RECEIVES_NOTHING(OK(MPI_Improbe(MPI_PROC_NULL, 7, world, &flag, &message, &status));
                     CHECK(flag && message == MPI_MESSAGE_NO_PROC));
    RECEIVES_NOTHING(OK(N(Imrecv)(got, 2, MPI_INT, &message, &request)));
}

/* Receives with wildcards, and checks source and tag. */
#define FROM_ANY(...)                                                    \
    do {                                                                 \
        MPI_Request send = MPI_REQUEST_NULL, request = MPI_REQUEST_NULL; \
        MPI_Status status;                                               \
        fill();                                                          \
        OK(MPI_Isend(given, 2, MPI_INT, right, 9, world, &send));        \
        __VA_ARGS__;                                                     \
        check_status(&status, left, 9, 2);                               \
        CHECK(got[1] == 100 * left + 1);                                 \
        complete(&send);                                                 \
        OK(MPI_Barrier(world));                                          \
    } while (0)

static void wildcards(void) {
    FROM_ANY(OK(N(Irecv)(got, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request));
             OK(MPI_Wait(&request, &status)));
    FROM_ANY(OK(N(Recv)(got, 2, MPI_INT, left, MPI_ANY_TAG, world, &status)));
    FROM_ANY(OK(N(Recv)(got, 2, MPI_INT, MPI_ANY_SOURCE, 9, world, &status)));
    FROM_ANY(OK(N(Recv_init)(got, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request));
             OK(MPI_Start(&request)); OK(MPI_Wait(&request, &status));
             OK(MPI_Request_free(&request)));
    FROM_ANY(OK(N(Sendrecv)(given, 0, MPI_INT, MPI_PROC_NULL, 1, got, 2, MPI_INT, MPI_ANY_SOURCE,
                            MPI_ANY_TAG, world, &status)));
    FROM_ANY(OK(N(Isendrecv)(given, 0, MPI_INT, MPI_PROC_NULL, 1, got, 2, MPI_INT, MPI_ANY_SOURCE,
                             MPI_ANY_TAG, world, &request));
             OK(MPI_Wait(&request, &status)));
    FROM_ANY(OK(N(Sendrecv_replace)(got, 2, MPI_INT, MPI_PROC_NULL, 1, MPI_ANY_SOURCE, MPI_ANY_TAG,
                                    world, &status)));
    FROM_ANY(OK(N(Isendrecv_replace)(got, 2, MPI_INT, MPI_PROC_NULL, 1, MPI_ANY_SOURCE, MPI_ANY_TAG,
                                     world, &request));
             OK(MPI_Wait(&request, &status)));
    MPI_Message message;
    int flag = 0;
    FROM_ANY(OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &message, MPI_STATUS_IGNORE));
             OK(N(Mrecv)(got, 2, MPI_INT, &message, &status)));
    FROM_ANY(while (!flag) OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, &message,
                                          MPI_STATUS_IGNORE));
             OK(N(Mrecv)(got, 2, MPI_INT, &message, &status)));
    FROM_ANY(for (flag = 0; !flag;)
                 OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, &status));
             OK(N(Recv)(got, 2, MPI_INT, left, 9, world, MPI_STATUS_IGNORE)));
}

static void messages(void) {
    static char buffer[4096];
    void* old = NULL;
    Count old_size = 0;
    MPI_Status status;
    MPI_Request request;
    OK(N(Buffer_attach)(buffer, sizeof buffer));
    SEND(Send);
    SEND(Bsend);
    SEND(Ssend);
    SEND(Rsend);
    ISEND(Isend);
    ISEND(Ibsend);
    ISEND(Issend);
    ISEND(Irsend);
    SEND_INIT(Send_init);
    SEND_INIT(Bsend_init);
    SEND_INIT(Ssend_init);
    SEND_INIT(Rsend_init);
    messages_of_nobody();
    wildcards();
    OK(N(Buffer_detach)(&old, &old_size));
    CHECK(old == buffer && old_size == sizeof buffer);

    OK(N(Comm_attach_buffer)(world, buffer, sizeof buffer));
    SEND(Bsend);
    old = NULL, old_size = 0;
    OK(N(Comm_detach_buffer)(world, &old, &old_size));
    CHECK(old == buffer && old_size == sizeof buffer);

    fill();
    OK(MPI_Isend(given, 2, MPI_INT, right, 8, world, &request));
    OK(N(Recv)(got, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status));
    check_status(&status, left, 8, 2);
    CHECK(got[1] == 100 * left + 1);
    complete(&request);

    fill();
    OK(N(Recv_init)(got, 2, MPI_INT, left, 9, world, &request));
    OK(MPI_Start(&request));
    MPI_Request send;
    OK(MPI_Isend(given, 2, MPI_INT, right, 9, world, &send));
    OK(MPI_Wait(&request, &status));
    check_status(&status, left, 9, 2);
    complete(&send);
    OK(MPI_Request_free(&request));

    fill();
    OK(N(Sendrecv)(given, 2, MPI_INT, right, 10, got, 2, MPI_INT, left, MPI_ANY_TAG, world,
                   &status));
    check_status(&status, left, 10, 2);
    CHECK(got[1] == 100 * left + 1);
    fill();
    OK(N(Sendrecv_replace)(given, 2, MPI_INT, right, 11, MPI_ANY_SOURCE, 11, world, &status));
    check_status(&status, left, 11, 2);
    CHECK(given[1] == 100 * left + 1);
    fill();
    OK(N(Isendrecv)(given, 2, MPI_INT, right, 12, got, 2, MPI_INT, left, 12, world, &request));
    complete_receive(&request, left, 12, 2);
    CHECK(got[1] == 100 * left + 1);
    fill();
    OK(N(Isendrecv_replace)(given, 2, MPI_INT, right, 13, left, 13, world, &request));
    complete_receive(&request, left, 13, 2);
    CHECK(given[1] == 100 * left + 1);

    MPI_Message message = MPI_MESSAGE_NULL;
    fill();
    OK(MPI_Isend(given, 2, MPI_INT, right, 14, world, &request));
    OK(MPI_Mprobe(left, 14, world, &message, &status));
    check_status(&status, left, 14, 2);
    CHECK(message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC);
    OK(N(Mrecv)(got, 2, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL && got[1] == 100 * left + 1);
    check_status(&status, left, 14, 2);
    complete(&request);
    fill();
    OK(MPI_Isend(given, 2, MPI_INT, right, 15, world, &request));
    OK(MPI_Mprobe(left, 15, world, &message, MPI_STATUS_IGNORE));
    OK(N(Imrecv)(got, 2, MPI_INT, &message, &send));
    CHECK(message == MPI_MESSAGE_NULL);
    complete_receive(&send, left, 15, 2);
    CHECK(got[1] == 100 * left + 1);
    complete(&request);
}

/* ---- Collectives: each one blocking, nonblocking and persistent ---- */

#define ALL(X, IX, check, ...)                           \
    do {                                                 \
        MPI_Request r = MPI_REQUEST_NULL;                \
        fill();                                          \
        OK(N(X)(__VA_ARGS__));                           \
        check;                                           \
        fill();                                          \
        OK(N(IX)(__VA_ARGS__, &r));                      \
        complete(&r);                                    \
        check;                                           \
        fill();                                          \
        OK(N(X##_init)(__VA_ARGS__, MPI_INFO_NULL, &r)); \
        CHECK(r != MPI_REQUEST_NULL);                    \
        OK(MPI_Start(&r));                               \
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));             \
        check;                                           \
        OK(MPI_Request_free(&r));                        \
    } while (0)
#define FROM(r, i) (100 * (r) + (i))
/* Checks that got[place] == value for each rank r and j below 2. */
#define EACH(place, value)            \
    for (int r_ = 0; r_ < size; ++r_) \
        for (int j = 0; j < 2; ++j) CHECK(got[place] == (value))
#define TWO(value) \
    for (int j = 0; j < 2; ++j) CHECK(got[j] == (value))

static void collectives(void) {
    Count twos[most_ranks], bytes_count[most_ranks];
    Displacement threes[most_ranks], bytes[most_ranks];
    MPI_Datatype types[most_ranks];
    for (int i = 0; i < most_ranks; ++i) {
        twos[i] = bytes_count[i] = 2;
        threes[i] = 3 * i;
        bytes[i] = 3 * i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    ALL(Allgather, Iallgather, EACH(2 * r_ + j, FROM(r_, j)), given, 2, MPI_INT, got, 2, MPI_INT,
        world);
    ALL(Allgatherv, Iallgatherv, EACH(3 * r_ + j, FROM(r_, j)), given, 2, MPI_INT, got, twos,
        threes, MPI_INT, world);
    ALL(Gather, Igather, if (rank == 0) EACH(2 * r_ + j, FROM(r_, j)), given, 2, MPI_INT, got, 2,
        MPI_INT, 0, world);
    ALL(Gatherv, Igatherv, if (rank == 0) EACH(3 * r_ + j, FROM(r_, j)), given, 2, MPI_INT, got,
        twos, threes, MPI_INT, 0, world);
    ALL(Scatter, Iscatter, TWO(2 * rank + j), given, 2, MPI_INT, got, 2, MPI_INT, 0, world);
    ALL(Scatterv, Iscatterv, TWO(3 * rank + j), given, twos, threes, MPI_INT, got, 2, MPI_INT, 0,
        world);
    ALL(Alltoall, Ialltoall, EACH(2 * r_ + j, FROM(r_, 2 * rank + j)), given, 2, MPI_INT, got, 2,
        MPI_INT, world);
    ALL(Alltoallv, Ialltoallv, EACH(3 * r_ + j, FROM(r_, 3 * rank + j)), given, twos, threes,
        MPI_INT, got, twos, threes, MPI_INT, world);
    ALL(Alltoallw, Ialltoallw, EACH(3 * r_ + j, FROM(r_, 3 * rank + j)), given, twos, bytes, types,
        got, twos, bytes, types, world);
    ALL(Bcast, Ibcast, for (int j = 0; j < 2; ++j) CHECK(given[j] == j), given, 2, MPI_INT, 0,
        world);
    ALL(Reduce, Ireduce, if (rank == 0) TWO(sum(j, size)), given, got, 2, MPI_INT, MPI_SUM, 0,
        world);
    ALL(Allreduce, Iallreduce, TWO(sum(j, size)), given, got, 2, MPI_INT, MPI_SUM, world);
    ALL(Allreduce, Iallreduce, for (int j = 0; j < 2; ++j) CHECK(given[j] == FROM(size - 1, j)),
        MPI_IN_PLACE, given, 2, MPI_INT, MPI_MAX, world);
    ALL(Scan, Iscan, TWO(sum(j, rank + 1)), given, got, 2, MPI_INT, MPI_SUM, world);
    ALL(Exscan, Iexscan, TWO(rank == 0 ? -1 : sum(j, rank)), given, got, 2, MPI_INT, MPI_SUM,
        world);
    ALL(Reduce_scatter, Ireduce_scatter, TWO(sum(2 * rank + j, size)), given, got, twos, MPI_INT,
        MPI_SUM, world);
    ALL(Reduce_scatter_block, Ireduce_scatter_block, TWO(sum(2 * rank + j, size)), given, got, 2,
        MPI_INT, MPI_SUM, world);
    fill();
    got[0] = 5;
    OK(N(Reduce_local)(given, got, 1, MPI_INT, MPI_PROD));
    CHECK(got[0] == 5 * given[0] && got[1] == -1);

    MPI_Aint at[1] = {0};
    Displacement zero[1] = {0};
    ALL(Neighbor_allgather, Ineighbor_allgather, TWO(FROM(left, j)), given, 2, MPI_INT, got, 2,
        MPI_INT, ring);
    ALL(Neighbor_allgatherv, Ineighbor_allgatherv, TWO(FROM(left, j)), given, 2, MPI_INT, got, twos,
        zero, MPI_INT, ring);
    ALL(Neighbor_alltoall, Ineighbor_alltoall, TWO(FROM(left, j)), given, 2, MPI_INT, got, 2,
        MPI_INT, ring);
    ALL(Neighbor_alltoallv, Ineighbor_alltoallv, TWO(FROM(left, j)), given, twos, zero, MPI_INT,
        got, twos, zero, MPI_INT, ring);
    ALL(Neighbor_alltoallw, Ineighbor_alltoallw, TWO(FROM(left, j)), given, twos, at, types, got,
        twos, at, types, ring);
}

/* Calls collectives between two groups: the root's group says MPI_ROOT. */
static void between_groups(void) {
    MPI_Comm half, inter;
    OK(MPI_Comm_split(world, rank, 0, &half));
    OK(MPI_Intercomm_create(half, 0, world, 1 - rank, 3, &inter));
    const int root = rank == 0 ? MPI_ROOT : 0;
    const Count twos[] = {2};
    const Displacement zeros[] = {0};
    ALL(Bcast, Ibcast, for (int j = 0; j < 2; ++j) CHECK(given[j] == j), given, 2, MPI_INT, root,
        inter);
    ALL(Gather, Igather, if (rank == 0) TWO(FROM(1, j)), given, 2, MPI_INT, got, 2, MPI_INT, root,
        inter);
    ALL(Gatherv, Igatherv, if (rank == 0) TWO(FROM(1, j)), given, 2, MPI_INT, got, twos, zeros,
        MPI_INT, root, inter);
    ALL(Scatter, Iscatter, if (rank == 1) TWO(FROM(0, j)), given, 2, MPI_INT, got, 2, MPI_INT, root,
        inter);
    ALL(Scatterv, Iscatterv, if (rank == 1) TWO(FROM(0, j)), given, twos, zeros, MPI_INT, got, 2,
        MPI_INT, root, inter);
    ALL(Reduce, Ireduce, if (rank == 0) TWO(FROM(1, j)), given, got, 2, MPI_INT, MPI_SUM, root,
        inter);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

/* ---- Datatypes ---- */

/* Sends one element of a type to the neighbour, which gets its MPI_INTs at their places. */
static void passes(MPI_Datatype* type, Count elements, const int* places) {
    Count bytes = -1, extent_elements = -1;
    MPI_Status status;
    CHECK(*type != MPI_DATATYPE_NULL);
    OK(MPI_Type_commit(type));
    OK(N(Type_size)(*type, &bytes));
    CHECK(bytes == elements * (Count)sizeof(int));
    fill();
    OK(N(Sendrecv)(given, 1, *type, right, 20, got, elements, MPI_INT, left, 20, world, &status));
    OK(N(Get_elements)(&status, MPI_INT, &extent_elements));
    CHECK(extent_elements == elements);
    for (int i = 0; i < elements; ++i) CHECK(got[i] == FROM(left, places[i]));
    OK(MPI_Type_free(type));
    CHECK(*type == MPI_DATATYPE_NULL);
}

static MPI_Datatype shifted(int by) { /* an MPI_INT `by` places on */
    MPI_Datatype type;
    OK(MPI_Type_create_hindexed_block(1, 1, (MPI_Aint[]){by * (int)sizeof(int)}, MPI_INT, &type));
    return type;
}

static void datatypes(void) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const Count ones[] = {1, 2};
    const Step steps[] = {1, 4};
    const Address addresses[] = {sizeof(int), 4 * sizeof(int)};
    OK(N(Type_contiguous)(3, MPI_INT, &type));
    passes(&type, 3, (int[]){0, 1, 2});
    OK(N(Type_vector)(2, 1, 3, MPI_INT, &type));
    passes(&type, 2, (int[]){0, 3});
    OK(N(Type_create_hvector)(2, 1, 3 * sizeof(int), MPI_INT, &type));
    passes(&type, 2, (int[]){0, 3});
    OK(N(Type_indexed)(2, ones, steps, MPI_INT, &type));
    passes(&type, 3, (int[]){1, 4, 5});
    OK(N(Type_create_hindexed)(2, ones, addresses, MPI_INT, &type));
    passes(&type, 3, (int[]){1, 4, 5});
    OK(N(Type_create_indexed_block)(2, 1, steps, MPI_INT, &type));
    passes(&type, 2, (int[]){1, 4});
    OK(N(Type_create_hindexed_block)(2, 1, addresses, MPI_INT, &type));
    passes(&type, 2, (int[]){1, 4});
    MPI_Datatype inner = shifted(2);
    OK(N(Type_create_struct)(2, ones, addresses, (MPI_Datatype[]){MPI_INT, inner}, &type));
    OK(MPI_Type_free(&inner));
    passes(&type, 3, (int[]){1, 6, 7});
    const Count whole[] = {4, 3}, part[] = {2, 2}, from[] = {1, 1};
    OK(N(Type_create_subarray)(2, whole, part, from, MPI_ORDER_C, MPI_INT, &type));
    passes(&type, 4, (int[]){4, 5, 7, 8});
    OK(N(Type_create_subarray)(2, whole, part, from, MPI_ORDER_FORTRAN, MPI_INT, &type));
    passes(&type, 4, (int[]){5, 6, 9, 10});
    OK(N(Type_create_darray)(2, 1, 1, (Count[]){5}, (int[]){MPI_DISTRIBUTE_CYCLIC},
                             (int[]){MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2}, MPI_ORDER_C, MPI_INT,
                             &type));
    passes(&type, 2, (int[]){1, 3});
    OK(N(Type_create_darray)(2, 1, 1, (Count[]){6}, (int[]){MPI_DISTRIBUTE_BLOCK},
                             (int[]){MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2}, MPI_ORDER_C, MPI_INT,
                             &type));
    passes(&type, 3, (int[]){3, 4, 5});

    Address lower = -1, extent = -1;
    OK(N(Type_create_resized)(MPI_INT, -8, 32, &type));
    OK(N(Type_get_extent)(type, &lower, &extent));
    CHECK(lower == -8 && extent == 32);
    OK(N(Type_get_true_extent)(type, &lower, &extent));
    CHECK(lower == 0 && extent == sizeof(int));
    OK(MPI_Type_free(&type));
}

/* ---- Packed data, elements of a status, an operation of the program ---- */

static void packed(void) {
    char place[256];
    Count position = 0, bytes = -1;
    fill();
    OK(N(Pack_size)(2, MPI_INT, world, &bytes));
    CHECK(bytes >= (Count)(2 * sizeof(int)) && bytes <= (Count)sizeof place);
    OK(N(Pack)(given, 2, MPI_INT, place, sizeof place, &position, world));
    const Count end = position;
    CHECK(end >= (Count)(2 * sizeof(int)));
    position = 0;
    OK(N(Unpack)(place, end, &position, got, 2, MPI_INT, world));
    CHECK(position == end && got[0] == given[0] && got[1] == given[1]);

    Address at = 0, external = -1;
    fill();
    OK(N(Pack_external_size)("external32", 2, MPI_INT, &external));
    CHECK(external == 8);
    OK(N(Pack_external)("external32", given, 2, MPI_INT, place, sizeof place, &at));
    CHECK(at == 8 && place[7] == (char)(given[1] & 255) && place[4] == 0);
    at = 0;
    OK(N(Unpack_external)("external32", place, 8, &at, got, 2, MPI_INT));
    CHECK(at == 8 && got[0] == given[0] && got[1] == given[1]);

    MPI_Status status;
    Count count = -1;
    memset(&status, 0, sizeof status);
    OK(N(Status_set_elements)(&status, MPI_DOUBLE_INT, 4));
    OK(N(Get_elements)(&status, MPI_DOUBLE_INT, &count));
    CHECK(count == 4);
    OK(N(Get_count)(&status, MPI_DOUBLE_INT, &count));
    CHECK(count == 2);
}

static int calls_of_operation;
static void larger_absolute(void* in, void* inout, Count* length, MPI_Datatype* type) {
    ++calls_of_operation;
    CHECK(*type == MPI_INT);
    for (Count i = 0; i < *length; ++i) {
        const int a = ((int*)in)[i], b = ((int*)inout)[i];
        ((int*)inout)[i] = abs(a) > abs(b) ? a : b;
    }
}

static void operation(void) {
    MPI_Op op = MPI_OP_NULL;
    int commutes = -1;
    OK(N(Op_create)(larger_absolute, 1, &op));
    CHECK(op != MPI_OP_NULL);
    OK(MPI_Op_commutative(op, &commutes));
    CHECK(commutes == 1);
    calls_of_operation = 0;
    const int mine = -rank;
    int result = 1;
    OK(N(Allreduce)(&mine, &result, 1, MPI_INT, op, world));
    CHECK(result == -(size - 1));
    got[0] = -7;
    OK(N(Reduce_local)(&mine, got, 1, MPI_INT, op));
    CHECK(got[0] == -7 && calls_of_operation > 0);
    OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL);
}

/* ---- Windows ---- */

static void has(MPI_Win win, int keyval, MPI_Aint wanted) {
    int flag = 0;
    void* value = NULL;
    OK(MPI_Win_get_attr(win, keyval, &value, &flag));
    CHECK(flag);
    const MPI_Aint is = keyval == MPI_WIN_BASE ? (MPI_Aint)value
        : keyval == MPI_WIN_SIZE               ? *(MPI_Aint*)value
                                               : *(int*)value;
    CHECK(is == wanted);
}

static void windows(void) {
    MPI_Win win = MPI_WIN_NULL;
    int* base = NULL;
    const MPI_Aint bytes = 8 * sizeof(int);
    OK(N(Win_allocate_shared)(bytes, sizeof(int), MPI_INFO_NULL, world, &base, &win));
    CHECK(win != MPI_WIN_NULL && base != NULL);
    has(win, MPI_WIN_CREATE_FLAVOR, MPI_WIN_FLAVOR_SHARED);
    MPI_Aint its_bytes = -1;
    Unit its_unit = -1;
    int* its = NULL;
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    base[0] = 100 * rank;
    OK(MPI_Win_sync(win));
    OK(MPI_Barrier(world));
    OK(MPI_Win_sync(win));
    OK(N(Win_shared_query)(win, right, &its_bytes, &its_unit, &its));
    CHECK(its_bytes == bytes && its_unit == sizeof(int) && its[0] == 100 * right);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);

    base = NULL;
    OK(N(Win_allocate)(bytes, sizeof(int), MPI_INFO_NULL, world, &base, &win));
    CHECK(base != NULL);
    has(win, MPI_WIN_CREATE_FLAVOR, MPI_WIN_FLAVOR_ALLOCATE);
    OK(MPI_Win_free(&win));

    int memory[8] = {0};
    OK(N(Win_create)(memory, bytes, sizeof(int), MPI_INFO_NULL, world, &win));
    has(win, MPI_WIN_CREATE_FLAVOR, MPI_WIN_FLAVOR_CREATE);
    has(win, MPI_WIN_BASE, (MPI_Aint)memory);
    has(win, MPI_WIN_SIZE, bytes);
    has(win, MPI_WIN_DISP_UNIT, sizeof(int));
    fill();
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    OK(N(Put)(given, 2, MPI_INT, right, 1, 2, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    CHECK(memory[1] == 100 * left && memory[2] == 100 * left + 1);
    OK(N(Get)(got, 2, MPI_INT, right, 1, 2, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    CHECK(got[0] == 100 * rank && got[1] == 100 * rank + 1);
    OK(N(Accumulate)(given, 1, MPI_INT, right, 2, 1, MPI_INT, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    CHECK(memory[2] == 200 * left + 1);
    OK(MPI_Barrier(world));
    OK(N(Get_accumulate)(given, 1, MPI_INT, got, 1, MPI_INT, right, 2, 1, MPI_INT, MPI_REPLACE,
                         win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK(got[0] == 200 * rank + 1 && memory[2] == 100 * left);

    MPI_Request request;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    OK(N(Rput)(given + 3, 1, MPI_INT, right, 3, 1, MPI_INT, win, &request));
    complete(&request);
    OK(MPI_Win_flush(right, win));
    OK(N(Rget)(got, 1, MPI_INT, right, 3, 1, MPI_INT, win, &request));
    complete(&request);
    CHECK(got[0] == 100 * rank + 3);
    OK(N(Raccumulate)(given, 1, MPI_INT, right, 3, 1, MPI_INT, MPI_SUM, win, &request));
    complete(&request);
    OK(MPI_Win_flush_all(win));
    OK(N(Rget_accumulate)(given, 1, MPI_INT, got, 1, MPI_INT, right, 3, 1, MPI_INT, MPI_NO_OP, win,
                          &request));
    complete(&request);
    CHECK(got[0] == 200 * rank + 3);
    OK(MPI_Win_unlock(right, win));

    /* A call to MPI_PROC_NULL writes nothing. */
    fill();
    OK(MPI_Win_lock_all(0, win));
    OK(N(Put)(given, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    OK(N(Get)(got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    OK(N(Accumulate)(given, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win));
    OK(N(Get_accumulate)(given, 1, MPI_INT, got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM,
                         win));
    OK(N(Rput)(given, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &request));
    complete(&request);
    OK(N(Rget)(got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &request));
    complete(&request);
    OK(N(Raccumulate)(given, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win, &request));
    complete(&request);
    OK(N(Rget_accumulate)(given, 1, MPI_INT, got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM,
                          win, &request));
    complete(&request);
    OK(MPI_Win_unlock_all(win));
    CHECK(got[0] == -1);
    OK(MPI_Win_free(&win));
}

/* ---- Files ---- */

static MPI_File file;
#define AT(i) ((MPI_Offset)((i) * sizeof(int)))
/* Each rank has two numbers of its own. The call writes them, and reading must give them back. */
static void begin_file(void) {
    fill();
    OK(MPI_File_seek(file, AT(2 * rank), MPI_SEEK_SET));
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    OK(MPI_Barrier(world));
}
static void end_write(void) {
    int there[2] = {-1, -1};
    OK(MPI_File_sync(file));
    OK(MPI_Barrier(world));
    OK(MPI_File_read_at(file, AT(2 * rank), there, 2, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(there[0] == given[0] + 1 && there[1] == given[1] + 1);
    there[0] = there[1] = 0;
    OK(MPI_Barrier(world));
    OK(MPI_File_write_at(file, AT(2 * rank), given, 2, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    OK(MPI_Barrier(world));
}
static void end_shared_write(void) { /* the order of ranks is not known */
    int all = 0, there[2 * most_ranks];
    OK(MPI_File_sync(file));
    OK(MPI_Barrier(world));
    OK(MPI_File_read_at(file, 0, there, 2 * size, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < size; ++i) all += there[2 * i];
    CHECK(all == sum(0, size) + size);
    OK(MPI_Barrier(world));
    OK(MPI_File_write_at(file, AT(2 * rank), given, 2, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    OK(MPI_Barrier(world));
}
static void written_two(const MPI_Status* status) {
    Count count = -1;
    OK(N(Get_count)(status, MPI_INT, &count));
    CHECK(count == 2);
}
static void two_of(int r) { CHECK(got[0] == FROM(r, 0) && got[1] == FROM(r, 1)); }
static void two_of_any(void) { CHECK(got[0] >= 0 && got[0] % 100 == 0 && got[1] == got[0] + 1); }

#define WRITES(end, X, ...)                                    \
    do {                                                       \
        MPI_Status status;                                     \
        begin_file();                                          \
        const int more[2] = {given[0] + 1, given[1] + 1};      \
        OK(N(X)(file, __VA_ARGS__ more, 2, MPI_INT, &status)); \
        written_two(&status);                                  \
        end();                                                 \
    } while (0)
#define IWRITES(end, X, ...)                              \
    do {                                                  \
        MPI_Status status;                                \
        MPI_Request r;                                    \
        begin_file();                                     \
        const int more[2] = {given[0] + 1, given[1] + 1}; \
        OK(N(X)(file, __VA_ARGS__ more, 2, MPI_INT, &r)); \
        OK(MPI_Wait(&r, &status));                        \
        CHECK(r == MPI_REQUEST_NULL);                     \
        written_two(&status);                             \
        end();                                            \
    } while (0)
#define WRITES_SPLIT(X, ...)                                  \
    do {                                                      \
        MPI_Status status;                                    \
        begin_file();                                         \
        const int more[2] = {given[0] + 1, given[1] + 1};     \
        OK(N(X##_begin)(file, __VA_ARGS__ more, 2, MPI_INT)); \
        OK(MPI_##X##_end(file, more, &status));               \
        written_two(&status);                                 \
        end_write();                                          \
    } while (0)
#define READS(check, X, ...)                                  \
    do {                                                      \
        MPI_Status status;                                    \
        begin_file();                                         \
        OK(N(X)(file, __VA_ARGS__ got, 2, MPI_INT, &status)); \
        written_two(&status);                                 \
        check;                                                \
    } while (0)
#define IREADS(check, X, ...)                            \
    do {                                                 \
        MPI_Status status;                               \
        MPI_Request r;                                   \
        begin_file();                                    \
        OK(N(X)(file, __VA_ARGS__ got, 2, MPI_INT, &r)); \
        OK(MPI_Wait(&r, &status));                       \
        written_two(&status);                            \
        check;                                           \
    } while (0)
#define READS_SPLIT(X, ...)                                  \
    do {                                                     \
        MPI_Status status;                                   \
        begin_file();                                        \
        OK(N(X##_begin)(file, __VA_ARGS__ got, 2, MPI_INT)); \
        OK(MPI_##X##_end(file, got, &status));               \
        written_two(&status);                                \
        two_of(rank);                                        \
    } while (0)
#define MINE AT(2 * rank),

static void files(void) {
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    OK(MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &file));
    CHECK(file != MPI_FILE_NULL);
    WRITES(end_write, File_write, );
    WRITES(end_write, File_write_all, );
    WRITES(end_write, File_write_at, MINE);
    WRITES(end_write, File_write_at_all, MINE);
    WRITES(end_write, File_write_ordered, );
    WRITES(end_shared_write, File_write_shared, );
    IWRITES(end_write, File_iwrite, );
    IWRITES(end_write, File_iwrite_all, );
    IWRITES(end_write, File_iwrite_at, MINE);
    IWRITES(end_write, File_iwrite_at_all, MINE);
    IWRITES(end_shared_write, File_iwrite_shared, );
    WRITES_SPLIT(File_write_all, );
    WRITES_SPLIT(File_write_at_all, MINE);
    WRITES_SPLIT(File_write_ordered, );
    READS(two_of(rank), File_read, );
    READS(two_of(rank), File_read_all, );
    READS(two_of(rank), File_read_at, MINE);
    READS(two_of(rank), File_read_at_all, MINE);
    READS(two_of(rank), File_read_ordered, );
    READS(two_of_any(), File_read_shared, );
    IREADS(two_of(rank), File_iread, );
    IREADS(two_of(rank), File_iread_all, );
    IREADS(two_of(rank), File_iread_at, MINE);
    IREADS(two_of(rank), File_iread_at_all, MINE);
    IREADS(two_of_any(), File_iread_shared, );
    READS_SPLIT(File_read_all, );
    READS_SPLIT(File_read_at_all, MINE);
    READS_SPLIT(File_read_ordered, );
    Address extent = -1;
    OK(N(File_get_type_extent)(file, MPI_INT, &extent));
    CHECK(extent == sizeof(int));
    OK(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
}

/* ---- A data representation of the program: numbers one larger in the file ---- */

static int state_of_representation;
static int representation_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
    CHECK(state == &state_of_representation && type == MPI_INT);
    *extent = sizeof(int);
    return MPI_SUCCESS;
}
static int reads_representation(void* user, MPI_Datatype type, Count count, void* from,
                                MPI_Offset position, void* state) {
    CHECK(state == &state_of_representation && type == MPI_INT);
    for (Count i = 0; i < count; ++i) ((int*)user)[position + i] = ((int*)from)[i] - 1;
    return MPI_SUCCESS;
}
static int writes_representation(void* user, MPI_Datatype type, Count count, void* to,
                                 MPI_Offset position, void* state) {
    CHECK(state == &state_of_representation && type == MPI_INT);
    for (Count i = 0; i < count; ++i) ((int*)to)[i] = ((int*)user)[position + i] + 1;
    return MPI_SUCCESS;
}

static void representation(const char* name) {
    OK(N(Register_datarep)(name, reads_representation, writes_representation, representation_extent,
                           &state_of_representation));
    OK(MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &file));
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, name, MPI_INFO_NULL));
    fill();
    OK(MPI_File_write_at(file, 2 * rank, given, 2, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(file, 2 * rank, got, 2, MPI_INT, MPI_STATUS_IGNORE));
    two_of(rank);
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(file, 2 * rank, got, 2, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(got[0] == given[0] + 1 && got[1] == given[1] + 1);
    OK(MPI_File_close(&file));
}

static void buffer_of_session(void) {
    static char buffer[4096];
    void* old = NULL;
    Count old_size = 0;
    MPI_Session session = MPI_SESSION_NULL;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(session != MPI_SESSION_NULL);
    OK(N(Session_attach_buffer)(session, buffer, sizeof buffer));
    OK(N(Session_detach_buffer)(session, &old, &old_size));
    CHECK(old == buffer && old_size == sizeof buffer);
    OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
}

void ENTRY(void) {
    messages();
    collectives();
    if (size == 2) between_groups();
    datatypes();
    packed();
    operation();
    windows();
    files();
    representation(REPRESENTATION);
    buffer_of_session();
}
