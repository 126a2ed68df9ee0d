/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups (MPI 5.0, 7.3): the calls, on groups of MPI_COMM_WORLD. */
#include "check.h"

static int rank, size;
static MPI_Group world;

static int size_of(MPI_Group group) {
    int result = -1;
    OK(MPI_Group_size(group, &result));
    return result;
}
static int rank_in(MPI_Group group) {
    int result = -1;
    OK(MPI_Group_rank(group, &result));
    return result;
}
static int relation(MPI_Group a, MPI_Group b) {
    int result = -1;
    OK(MPI_Group_compare(a, b, &result));
    return result;
}

static void world_group(void) {
    CHECK(size_of(world) == size && rank_in(world) == rank);
    CHECK(size_of(MPI_GROUP_EMPTY) == 0 && rank_in(MPI_GROUP_EMPTY) == MPI_UNDEFINED);
    CHECK(relation(world, world) == MPI_IDENT);
    CHECK(relation(world, MPI_GROUP_EMPTY) == MPI_UNEQUAL);
}

static void lists(void) {
    MPI_Group group, rest;
    const int last = size - 1;
    OK(MPI_Group_incl(world, 1, &last, &group));
    CHECK(size_of(group) == 1 && rank_in(group) == (rank == last ? 0 : MPI_UNDEFINED));
    OK(MPI_Group_excl(world, 1, &last, &rest));
    CHECK(size_of(rest) == size - 1);
    CHECK((rest == MPI_GROUP_EMPTY) == (size == 1));
    OK(MPI_Group_free(&rest));
    CHECK(rest == MPI_GROUP_NULL);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_incl(world, 0, NULL, &group));
    CHECK(group == MPI_GROUP_EMPTY);
    OK(MPI_Group_excl(world, 0, NULL, &group));
    CHECK(relation(group, world) == MPI_IDENT);
    OK(MPI_Group_free(&group));
}

static void ranges(void) {
    MPI_Group even, down, odd;
    int every_second[1][3] = {{0, size - 1, 2}};
    int backwards[1][3] = {{size - 1, 0, -1}};
    OK(MPI_Group_range_incl(world, 1, every_second, &even));
    CHECK(size_of(even) == (size + 1) / 2);
    OK(MPI_Group_range_excl(world, 1, every_second, &odd));
    CHECK(size_of(odd) == size / 2);
    OK(MPI_Group_range_incl(world, 1, backwards, &down));
    CHECK(rank_in(down) == size - 1 - rank);
    CHECK(relation(down, world) == (size == 1 ? MPI_IDENT : MPI_SIMILAR));

    MPI_Group both, none, all;
    OK(MPI_Group_union(even, odd, &all));
    CHECK(relation(all, world) == (size < 3 ? MPI_IDENT : MPI_SIMILAR));
    OK(MPI_Group_intersection(down, even, &both)); /* in the order of the first */
    CHECK(relation(both, even) == (size < 3 ? MPI_IDENT : MPI_SIMILAR));
    OK(MPI_Group_free(&both));
    OK(MPI_Group_intersection(even, odd, &none));
    CHECK(none == MPI_GROUP_EMPTY);
    OK(MPI_Group_difference(world, even, &both));
    CHECK(relation(both, odd) == MPI_IDENT);
    if (size > 1) OK(MPI_Group_free(&both));

    int from[2] = {0, MPI_PROC_NULL}, to[2] = {-1, -1};
    OK(MPI_Group_translate_ranks(down, 2, from, world, to));
    CHECK(to[0] == size - 1 && to[1] == MPI_PROC_NULL);
    OK(MPI_Group_translate_ranks(world, 1, from, odd, to));
    CHECK(to[0] == MPI_UNDEFINED);
    OK(MPI_Group_free(&even));
    OK(MPI_Group_free(&down));
    OK(MPI_Group_free(&all));
    if (size > 1) OK(MPI_Group_free(&odd));
}

static void wrong(void) {
    MPI_Group result, null = MPI_GROUP_NULL;
    const int twice[2] = {0, 0}, outside = size;
    int no_stride[1][3] = {{0, 0, 0}}, too_far[1][3] = {{0, size, 1}};
    int number;
    FAILS(MPI_Group_size(MPI_GROUP_NULL, &number), MPI_ERR_GROUP);
    FAILS(MPI_Group_size((MPI_Group)&number, &number), MPI_ERR_GROUP);
    FAILS(MPI_Group_free(&null), MPI_ERR_GROUP);
    FAILS(MPI_Group_incl(world, 2, twice, &result), MPI_ERR_RANK);
    FAILS(MPI_Group_excl(world, 2, twice, &result), MPI_ERR_RANK);
    FAILS(MPI_Group_incl(world, 1, &outside, &result), MPI_ERR_RANK);
    FAILS(MPI_Group_incl(world, -1, &outside, &result), MPI_ERR_ARG);
    FAILS(MPI_Group_incl(world, 1, NULL, &result), MPI_ERR_ARG);
    FAILS(MPI_Group_range_incl(world, 1, no_stride, &result), MPI_ERR_ARG);
    FAILS(MPI_Group_range_incl(world, 1, too_far, &result), MPI_ERR_RANK);
    FAILS(MPI_Group_translate_ranks(world, 1, &outside, world, &number), MPI_ERR_RANK);
}

/* A freed handle names nothing, although a communicator still has the group. */
static void freed(void) {
    MPI_Group group, copy, again;
    int number;
    OK(MPI_Comm_group(MPI_COMM_SELF, &group));
    copy = group;
    OK(MPI_Group_free(&group));
    FAILS(MPI_Group_size(copy, &number), MPI_ERR_GROUP);
    FAILS(MPI_Group_free(&copy), MPI_ERR_GROUP);
    OK(MPI_Comm_group(MPI_COMM_SELF, &group));
    OK(MPI_Comm_group(MPI_COMM_SELF, &again));
    OK(MPI_Group_free(&group));
    CHECK(size_of(again) == 1);
    OK(MPI_Group_free(&again));
}

int main(void) {
    start(&rank, &size, MPI_THREAD_SINGLE);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    world_group();
    lists();
    ranges();
    wrong();
    freed();
    OK(MPI_Group_free(&world));
    MPI_Finalize();
    return 0;
}
