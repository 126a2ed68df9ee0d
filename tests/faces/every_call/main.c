/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls every function of the ABI of a face with good arguments, and checks the results. */
#include "every_call.h"

int rank, size, left, right;
MPI_Comm world, ring;
char path[256];
int given[room], got[room];
char* program;

/* ---- The parts that the files share ---- */

void fill(void) {
    for (int i = 0; i < room; ++i) {
        given[i] = 100 * rank + i;
        got[i] = -1;
    }
}
int sum(int i, int ranks) { return 100 * (ranks * (ranks - 1) / 2) + ranks * i; }
void complete(MPI_Request* request) {
    CHECK(*request != MPI_REQUEST_NULL);
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    CHECK(*request == MPI_REQUEST_NULL);
}
void check_status(const MPI_Status* status, int source, int tag, int count) {
    int is = -1;
    CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag);
    OK(MPI_Get_count(status, MPI_INT, &is));
    CHECK(is == count);
}
void complete_receive(MPI_Request* request, int source, int tag, int count) {
    MPI_Status status;
    OK(MPI_Wait(request, &status));
    CHECK(*request == MPI_REQUEST_NULL);
    check_status(&status, source, tag, count);
}

/* ---- Constants and predefined objects, each by name (every_call_constants.h) ---- */

static void is_type(MPI_Datatype type, const char* name, const char* other_name) {
    char is[MPI_MAX_OBJECT_NAME];
    int length = -1, bytes = -1;
    OK(MPI_Type_get_name(type, is, &length));
    const int has_name = strcmp(is, name) == 0 || strcmp(is, other_name) == 0;
    if (!has_name) fprintf(stderr, "%s is called %s\n", name, is);
    CHECK(has_name && length == (int)strlen(is));
    CHECK(MPI_Type_f2c(MPI_Type_c2f(type)) == type);
    if (type != MPI_DATATYPE_NULL) OK(MPI_Type_size(type, &bytes));
    int combiner = -1, integers, addresses, types;
    if (type != MPI_DATATYPE_NULL) {
        OK(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
        CHECK(combiner == MPI_COMBINER_NAMED);
    }
}
static void is_op(MPI_Op op) {
    int commutes = -1;
    CHECK(MPI_Op_f2c(MPI_Op_c2f(op)) == op);
    if (op == MPI_OP_NULL) return;
    OK(MPI_Op_commutative(op, &commutes));
    CHECK(commutes == (op != MPI_REPLACE && op != MPI_NO_OP) || commutes == 1);
}
static void is_error_class(int class) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int is = -1, length = 0;
    OK(MPI_Error_class(class, &is));
    CHECK(is == class);
    OK(MPI_Error_string(class, text, &length));
    CHECK(length > 0 && (int)strlen(text) == length);
    MPI_Status status;
    memset(&status, 0, sizeof status);
    OK(MPI_Status_set_error(&status, class));
    CHECK(status.MPI_ERROR == class);
    OK(MPI_Status_get_error(&status, &is));
    CHECK(is == class);
    CHECK(MPI_Comm_call_errhandler(MPI_COMM_SELF, class) == MPI_SUCCESS); /* the handler returns */
}
static void constants(void) {
#define TYPE(name, other_name) is_type(name, #name, #other_name);
#define OP(name) is_op(name);
#define ERROR_CLASS(name) is_error_class(name);
#include "every_call_constants.h"
#undef TYPE
#undef OP
#undef ERROR_CLASS
    /* Each operation is the one of its name. */
    const int a = 6, b = 3;
    const struct {
        MPI_Op op;
        int wanted;
    } of[] = {{MPI_MAX, 6},  {MPI_MIN, 3}, {MPI_SUM, 9}, {MPI_PROD, 18}, {MPI_LAND, 1},
              {MPI_BAND, 2}, {MPI_LOR, 1}, {MPI_BOR, 7}, {MPI_LXOR, 0},  {MPI_BXOR, 5}};
    for (int i = 0; i < LENGTH(of); ++i) {
        int result = b;
        OK(MPI_Reduce_local(&a, &result, 1, MPI_INT, of[i].op));
        CHECK(result == of[i].wanted);
    }
    struct {
        int value, place;
    } x = {4, 2}, y = {5, 1};
    OK(MPI_Reduce_local(&x, &y, 1, MPI_2INT, MPI_MINLOC));
    CHECK(y.value == 4 && y.place == 2);
    y.value = 5, y.place = 1;
    OK(MPI_Reduce_local(&x, &y, 1, MPI_2INT, MPI_MAXLOC));
    CHECK(y.value == 5 && y.place == 1);
}

/* ---- The end ---- */

/* Returns whether the function needs a second rank. With one rank it may be missing. */
static int needs_two(const char* name) {
    static const char* const functions[] = {"MPI_Intercomm_create",
                                            "MPI_Intercomm_merge",
                                            "MPI_Comm_remote_size",
                                            "MPI_Comm_remote_group",
                                            "MPI_Intercomm_create_from_groups",
                                            "MPI_Open_port",
                                            "MPI_Publish_name",
                                            "MPI_Lookup_name",
                                            "MPI_Comm_accept",
                                            "MPI_Comm_connect",
                                            "MPI_Unpublish_name",
                                            "MPI_Close_port",
                                            "MPI_Comm_join"};
    for (int i = 0; i < LENGTH(functions); ++i)
        if (strcmp(name, functions[i]) == 0) return 1;
    return 0;
}
/* Checks that one of the ranks has called each function of the table. */
static void nothing_is_missing(const unsigned char* seen) {
    int called = 0, missing = 0;
    for (int i = 0; i < functions_of_face; ++i) {
        called += seen[i];
        if (seen[i] ? reason_not_to_call[i] != NULL : reason_not_to_call[i] == NULL) {
            if (size == 1 && !seen[i] && needs_two(names_of_functions[i])) continue;
            ++missing;
            fprintf(stderr,
                    seen[i] ? "%s is called, and has a reason not to be\n" : "%s is not called\n",
                    names_of_functions[i]);
        }
    }
    printf("%d of %d functions called\n", called, functions_of_face);
    if (missing != 0) exit(1);
}

int main(int argc, char** argv) {
    int level = -1;
    unsigned char seen[functions_of_face];
    program = argv[0];
    if (argc > 1 && strcmp(argv[1], "child") == 0) return be_a_child();
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
    CHECK(level == MPI_THREAD_MULTIPLE);
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
    CHECK(level == MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(size <= 2);
    left = (rank + size - 1) % size, right = (rank + 1) % size;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    OK(MPI_Dist_graph_create_adjacent(world, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &ring));
    name_file(path, sizeof path, "every_call");

    constants();
    messages_and_requests();
    with_counts();
    with_large_counts();
    communicators_and_groups();
    objects();
    tools();
    processes();

    OK(MPI_Comm_free(&ring));
    OK(MPI_Reduce(seen_functions, seen, functions_of_face, MPI_UNSIGNED_CHAR, MPI_MAX, 0, world));
    OK(MPI_Comm_free(&world));
    OK(MPI_Finalize());
    int over = 0;
    OK(MPI_Finalized(&over));
    CHECK(over);
    OK(MPI_T_finalize());
    if (rank != 0) return 0;
    for (int i = 0; i < functions_of_face; ++i) seen[i] |= seen_functions[i] | seen_by_children[i];
    nothing_is_missing(seen);
    return 0;
}
