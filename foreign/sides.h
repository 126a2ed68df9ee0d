/* SPDX-License-Identifier: BSD-3-Clause */
/* Returns the number of arguments that a call has for each side: of ranks or of neighbours.
 * Includers define CALL(X), the function X of the library below.
 */
#ifndef HEDDLE_FOREIGN_SIDES_H
#define HEDDLE_FOREIGN_SIDES_H

enum Side { side_of_sources, side_of_destinations };

/* Returns the number of ranks in the group that gets messages. */
static inline int peers_of(MPI_Comm comm) {
    int inter = 0, size = 0;
    CALL(Comm_test_inter)(comm, &inter);
    if (inter) {
        CALL(Comm_remote_size)(comm, &size);
    } else {
        CALL(Comm_size)(comm, &size);
    }
    return size;
}

static inline int neighbours_of(MPI_Comm comm, enum Side side) {
    int topology = MPI_UNDEFINED, in = 0, out = 0;
    CALL(Topo_test)(comm, &topology);
    if (topology == MPI_CART) {
        CALL(Cartdim_get)(comm, &in);
        in = out = 2 * in;
    } else if (topology == MPI_GRAPH) {
        int rank = 0;
        CALL(Comm_rank)(comm, &rank);
        CALL(Graph_neighbors_count)(comm, rank, &in);
        out = in;
    } else if (topology == MPI_DIST_GRAPH) {
        int weighted;
        CALL(Dist_graph_neighbors_count)(comm, &in, &out, &weighted);
    }
    return side == side_of_sources ? in : out;
}

#endif
