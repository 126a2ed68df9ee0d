/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes by their functions (MPI 5.0, 5): bounds, contents, packing, wrong arguments. */
#include "check.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct particle {
    char kind;
    double place[3];
    int id;
};

static MPI_Datatype particle_type(void) {
    int lengths[] = {1, 3, 1};
    MPI_Aint places[] = {offsetof(struct particle, kind), offsetof(struct particle, place),
                         offsetof(struct particle, id)};
    MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, type;
    OK(MPI_Type_create_struct(3, lengths, places, types, &type));
    return type;
}

/* The constants that stand for addresses have the values by which they are known. */
static void addresses_of_constants(void) {
    const void* constants[] = {
        MPI_BOTTOM,
        MPI_IN_PLACE,
#ifdef MPI_BUFFER_AUTOMATIC /* not in every ABI */
        MPI_BUFFER_AUTOMATIC,
#endif
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; ++i) {
        MPI_Aint address = 17;
        OK(MPI_Get_address(constants[i], &address));
        CHECK(address == (MPI_Aint)(intptr_t)constants[i]);
    }
}

static void check_bounds(MPI_Datatype type, int size, MPI_Aint lower, MPI_Aint extent,
                         MPI_Aint true_lower, MPI_Aint true_extent) {
    int bytes;
    MPI_Aint a, b;
    MPI_Count c, d;
    OK(MPI_Type_size(type, &bytes));
    CHECK(bytes == size);
    OK(MPI_Type_get_extent(type, &a, &b));
    CHECK(a == lower && b == extent);
    OK(MPI_Type_get_extent_c(type, &c, &d));
    CHECK(c == lower && d == extent);
    OK(MPI_Type_get_true_extent(type, &a, &b));
    CHECK(a == true_lower && b == true_extent);
    OK(MPI_Type_get_true_extent_x(type, &c, &d));
    CHECK(c == true_lower && d == true_extent);
}

static void bounds(void) {
    MPI_Datatype type, resized, both;
    type = particle_type();
    check_bounds(type, 29, 0, sizeof(struct particle), 0, 36);
    OK(MPI_Type_free(&type));
    CHECK(type == MPI_DATATYPE_NULL);

    OK(MPI_Type_create_resized(MPI_INT, -4, 20, &resized));
    check_bounds(resized, 4, -4, 20, 0, 4);
    OK(MPI_Type_contiguous(3, resized, &type)); /* bounds that were set stay */
    check_bounds(type, 12, -4, 60, 0, 44);
    OK(MPI_Type_free(&type));
    int lengths[] = {1, 2};
    MPI_Aint places[] = {100, 0};
    MPI_Datatype types[] = {MPI_DOUBLE, resized};
    /* And count more than those of the data. */
    OK(MPI_Type_create_struct(2, lengths, places, types, &both));
    check_bounds(both, 16, -4, 40, 0, 108);
    OK(MPI_Type_free(&both));
    OK(MPI_Type_vector(3, 1, -2, MPI_INT, &type));
    check_bounds(type, 12, -16, 20, -16, 20);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_contiguous(0, resized, &type));
    check_bounds(type, 0, 0, 0, 0, 0);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&resized));
    check_bounds(MPI_SHORT_INT, 6, 0, 8, 0, 8);
    check_bounds(MPI_LONG_DOUBLE_INT, 20, 0, 32, 0, 20);

    int bytes;
    MPI_Count large;
    OK(MPI_Type_contiguous_c((MPI_Count)1 << 40, MPI_INT, &type));
    OK(MPI_Type_size(type, &bytes));
    CHECK(bytes == MPI_UNDEFINED);
    OK(MPI_Type_size_c(type, &large));
    CHECK(large == (MPI_Count)1 << 42);
    OK(MPI_Type_free(&type));
}

/* Only structures are padded. */
static void padding(void) {
    MPI_Datatype inner, outer, structure;
    const int lengths[] = {1, 1}, displacements[] = {0, 1};
    const MPI_Aint places[] = {0, 8}, near[] = {0, 5};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR};
    OK(MPI_Type_create_hvector(3, 4, 21, MPI_INT, &inner));
    check_bounds(inner, 48, 0, 58, 0, 58);
    OK(MPI_Type_create_hvector(2, 1, 37, inner, &outer));
    check_bounds(outer, 96, 0, 95, 0, 95);
    OK(MPI_Type_free(&outer));
    OK(MPI_Type_contiguous(2, inner, &outer));
    check_bounds(outer, 96, 0, 116, 0, 116);
    OK(MPI_Type_free(&outer));
    OK(MPI_Type_free(&inner));
    OK(MPI_Type_create_hindexed(2, lengths, near, MPI_INT, &inner));
    check_bounds(inner, 8, 0, 9, 0, 9);
    OK(MPI_Type_indexed(2, lengths, displacements, inner, &outer));
    check_bounds(outer, 16, 0, 18, 0, 18);
    OK(MPI_Type_free(&outer));
    OK(MPI_Type_free(&inner));

    OK(MPI_Type_create_struct(2, lengths, places, types, &structure));
    check_bounds(structure, 9, 0, 16, 0, 9);
    OK(MPI_Type_contiguous(2, structure, &outer)); /* with the padding of its elements */
    check_bounds(outer, 18, 0, 32, 0, 25);
    OK(MPI_Type_free(&outer));
    OK(MPI_Type_create_hvector(2, 1, 17, structure, &outer));
    check_bounds(outer, 18, 0, 33, 0, 26);
    OK(MPI_Type_free(&outer));
    OK(MPI_Type_free(&structure));
}

static void names_of_synonyms(void) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    OK(MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &length));
    CHECK(strcmp(name, "MPI_C_COMPLEX") == 0);
    OK(MPI_Type_get_name(MPI_LONG_LONG, name, &length));
    CHECK(strcmp(name, "MPI_LONG_LONG_INT") == 0);
}

/* A call that sends and receives nothing needs no datatype. */
static void none_needed(void) {
    const MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Request request;
    int number, size;
    OK(MPI_Send(NULL, 0, none, 0, 0, MPI_COMM_SELF));
    OK(MPI_Recv(NULL, 0, none, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Send(&number, 1, none, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    OK(MPI_Irecv(&number, 1, none, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv(&number, 1, none, MPI_PROC_NULL, 0, &number, 0, none, MPI_PROC_NULL, 0,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Pack_size(0, none, MPI_COMM_WORLD, &size));
    CHECK(size == 0);
    OK(MPI_Bcast(NULL, 0, none, 0, MPI_COMM_WORLD));
    OK(MPI_Gather(NULL, 0, none, NULL, 0, none, 0, MPI_COMM_WORLD));
    FAILS(MPI_Send(&number, 1, none, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    FAILS(MPI_Bcast(&number, 1, none, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    FAILS(MPI_Gather(&number, 1, none, &number, 0, none, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    FAILS(MPI_Type_contiguous(0, none, &(MPI_Datatype){none}), MPI_ERR_TYPE);
    /* The operation must suit the datatype. */
    FAILS(MPI_Allreduce(NULL, NULL, 0, none, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_TYPE);
    FAILS(MPI_Send(NULL, 0, none, 12345, 0, MPI_COMM_SELF), MPI_ERR_RANK);
}

static void envelope(MPI_Datatype type, int integers, int addresses, int types, int combiner) {
    int i, a, d, c;
    MPI_Count li, la, lc, ld;
    OK(MPI_Type_get_envelope(type, &i, &a, &d, &c));
    CHECK(i == integers && a == addresses && d == types && c == combiner);
    OK(MPI_Type_get_envelope_c(type, &li, &la, &lc, &ld, &c));
    CHECK(li == integers && la == addresses && lc == 0 && ld == types && c == combiner);
}

static void contents(void) {
    int integers[20], lengths[] = {2, 0, 1}, displacements[] = {5, 0, -1}, i, a, d, c;
    MPI_Aint addresses[8], places[] = {8, 16, -24};
    MPI_Count counts[20], wide[] = {2, 1}, far[] = {100, -7}, li, la, lc, ld;
    MPI_Datatype inner, type, inside[3];
    OK(MPI_Type_vector(2, 3, 4, MPI_INT, &inner));
    envelope(inner, 3, 0, 1, MPI_COMBINER_VECTOR);
    OK(MPI_Type_get_contents(inner, 3, 0, 1, integers, NULL, inside));
    CHECK(integers[0] == 2 && integers[1] == 3 && integers[2] == 4 && inside[0] == MPI_INT);

    OK(MPI_Type_create_hvector(2, 1, 99, inner, &type));
    OK(MPI_Type_free(&inner)); /* type still refers to it */
    envelope(type, 2, 1, 1, MPI_COMBINER_HVECTOR);
    OK(MPI_Type_get_contents(type, 20, 8, 3, integers, addresses, inside));
    CHECK(integers[0] == 2 && integers[1] == 1 && addresses[0] == 99);
    CHECK(inside[0] != type);
    envelope(inside[0], 3, 0, 1, MPI_COMBINER_VECTOR);
    OK(MPI_Type_commit(&inside[0]));
    OK(MPI_Type_free(&inside[0]));
    FAILS(MPI_Type_get_contents(type, 1, 8, 3, integers, addresses, inside), MPI_ERR_ARG);
    FAILS(MPI_Type_get_contents(type, 2, 0, 3, integers, addresses, inside), MPI_ERR_ARG);
    FAILS(MPI_Type_get_contents(type, 2, 1, -1, integers, addresses, inside), MPI_ERR_ARG);
    FAILS(MPI_Type_get_contents(type, 2, 1, 1, NULL, addresses, inside), MPI_ERR_ARG);
    OK(MPI_Type_free(&type));

    OK(MPI_Type_indexed(3, lengths, displacements, MPI_INT, &type));
    envelope(type, 7, 0, 1, MPI_COMBINER_INDEXED);
    OK(MPI_Type_get_contents(type, 20, 8, 3, integers, addresses, inside));
    CHECK(integers[0] == 3 && integers[1] == 2 && integers[3] == 1 && integers[4] == 5 &&
          integers[6] == -1);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_hindexed(3, lengths, places, MPI_INT, &type));
    envelope(type, 4, 3, 1, MPI_COMBINER_HINDEXED);
    OK(MPI_Type_get_contents(type, 20, 8, 3, integers, addresses, inside));
    CHECK(integers[3] == 1 && addresses[0] == 8 && addresses[2] == -24);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_hindexed_block(3, 2, places, MPI_INT, &type));
    envelope(type, 2, 3, 1, MPI_COMBINER_HINDEXED_BLOCK);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_indexed_block(3, 2, displacements, MPI_INT, &type));
    envelope(type, 5, 0, 1, MPI_COMBINER_INDEXED_BLOCK);
    OK(MPI_Type_dup(type, &inner));
    envelope(inner, 0, 0, 1, MPI_COMBINER_DUP);
    OK(MPI_Type_free(&inner));
    OK(MPI_Type_free(&type));
    type = particle_type();
    envelope(type, 4, 3, 3, MPI_COMBINER_STRUCT);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_resized(MPI_INT, -8, 64, &type));
    envelope(type, 0, 2, 1, MPI_COMBINER_RESIZED);
    OK(MPI_Type_free(&type));

    int sizes[] = {4, 5}, subsizes[] = {2, 3}, starts[] = {1, 2};
    OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type));
    envelope(type, 8, 0, 1, MPI_COMBINER_SUBARRAY);
    OK(MPI_Type_get_contents(type, 8, 0, 1, integers, addresses, inside));
    CHECK(integers[0] == 2 && integers[1] == 4 && integers[4] == 3 && integers[6] == 2 &&
          integers[7] == MPI_ORDER_C);
    OK(MPI_Type_free(&type));
    int how[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
        usual[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[] = {2, 3};
    OK(MPI_Type_create_darray(6, 5, 2, sizes, how, usual, grid, MPI_ORDER_FORTRAN, MPI_INT, &type));
    envelope(type, 12, 0, 1, MPI_COMBINER_DARRAY);
    OK(MPI_Type_get_contents(type, 12, 0, 1, integers, addresses, inside));
    CHECK(integers[1] == 5 && integers[3] == 4 && integers[5] == how[0] && integers[8] == 2 &&
          integers[10] == 3 && integers[11] == MPI_ORDER_FORTRAN);
    OK(MPI_Type_free(&type));

    OK(MPI_Type_create_hindexed_c(2, wide, far, MPI_INT, &type));
    OK(MPI_Type_get_envelope_c(type, &li, &la, &lc, &ld, &c));
    CHECK(li == 0 && la == 0 && lc == 5 && ld == 1 && c == MPI_COMBINER_HINDEXED);
    OK(MPI_Type_get_contents_c(type, 0, 0, 5, 1, NULL, NULL, counts, inside));
    CHECK(counts[0] == 2 && counts[1] == 2 && counts[2] == 1 && counts[3] == 100 &&
          counts[4] == -7);
    FAILS(MPI_Type_get_envelope(type, &i, &a, &d, &c), MPI_ERR_TYPE);
    FAILS(MPI_Type_get_contents(type, 20, 8, 3, integers, addresses, inside), MPI_ERR_TYPE);
    OK(MPI_Type_free(&type));

    envelope(MPI_DOUBLE, 0, 0, 0, MPI_COMBINER_NAMED);
    envelope(MPI_DOUBLE_INT, 0, 0, 0, MPI_COMBINER_NAMED);
    FAILS(MPI_Type_get_contents(MPI_DOUBLE, 20, 8, 3, integers, addresses, inside), MPI_ERR_TYPE);
}

static void packing(void) {
    struct particle all[5], back[5];
    char packed[200];
    int position = 0, size, n;
    MPI_Datatype type = particle_type();
    memset(all, 0, sizeof all);
    memset(back, 0, sizeof back);
    for (int i = 0; i < 5; ++i) {
        all[i].kind = (char)('a' + i);
        all[i].place[2] = i / 2.0;
        all[i].id = 1000 + i;
    }
    FAILS(MPI_Pack(all, 1, type, packed, 200, &position, MPI_COMM_WORLD), MPI_ERR_TYPE);
    OK(MPI_Type_commit(&type));
    OK(MPI_Pack_size(5, type, MPI_COMM_WORLD, &size));
    CHECK(size >= 145);
    OK(MPI_Pack(all, 3, type, packed, 145, &position, MPI_COMM_WORLD));
    CHECK(position == 87);
    OK(MPI_Pack(all + 3, 2, type, packed, 145, &position, MPI_COMM_WORLD));
    FAILS(MPI_Pack(all, 1, type, packed, 145, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    position = 0;
    OK(MPI_Unpack(packed, 145, &position, back, 5, type, MPI_COMM_WORLD));
    CHECK(position == 145 && memcmp(all, back, sizeof all) == 0);
    FAILS(MPI_Unpack(packed, 145, &position, back, 1, type, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    position = -1;
    FAILS(MPI_Unpack(packed, 145, &position, back, 1, type, MPI_COMM_WORLD), MPI_ERR_ARG);
    FAILS(MPI_Unpack(packed, 145, NULL, back, 1, type, MPI_COMM_WORLD), MPI_ERR_ARG);
    position = 0;
    FAILS(MPI_Pack(NULL, 1, type, packed, 200, &position, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Pack(all, 1, type, NULL, 200, &position, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Pack(all, -1, type, packed, 200, &position, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Pack(all, 1, type, packed, -1, &position, MPI_COMM_WORLD), MPI_ERR_ARG);
    FAILS(MPI_Pack(all, 1, type, packed, 200, &position, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK(position == 0);
    OK(MPI_Pack_size(INT_MAX, type, MPI_COMM_WORLD, &size));
    CHECK(size == MPI_UNDEFINED);

    MPI_Aint place = 0, bytes;
    memset(back, 0, sizeof back);
    OK(MPI_Pack_external_size("external32", 5, type, &bytes));
    CHECK(bytes == 145);
    OK(MPI_Pack_external("external32", all, 5, type, packed, 200, &place));
    CHECK(place == 145 && packed[0] == 'a' && packed[27] == 3 && packed[28] == (char)(1000 & 255));
    place = 0;
    OK(MPI_Unpack_external("external32", packed, 145, &place, back, 5, type));
    CHECK(place == 145 && memcmp(all, back, sizeof all) == 0);
    FAILS(MPI_Pack_external("native", all, 1, type, packed, 200, &place), MPI_ERR_ARG);
    FAILS(MPI_Pack_external(NULL, all, 1, type, packed, 200, &place), MPI_ERR_ARG);
    FAILS(MPI_Pack_external("external32", all, 5, type, packed, 200, &place), MPI_ERR_TRUNCATE);
    OK(MPI_Type_free(&type));

    /* The type has addresses, from MPI_BOTTOM. */
    int first = 11, second = 22, lengths[] = {1, 1};
    MPI_Aint addresses[2];
    OK(MPI_Get_address(&first, &addresses[0]));
    OK(MPI_Get_address(&second, &addresses[1]));
    OK(MPI_Type_create_hindexed(2, lengths, addresses, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    position = 0;
    OK(MPI_Pack(MPI_BOTTOM, 1, type, packed, 8, &position, MPI_COMM_SELF));
    memcpy(&n, packed + 4, sizeof n);
    CHECK(n == 22);
    first = second = 0;
    position = 0;
    OK(MPI_Unpack(packed, 8, &position, MPI_BOTTOM, 1, type, MPI_COMM_SELF));
    CHECK(first == 11 && second == 22);
    OK(MPI_Type_free(&type));
}

static void numeric(void) {
    MPI_Datatype a, b, c, inside;
    int size, integers[2];
    OK(MPI_Type_create_f90_real(6, 30, &a));
    OK(MPI_Type_create_f90_real(6, 30, &b));
    OK(MPI_Type_create_f90_real(6, MPI_UNDEFINED, &c));
    CHECK(a == b && a != c);
    OK(MPI_Type_size(a, &size));
    CHECK(size == 4);
    envelope(a, 2, 0, 0, MPI_COMBINER_F90_REAL);
    OK(MPI_Type_get_contents(a, 2, 0, 0, integers, NULL, NULL));
    CHECK(integers[0] == 6 && integers[1] == 30);
    FAILS(MPI_Type_free(&a), MPI_ERR_TYPE);
    float in = 2.5f, out = 0;
    OK(MPI_Allreduce(&in, &out, 1, b, MPI_SUM, MPI_COMM_SELF));
    CHECK(out == 2.5f);
    OK(MPI_Type_contiguous(2, b, &c));
    OK(MPI_Type_get_contents(c, 1, 0, 1, integers, NULL, &inside));
    CHECK(inside == b);
    OK(MPI_Type_free(&c));
    OK(MPI_Type_create_f90_complex(15, 300, &a));
    OK(MPI_Type_size(a, &size));
    CHECK(size == 16);
    OK(MPI_Type_create_f90_integer(12, &a));
    OK(MPI_Type_size(a, &size));
    CHECK(size == 8);
    envelope(a, 1, 0, 0, MPI_COMBINER_F90_INTEGER);
    FAILS(MPI_Type_create_f90_real(100, 10, &a), MPI_ERR_ARG);
    FAILS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &a), MPI_ERR_ARG);
    FAILS(MPI_Type_create_f90_integer(-5, &a), MPI_ERR_ARG);

    OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &a));
    CHECK(a == MPI_REAL8);
    OK(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 8, &a));
    CHECK(a == MPI_COMPLEX8);
    FAILS(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &a), MPI_ERR_ARG);
    FAILS(MPI_Type_match_size(7, 4, &a), MPI_ERR_ARG);
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &a));
    CHECK(a == MPI_DOUBLE_INT);
    OK(MPI_Type_get_value_index(MPI_CHAR, MPI_INT, &a));
    CHECK(a == MPI_DATATYPE_NULL);
    FAILS(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &a), MPI_ERR_TYPE);
}

static void elements(void) {
    MPI_Datatype type = particle_type();
    MPI_Status status;
    int count;
    MPI_Count large;
    OK(MPI_Type_commit(&type));
    OK(MPI_Status_set_elements(&status, type, 8)); /* one particle and three elements */
    OK(MPI_Get_elements(&status, type, &count));
    CHECK(count == 8);
    OK(MPI_Get_count(&status, type, &count));
    CHECK(count == MPI_UNDEFINED);
    OK(MPI_Get_elements(&status, MPI_BYTE, &count));
    CHECK(count == 29 + 17);
    OK(MPI_Status_set_elements_c(&status, type, (MPI_Count)5 << 40));
    OK(MPI_Get_count_c(&status, type, &large));
    CHECK(large == (MPI_Count)1 << 40);
    OK(MPI_Get_elements_x(&status, type, &large));
    CHECK(large == (MPI_Count)5 << 40);
    OK(MPI_Get_elements(&status, type, &count));
    CHECK(count == MPI_UNDEFINED);
    FAILS(MPI_Status_set_elements_c(&status, MPI_DOUBLE, (MPI_Count)1 << 61), MPI_ERR_COUNT);
    OK(MPI_Type_free(&type));
}

static void wrong_arguments(void) {
    int lengths[] = {1, -1}, displacements[] = {0, 4}, sizes[] = {4, 4}, none[] = {0, 1},
        one[] = {1, 1};
    MPI_Aint places[] = {0, 8};
    MPI_Datatype types[] = {MPI_INT, MPI_DATATYPE_NULL}, type, stale, fixed = MPI_FLOAT_INT;
    FAILS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    FAILS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
    FAILS(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
    FAILS(MPI_Type_contiguous_c((MPI_Count)1 << 62, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_vector(1, -1, 1, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_create_hvector_c(3, 1, INT64_MAX, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_indexed(2, lengths, displacements, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_indexed(1, NULL, displacements, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_indexed(1, lengths, NULL, MPI_INT, &type), MPI_ERR_ARG);
    OK(MPI_Type_indexed(0, NULL, NULL, MPI_INT, &type));
    OK(MPI_Type_free(&type));
    FAILS(MPI_Type_create_struct(2, one, places, types, &type), MPI_ERR_TYPE);
    FAILS(MPI_Type_create_struct(1, one, places, NULL, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray(0, sizes, one, none, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray(2, sizes, none, none, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray(2, sizes, one, sizes, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray(2, sizes, one, none, 5, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray(2, NULL, one, none, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    int cyclic[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE}, grid[] = {2, 1},
        bad_grid[] = {2, 2};
    FAILS(MPI_Type_create_darray(2, 2, 2, sizes, cyclic, one, grid, MPI_ORDER_C, MPI_INT, &type),
          MPI_ERR_ARG);
    FAILS(MPI_Type_create_darray(3, 0, 2, sizes, cyclic, one, grid, MPI_ORDER_C, MPI_INT, &type),
          MPI_ERR_ARG);
    FAILS(
        MPI_Type_create_darray(4, 0, 2, sizes, cyclic, one, bad_grid, MPI_ORDER_C, MPI_INT, &type),
        MPI_ERR_ARG);
    FAILS(MPI_Type_create_darray(2, 0, 2, sizes, none, one, grid, MPI_ORDER_C, MPI_INT, &type),
          MPI_ERR_ARG);
    FAILS(MPI_Type_free(&fixed), MPI_ERR_TYPE);
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    stale = type;
    OK(MPI_Type_free(&type));
    FAILS(MPI_Type_free(&stale), MPI_ERR_TYPE);
    FAILS(MPI_Type_commit(&stale), MPI_ERR_TYPE);
    FAILS(MPI_Type_dup(stale, &type), MPI_ERR_TYPE);
}

/* Makes a thousand types on top of each other, frees them from the bottom, and looks at their
 * contents. */
static void nested(void) {
    MPI_Datatype types[1001], inside[2];
    int lengths[] = {1, 1}, *data = calloc(2100, sizeof(int)), *packed = calloc(1001, sizeof(int)),
        position = 0;
    MPI_Aint places[] = {0, 8}, addresses[2];
    types[0] = MPI_INT;
    for (int i = 1; i <= 1000; ++i) {
        MPI_Datatype pair[] = {MPI_INT, types[i - 1]};
        OK(MPI_Type_create_struct(2, lengths, places, pair, &types[i]));
    }
    for (int i = 1; i < 1000; ++i) OK(MPI_Type_free(&types[i]));
    OK(MPI_Type_commit(&types[1000]));
    for (int i = 0; i < 2100; ++i) data[i] = i;
    OK(MPI_Pack(data, 1, types[1000], packed, 4004, &position, MPI_COMM_SELF));
    for (int i = 0; i <= 1000; ++i) CHECK(packed[i] == 2 * i);
    for (int i = 0; i < 1000; ++i) {
        int integers[3];
        OK(MPI_Type_get_contents(types[1000], 3, 2, 2, integers, addresses, inside));
        OK(MPI_Type_free(&types[1000]));
        types[1000] = inside[1];
    }
    CHECK(types[1000] == MPI_INT);
    free(data);
    free(packed);
}

int main(void) {
    int rank, size;
    start(&rank, &size, MPI_THREAD_SINGLE);
    addresses_of_constants();
    bounds();
    padding();
    names_of_synonyms();
    none_needed();
    contents();
    packing();
    numeric();
    elements();
    wrong_arguments();
    nested();
    MPI_Finalize();
    return 0;
}
