/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian topologies (MPI 5.0, 8.5.1 and 8.5.2): making, asking, sub-grids, bad arguments. */
#include "check.h"

#include <limits.h>

static int rank, size;

static int kind(MPI_Comm comm) {
    int status = -1;
    OK(MPI_Topo_test(comm, &status));
    return status;
}

/* Makes a grid of all processes, with `ndims` dimensions. */
static MPI_Comm grid(int ndims, const int* periods, int* dims) {
    MPI_Comm cart;
    for (int d = 0; d < ndims; ++d) dims[d] = 0;
    OK(MPI_Dims_create(size, ndims, dims));
    OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &cart));
    CHECK(kind(cart) == MPI_CART);
    return cart;
}

static void dims_create(void) {
    int dims[4] = {0, 0, 0, 0};
    OK(MPI_Dims_create(12, 3, dims));
    CHECK(dims[0] == 3 && dims[1] == 2 && dims[2] == 2);
    int with_fixed[3] = {0, 3, 0};
    OK(MPI_Dims_create(6, 3, with_fixed));
    CHECK(with_fixed[0] == 2 && with_fixed[1] == 3 && with_fixed[2] == 1);
    int all_fixed[2] = {2, 3};
    OK(MPI_Dims_create(6, 2, all_fixed));
    CHECK(all_fixed[0] == 2 && all_fixed[1] == 3);
    OK(MPI_Dims_create(1, 0, NULL));
    int no_divisor[3] = {0, 3, 0}, negative[2] = {-1, 0};
    FAILS(MPI_Dims_create(7, 3, no_divisor), MPI_ERR_DIMS);
    CHECK(no_divisor[0] == 0 && no_divisor[1] == 3 && no_divisor[2] == 0);
    FAILS(MPI_Dims_create(7, 2, negative), MPI_ERR_DIMS);
    FAILS(MPI_Dims_create(7, -1, dims), MPI_ERR_DIMS);
    FAILS(MPI_Dims_create(0, 2, dims), MPI_ERR_ARG);
    FAILS(MPI_Dims_create(4, 2, NULL), MPI_ERR_ARG);
}

/* Coordinates and ranks are inverse to each other. All processes check it for all processes. */
static void coordinates(void) {
    int dims[3], got_dims[3], got_periods[3], here[3], there[3], ndims, me;
    const int periods[3] = {0, 1, 0};
    MPI_Comm cart = grid(3, periods, dims);
    OK(MPI_Cartdim_get(cart, &ndims));
    CHECK(ndims == 3);
    OK(MPI_Comm_rank(cart, &me));
    CHECK(me == rank);
    OK(MPI_Cart_get(cart, 3, got_dims, got_periods, here));
    for (int d = 0; d < 3; ++d) CHECK(got_dims[d] == dims[d] && got_periods[d] == periods[d]);
    OK(MPI_Cart_coords(cart, me, 3, there));
    CHECK(memcmp(here, there, sizeof here) == 0);
    for (int other = 0; other < size; ++other) {
        int back = -1;
        OK(MPI_Cart_coords(cart, other, 3, there));
        CHECK((there[0] * dims[1] + there[1]) * dims[2] + there[2] == other);
        OK(MPI_Cart_rank(cart, there, &back));
        CHECK(back == other);
        there[1] -= 3 * dims[1]; /* this dimension is periodic */
        OK(MPI_Cart_rank(cart, there, &back));
        CHECK(back == other);
        there[0] -= dims[0];
        FAILS(MPI_Cart_rank(cart, there, &back), MPI_ERR_ARG);
    }
    int first = -7, untouched[2] = {-7, -7};
    OK(MPI_Cart_coords(cart, me, 1, &first)); /* fills as many as there is room for */
    CHECK(first == here[0]);
    OK(MPI_Cart_coords(cart, me, 0, untouched));
    CHECK(untouched[0] == -7);
    OK(MPI_Comm_free(&cart));
}

/* A value from one side was sent by the rank on that side. */
static void shifts(void) {
    const int periods[2] = {1, 0};
    int dims[2], here[2];
    MPI_Comm cart = grid(2, periods, dims);
    OK(MPI_Cart_coords(cart, rank, 2, here));
    for (int d = 0; d < 2; ++d) {
        for (int steps = -4; steps <= 4; ++steps) {
            int source, dest, got = -1;
            OK(MPI_Cart_shift(cart, d, steps, &source, &dest));
            if (d == 1)
                CHECK((dest == MPI_PROC_NULL) ==
                      (here[1] + steps < 0 || here[1] + steps >= dims[1]));
            else
                CHECK(dest != MPI_PROC_NULL && source != MPI_PROC_NULL);
            OK(MPI_Sendrecv(&rank, 1, MPI_INT, dest, 0, &got, 1, MPI_INT, source, 0, cart,
                            MPI_STATUS_IGNORE));
            CHECK(got == (source == MPI_PROC_NULL ? -1 : source));
        }
        int source, dest;
        OK(MPI_Cart_shift(cart, d, INT_MIN, &source, &dest)); /* its negative is not an int */
        CHECK((dest == MPI_PROC_NULL) == (d == 1));
    }
    int source, dest;
    FAILS(MPI_Cart_shift(cart, 2, 1, &source, &dest), MPI_ERR_DIMS);
    FAILS(MPI_Cart_shift(cart, -1, 1, &source, &dest), MPI_ERR_DIMS);
    OK(MPI_Comm_free(&cart));
}

static void subgrids(void) {
    const int periods[3] = {0, 1, 0};
    int dims[3], here[3];
    MPI_Comm cart = grid(3, periods, dims), part;
    OK(MPI_Cart_coords(cart, rank, 3, here));
    for (int choice = 0; choice < 8; ++choice) {
        int remain[3], part_dims[3], part_periods[3], part_here[3], ndims, n, expected = 1,
                                                                              kept = 0;
        for (int d = 0; d < 3; ++d) remain[d] = choice >> d & 1;
        OK(MPI_Cart_sub(cart, remain, &part));
        CHECK(kind(part) == MPI_CART);
        OK(MPI_Cartdim_get(part, &ndims));
        OK(MPI_Comm_size(part, &n));
        OK(MPI_Cart_get(part, 3, part_dims, part_periods, part_here));
        for (int d = 0; d < 3; ++d) {
            if (!remain[d]) continue;
            CHECK(part_dims[kept] == dims[d] && part_periods[kept] == periods[d]);
            CHECK(part_here[kept] == here[d]);
            expected *= dims[d];
            ++kept;
        }
        CHECK(ndims == kept && n == expected);
        /* The other ranks of the sub-grid differ only in the dimensions that remain. */
        int all[3 * 64];
        CHECK(n <= 64);
        OK(MPI_Allgather(here, 3, MPI_INT, all, 3, MPI_INT, part));
        for (int i = 0; i < n; ++i)
            for (int d = 0; d < 3; ++d) CHECK(remain[d] || all[3 * i + d] == here[d]);
        OK(MPI_Comm_free(&part));
    }
    FAILS(MPI_Cart_sub(cart, NULL, &part), MPI_ERR_ARG);
    OK(MPI_Comm_free(&cart));
}

static void no_dimensions(void) {
    MPI_Comm point, part;
    int answer = -1, n;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 1, &point));
    CHECK((point == MPI_COMM_NULL) == (rank != 0));
    if (rank != 0) return;
    CHECK(kind(point) == MPI_CART);
    OK(MPI_Comm_size(point, &n));
    CHECK(n == 1);
    OK(MPI_Cartdim_get(point, &answer));
    CHECK(answer == 0);
    OK(MPI_Cart_get(point, 0, NULL, NULL, NULL));
    OK(MPI_Cart_coords(point, 0, 0, NULL));
    OK(MPI_Cart_rank(point, NULL, &answer));
    CHECK(answer == 0);
    int source, dest;
    FAILS(MPI_Cart_shift(point, 0, 1, &source, &dest), MPI_ERR_DIMS);
    OK(MPI_Cart_sub(point, NULL, &part));
    OK(MPI_Cartdim_get(part, &answer));
    CHECK(answer == 0);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_free(&point));
}

/* A grid is smaller than its communicator and has the first processes. */
static void smaller(void) {
    const int dims[1] = {size > 1 ? size - 1 : 1}, periods[1] = {1};
    MPI_Comm cart;
    int place = -1;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart));
    CHECK((cart == MPI_COMM_NULL) == (rank >= dims[0]));
    OK(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &place));
    CHECK(place == (rank < dims[0] ? rank : MPI_UNDEFINED));
    if (cart != MPI_COMM_NULL) OK(MPI_Comm_free(&cart));
}

/* Duplicates have the topology; parts of the communicator do not. */
static void handed_down(void) {
    const int periods[2] = {1, 1};
    int dims[2], got[2], p[2], c[2];
    MPI_Comm cart = grid(2, periods, dims), copy[3], part;
    MPI_Request request;
    MPI_Group group;
    OK(MPI_Comm_dup(cart, &copy[0]));
    OK(MPI_Comm_dup_with_info(cart, MPI_INFO_NULL, &copy[1]));
    OK(MPI_Comm_idup(cart, &copy[2], &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_split(cart, 0, rank, &part));
    CHECK(kind(part) == MPI_UNDEFINED);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_group(cart, &group));
    OK(MPI_Comm_create(cart, group, &part));
    CHECK(kind(part) == MPI_UNDEFINED);
    OK(MPI_Comm_free(&part));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_free(&cart));
    for (int i = 0; i < 3; ++i) {
        OK(MPI_Cart_get(copy[i], 2, got, p, c));
        CHECK(got[0] == dims[0] && got[1] == dims[1] && p[0] && p[1]);
        OK(MPI_Comm_free(&copy[i]));
    }
}

static void wrong(void) {
    MPI_Comm cart = MPI_COMM_WORLD;
    int dims[2] = {size + 1, 1}, periods[2] = {0, 0}, zero[2] = {1, 0},
        huge[3] = {INT_MAX, INT_MAX, INT_MAX};
    int negative[1] = {-1}, three[3] = {0, 0, 0}, number, source, dest;
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart), MPI_ERR_DIMS);
    CHECK(cart == MPI_COMM_NULL);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 3, huge, three, 0, &cart), MPI_ERR_DIMS);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 2, zero, periods, 0, &cart), MPI_ERR_DIMS);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, negative, periods, 0, &cart), MPI_ERR_DIMS);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, -1, dims, periods, 0, &cart), MPI_ERR_DIMS);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, NULL, periods, 0, &cart), MPI_ERR_ARG);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, NULL, 0, &cart), MPI_ERR_ARG);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, NULL), MPI_ERR_ARG);
    FAILS(MPI_Cart_create(MPI_COMM_NULL, 2, dims, periods, 0, &cart), MPI_ERR_COMM);
    FAILS(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &number), MPI_ERR_DIMS);
    CHECK(kind(MPI_COMM_WORLD) == MPI_UNDEFINED);
    FAILS(MPI_Topo_test(MPI_COMM_NULL, &number), MPI_ERR_COMM);
    FAILS(MPI_Topo_test(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    FAILS(MPI_Cartdim_get(MPI_COMM_WORLD, &number), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Cart_get(MPI_COMM_WORLD, 1, dims, periods, zero), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Cart_coords(MPI_COMM_WORLD, 0, 1, dims), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Cart_rank(MPI_COMM_WORLD, dims, &number), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &source, &dest), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Cart_sub(MPI_COMM_WORLD, dims, &cart), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Graphdims_get(MPI_COMM_WORLD, &source, &dest), MPI_ERR_TOPOLOGY);
    dims[0] = 1;
    OK(MPI_Cart_create(MPI_COMM_SELF, 1, dims, periods, 0, &cart));
    FAILS(MPI_Cart_coords(cart, 1, 1, dims), MPI_ERR_RANK);
    FAILS(MPI_Cart_coords(cart, -1, 1, dims), MPI_ERR_RANK);
    FAILS(MPI_Cart_coords(cart, 0, -1, dims), MPI_ERR_ARG);
    FAILS(MPI_Cart_coords(cart, 0, 1, NULL), MPI_ERR_ARG);
    FAILS(MPI_Cart_rank(cart, NULL, &number), MPI_ERR_ARG);
    FAILS(MPI_Cart_rank(cart, zero, NULL), MPI_ERR_ARG);
    FAILS(MPI_Cart_get(cart, 1, NULL, periods, zero), MPI_ERR_ARG);
    FAILS(MPI_Cart_get(cart, -1, dims, periods, zero), MPI_ERR_ARG);
    FAILS(MPI_Cart_shift(cart, 0, 1, NULL, &dest), MPI_ERR_ARG);
    FAILS(MPI_Graph_neighbors_count(cart, 0, &number), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Dist_graph_neighbors_count(cart, &number, &source, &dest), MPI_ERR_TOPOLOGY);
    OK(MPI_Comm_free(&cart));
}

/* An intercommunicator has no topology. */
static void intercommunicator(void) {
    if (size < 2) return;
    const int dims[1] = {1}, periods[1] = {0}, ends[1] = {0};
    MPI_Comm half, both, made;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &both));
    OK(MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN));
    CHECK(kind(both) == MPI_UNDEFINED);
    FAILS(MPI_Cart_create(both, 1, dims, periods, 0, &made), MPI_ERR_COMM);
    FAILS(MPI_Graph_create(both, 1, ends, NULL, 0, &made), MPI_ERR_COMM);
    FAILS(MPI_Dist_graph_create_adjacent(both, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                         MPI_INFO_NULL, 0, &made),
          MPI_ERR_COMM);
    FAILS(MPI_Dist_graph_create(both, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
          MPI_ERR_COMM);
    FAILS(MPI_Neighbor_allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, both), MPI_ERR_TOPOLOGY);
    OK(MPI_Comm_free(&both));
    OK(MPI_Comm_free(&half));
}

int main(void) {
    start(&rank, &size, MPI_THREAD_SINGLE);
    dims_create();
    coordinates();
    shifts();
    subgrids();
    no_dimensions();
    smaller();
    handed_down();
    wrong();
    intercommunicator();
    MPI_Finalize();
    return 0;
}
