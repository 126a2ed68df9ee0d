/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups, communicators, attributes, topologies. */
#include "every_call.h"

/* ---- Groups ---- */

void is_group(MPI_Group* group, int wanted, int wanted_rank) {
    int is = -1;
    OK(MPI_Group_size(*group, &is));
    CHECK(is == wanted);
    OK(MPI_Group_rank(*group, &is));
    CHECK(is == wanted_rank);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(*group)) == *group);
    if (*group == MPI_GROUP_EMPTY) return;
    OK(MPI_Group_free(group));
    CHECK(*group == MPI_GROUP_NULL);
}
static void groups(void) {
    MPI_Group all, first, group;
    int result = -1, ranks[2] = {-1, -1};
    OK(MPI_Comm_group(world, &all));
    OK(MPI_Group_incl(all, 1, (int[]){0}, &first));
    OK(MPI_Group_compare(all, first, &result));
    CHECK(result == (size == 1 ? MPI_IDENT : MPI_UNEQUAL));
    OK(MPI_Group_translate_ranks(all, 2, (int[]){size - 1, MPI_PROC_NULL}, first, ranks));
    CHECK(ranks[0] == (size == 1 ? 0 : MPI_UNDEFINED) && ranks[1] == MPI_PROC_NULL);
    OK(MPI_Group_excl(all, 1, (int[]){0}, &group));
    is_group(&group, size - 1, rank == 0 ? MPI_UNDEFINED : rank - 1);
    OK(MPI_Group_range_incl(all, 1, (int[][3]){{size - 1, 0, -1}}, &group));
    is_group(&group, size, size - 1 - rank);
    OK(MPI_Group_range_excl(all, 1, (int[][3]){{0, 0, 1}}, &group));
    is_group(&group, size - 1, rank == 0 ? MPI_UNDEFINED : rank - 1);
    OK(MPI_Group_union(first, all, &group));
    is_group(&group, size, rank);
    OK(MPI_Group_intersection(all, first, &group));
    is_group(&group, 1, rank == 0 ? 0 : MPI_UNDEFINED);
    OK(MPI_Group_difference(first, all, &group));
    CHECK(group == MPI_GROUP_EMPTY);
    is_group(&group, 0, MPI_UNDEFINED);
    is_group(&first, 1, rank == 0 ? 0 : MPI_UNDEFINED);
    is_group(&all, size, rank);
}

/* ---- Communicators ---- */

static void is_comm(MPI_Comm* comm, int comparison) {
    int result = -1;
    CHECK(*comm != MPI_COMM_NULL);
    OK(MPI_Comm_compare(world, *comm, &result));
    CHECK(result == comparison);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(*comm)) == *comm);
    OK(MPI_Comm_free(comm));
    CHECK(*comm == MPI_COMM_NULL);
}
static void communicators(void) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group group;
    MPI_Request request;
    MPI_Info info;
    int is = -1, flag = -1;
    char name[MPI_MAX_OBJECT_NAME] = "", value[16] = "";
    OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &is));
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && is == (int)strlen(name));
    OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &is));
    CHECK(strcmp(name, "MPI_COMM_SELF") == 0);
    OK(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &is));
    CHECK(is == MPI_IDENT);
    OK(MPI_Comm_dup(world, &comm));
    OK(MPI_Comm_set_name(comm, "a name"));
    OK(MPI_Comm_get_name(comm, name, &is));
    CHECK(strcmp(name, "a name") == 0 && is == 6);
    is_comm(&comm, MPI_CONGRUENT);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(MPI_Comm_dup_with_info(world, info, &comm));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_get_info(comm, &info));
    OK(MPI_Info_get(info, "mpi_assert_no_any_tag", sizeof value - 1, value, &flag));
    CHECK(flag && strcmp(value, "true") == 0);
    OK(MPI_Comm_set_info(world, info));
    OK(MPI_Comm_idup_with_info(world, info, &comm, &request));
    complete(&request);
    is_comm(&comm, MPI_CONGRUENT);
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
    OK(MPI_Comm_set_info(world, info));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_idup(world, &comm, &request));
    complete(&request);
    is_comm(&comm, MPI_CONGRUENT);
    OK(MPI_Comm_group(world, &group));
    OK(MPI_Comm_create(world, group, &comm));
    is_comm(&comm, MPI_CONGRUENT);
    OK(MPI_Comm_create_group(world, group, 3, &comm));
    is_comm(&comm, MPI_CONGRUENT);
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_split(world, 0, -rank, &comm));
    is_comm(&comm, size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    OK(MPI_Comm_split(world, MPI_UNDEFINED, 0, &comm));
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    is_comm(&comm, MPI_CONGRUENT); /* one host */
    OK(MPI_Comm_test_inter(world, &flag));
    CHECK(flag == 0);
    OK(MPI_Comm_dup(world, &comm));
    OK(MPI_Comm_disconnect(&comm));
    CHECK(comm == MPI_COMM_NULL);
    MPI_Request barrier;
    OK(MPI_Ibarrier(world, &barrier));
    complete(&barrier);
    OK(MPI_Barrier_init(world, MPI_INFO_NULL, &barrier));
    OK(MPI_Start(&barrier));
    OK(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&barrier));
}

static void intercommunicators(void) {
    MPI_Comm half, inter, merged;
    MPI_Group group;
    int is = -1;
    OK(MPI_Comm_split(world, rank, 0, &half));
    OK(MPI_Intercomm_create(half, 0, world, 1 - rank, 46, &inter));
    OK(MPI_Comm_test_inter(inter, &is));
    CHECK(is == 1);
    OK(MPI_Comm_remote_size(inter, &is));
    CHECK(is == 1);
    OK(MPI_Comm_remote_group(inter, &group));
    is_group(&group, 1, MPI_UNDEFINED);
    fill();
    OK(MPI_Bcast(rank == 0 ? given : got, 2, MPI_INT, rank == 0 ? MPI_ROOT : 0, inter));
    CHECK(rank == 0 || got[1] == 1);
    OK(MPI_Intercomm_merge(inter, rank == 0, &merged));
    OK(MPI_Comm_rank(merged, &is));
    CHECK(is == 1 - rank);
    is_comm(&merged, MPI_SIMILAR);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

static int copies, deletions;
static int copy_comm(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
    CHECK(comm != MPI_COMM_NULL && key != MPI_KEYVAL_INVALID && extra == &copies);
    ++copies;
    *(void**)out = (char*)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete_comm(MPI_Comm comm, int key, void* value, void* extra) {
    CHECK(comm != MPI_COMM_NULL && key != MPI_KEYVAL_INVALID && value != NULL && extra == &copies);
    ++deletions;
    return MPI_SUCCESS;
}
static int copy_type(MPI_Datatype type, int key, void* extra, void* in, void* out, int* flag) {
    CHECK(type == MPI_INT && key != MPI_KEYVAL_INVALID && extra == &copies);
    ++copies;
    *(void**)out = (char*)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete_type(MPI_Datatype type, int key, void* value, void* extra) {
    CHECK(type != MPI_DATATYPE_NULL && key != MPI_KEYVAL_INVALID && value != NULL);
    CHECK(extra == &copies);
    ++deletions;
    return MPI_SUCCESS;
}
static void attributes(void) {
    int key = MPI_KEYVAL_INVALID, flag = -1;
    void* value = NULL;
    MPI_Comm comm;
    OK(MPI_Comm_create_keyval(copy_comm, delete_comm, &key, &copies));
    OK(MPI_Comm_set_attr(world, key, given));
    OK(MPI_Comm_get_attr(world, key, &value, &flag));
    CHECK(flag && value == given);
    OK(MPI_Comm_dup(world, &comm));
    OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    CHECK(flag && value == (char*)given + 1 && copies == 1);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_delete_attr(world, key));
    CHECK(deletions == 2);
    OK(MPI_Comm_get_attr(world, key, &value, &flag));
    CHECK(!flag);
    OK(MPI_Comm_free_keyval(&key));
    CHECK(key == MPI_KEYVAL_INVALID);

    OK(MPI_Keyval_create(copy_comm, delete_comm, &key, &copies));
    OK(MPI_Attr_put(world, key, given));
    OK(MPI_Attr_get(world, key, &value, &flag));
    CHECK(flag && value == given);
    OK(MPI_Attr_delete(world, key));
    OK(MPI_Keyval_free(&key));
    CHECK(key == MPI_KEYVAL_INVALID && deletions == 3);

    MPI_Datatype type;
    OK(MPI_Type_create_keyval(copy_type, delete_type, &key, &copies));
    OK(MPI_Type_set_attr(MPI_INT, key, given));
    OK(MPI_Type_get_attr(MPI_INT, key, &value, &flag));
    CHECK(flag && value == given);
    OK(MPI_Type_dup(MPI_INT, &type));
    OK(MPI_Type_get_attr(type, key, &value, &flag));
    CHECK(flag && value == (char*)given + 1 && copies == 2);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_delete_attr(MPI_INT, key));
    OK(MPI_Type_free_keyval(&key));
    CHECK(key == MPI_KEYVAL_INVALID && deletions == 5);

    int* number = NULL;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &flag));
    CHECK(flag && *number >= 32767);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &number, &flag));
    CHECK(flag && (*number == 0 || *number == 1));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &number, &flag));
    CHECK(!flag || *number >= size);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag));
    CHECK(flag && *number == 0);
}

/* ---- Topologies ---- */

static void topologies(void) {
    MPI_Comm grid, line, graph;
    int dims[2] = {0, 1}, periods[2] = {1, 0}, coords[2] = {-1, -1}, is = -1, other = -1;
    OK(MPI_Dims_create(size, 2, dims));
    CHECK(dims[0] == size && dims[1] == 1);
    OK(MPI_Cart_create(world, 2, dims, periods, 0, &grid));
    OK(MPI_Topo_test(grid, &is));
    CHECK(is == MPI_CART);
    OK(MPI_Cartdim_get(grid, &is));
    CHECK(is == 2);
    int its_dims[2], its_periods[2];
    OK(MPI_Cart_get(grid, 2, its_dims, its_periods, coords));
    CHECK(its_dims[0] == size && its_periods[0] == 1 && its_periods[1] == 0 && coords[0] == rank);
    OK(MPI_Cart_coords(grid, size - 1, 2, coords));
    CHECK(coords[0] == size - 1 && coords[1] == 0);
    OK(MPI_Cart_rank(grid, coords, &is));
    CHECK(is == size - 1);
    OK(MPI_Cart_shift(grid, 0, 1, &is, &other));
    CHECK(is == left && other == right);
    OK(MPI_Cart_shift(grid, 1, 1, &is, &other));
    CHECK(is == MPI_PROC_NULL && other == MPI_PROC_NULL);
    OK(MPI_Cart_map(world, 2, dims, periods, &is));
    CHECK(is >= 0 && is < size);
    OK(MPI_Cart_sub(grid, (int[]){1, 0}, &line));
    OK(MPI_Cartdim_get(line, &is));
    CHECK(is == 1);
    OK(MPI_Comm_free(&line));
    OK(MPI_Comm_free(&grid));
    OK(MPI_Topo_test(world, &is));
    CHECK(is == MPI_UNDEFINED);

    int ends[most_ranks], edges[most_ranks], got_ends[most_ranks], got_edges[most_ranks];
    for (int i = 0; i < size; ++i) ends[i] = i + 1, edges[i] = (i + 1) % size;
    OK(MPI_Graph_create(world, size, ends, edges, 0, &graph));
    OK(MPI_Topo_test(graph, &is));
    CHECK(is == MPI_GRAPH);
    OK(MPI_Graphdims_get(graph, &is, &other));
    CHECK(is == size && other == size);
    OK(MPI_Graph_get(graph, size, size, got_ends, got_edges));
    CHECK(memcmp(ends, got_ends, (size_t)size * sizeof(int)) == 0);
    CHECK(memcmp(edges, got_edges, (size_t)size * sizeof(int)) == 0);
    OK(MPI_Graph_neighbors_count(graph, rank, &is));
    CHECK(is == 1);
    OK(MPI_Graph_neighbors(graph, rank, 1, &other));
    CHECK(other == right);
    OK(MPI_Graph_map(world, size, ends, edges, &is));
    CHECK(is >= 0 && is < size);
    OK(MPI_Comm_free(&graph));

    int weights[2] = {-1, -1}, sources = -1, targets = -1, weighted = -1, source = -1, target = -1;
    OK(MPI_Topo_test(ring, &is));
    CHECK(is == MPI_DIST_GRAPH);
    OK(MPI_Dist_graph_neighbors_count(ring, &sources, &targets, &weighted));
    CHECK(sources == 1 && targets == 1 && weighted == 0);
    OK(MPI_Dist_graph_create(world, 1, &rank, (int[]){1}, &right, (int[]){5}, MPI_INFO_NULL, 0,
                             &graph));
    OK(MPI_Dist_graph_neighbors_count(graph, &sources, &targets, &weighted));
    CHECK(sources == 1 && targets == 1 && weighted == 1);
    OK(MPI_Dist_graph_neighbors(graph, 1, &source, &weights[0], 1, &target, &weights[1]));
    CHECK(source == left && target == right && weights[0] == 5 && weights[1] == 5);
    OK(MPI_Comm_free(&graph));
    OK(MPI_Dist_graph_create_adjacent(world, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY,
                                      MPI_INFO_NULL, 0, &graph));
    OK(MPI_Dist_graph_neighbors_count(graph, &sources, &targets, &weighted));
    CHECK(sources == 0 && targets == 0 && weighted == 1);
    OK(MPI_Comm_free(&graph));
}

void communicators_and_groups(void) {
    groups();
    communicators();
    attributes();
    topologies();
    if (size == 2) intercommunicators();
}
