/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface (MPI 5.0, 15.3): its life, enumerations, control variables, categories; before
 * MPI_Init, between, and after MPI_Finalize. MPI uses the values written before MPI_Init. */
#include "check.h"
#include "counter.h"

static void uninitialized(void) {
    int number;
    MPI_T_pvar_session session;
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_pvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_category_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_event_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_source_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_T_ERR_NOT_INITIALIZED);
}

static int cvar(const char* name) {
    int index = -1;
    OK(MPI_T_cvar_get_index(name, &index));
    return index;
}

static MPI_T_cvar_handle open_cvar(const char* name, int* count) {
    MPI_T_cvar_handle handle;
    OK(MPI_T_cvar_handle_alloc(cvar(name), NULL, &handle, count));
    return handle;
}

/* The returned part of a name depends on the room for it. */
static void strings(void) {
    const int index = cvar("eager_limit");
    char name[32];
    int length = 0;
    OK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(length == (int)strlen("eager_limit") + 1);
    memset(name, 'x', sizeof name);
    OK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(strcmp(name, "eager_limit") == 0 && length == 12);
    memset(name, 'x', sizeof name);
    length = 6;
    OK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(strcmp(name, "eager") == 0 && name[6] == 'x' && length == 12);
    length = 1;
    OK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(name[0] == '\0' && length == 12);
    length = 7;
    OK(MPI_T_cvar_get_info(index, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(length == 12);
    name[0] = 'y';
    OK(MPI_T_cvar_get_info(index, name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(name[0] == 'y');
    length = -1;
    CHECK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID);
}

/* Finds each variable under its name, and checks its description. */
static void descriptions(void) {
    int number;
    OK(MPI_T_cvar_get_num(&number));
    CHECK(number >= 3);
    for (int i = 0; i < number; ++i) {
        char name[64], desc[512];
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, bind, scope, count;
        MPI_Datatype type;
        MPI_T_enum choices;
        OK(MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &choices, desc, &desc_len,
                               &bind, &scope));
        CHECK(name_len == (int)strlen(name) + 1 && desc_len == (int)strlen(desc) + 1 &&
              desc_len > 1);
        CHECK(cvar(name) == i);
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        CHECK(type == MPI_INT || type == MPI_UNSIGNED_LONG_LONG || type == MPI_CHAR);
        CHECK((choices != MPI_T_ENUM_NULL) == (type == MPI_INT));
        CHECK(bind == MPI_T_BIND_NO_OBJECT && scope == MPI_T_SCOPE_LOCAL);
        MPI_T_cvar_handle handle = open_cvar(name, &count);
        CHECK(type == MPI_CHAR ? count > 1 : count == 1);
        OK(MPI_T_cvar_handle_free(&handle));
        CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
    }
    CHECK(MPI_T_cvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID_INDEX);
}

static void enumerations(void) {
    MPI_T_enum choices;
    int number, value, length = 0;
    char name[16];
    OK(MPI_T_cvar_get_info(cvar("single_copy"), NULL, NULL, NULL, NULL, &choices, NULL, NULL, NULL,
                           NULL));
    OK(MPI_T_enum_get_info(choices, &number, NULL, &length));
    CHECK(number == 3 && length > 1);
    const char* expected[] = {"auto", "always", "never"};
    for (int i = 0; i < number; ++i) {
        length = sizeof name;
        OK(MPI_T_enum_get_item(choices, i, &value, name, &length));
        CHECK(value == i && strcmp(name, expected[i]) == 0);
    }
    CHECK(MPI_T_enum_get_item(choices, number, &value, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_enum_get_item(choices, -1, &value, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_enum_get_item((MPI_T_enum)&number, 0, &value, NULL, NULL) ==
          MPI_T_ERR_INVALID_HANDLE);
}

/* The categories list all variables, each once. */
static void categories(void) {
    int number, cvars, pvars, events, all_cvars, all_pvars, all_events, stamp, later, root;
    int sum_cvars = 0, sum_pvars = 0, sum_events = 0, indices[256];
    OK(MPI_T_category_get_num(&number));
    OK(MPI_T_cvar_get_num(&all_cvars));
    OK(MPI_T_pvar_get_num(&all_pvars));
    OK(MPI_T_event_get_num(&all_events));
    OK(MPI_T_category_changed(&stamp));
    char seen[3][256] = {{0}};
    for (int i = 0; i < number; ++i) {
        char name[64], desc[256];
        int name_len = sizeof name, desc_len = sizeof desc, children, index;
        OK(MPI_T_category_get_info(i, name, &name_len, desc, &desc_len, &cvars, &pvars, &children));
        OK(MPI_T_category_get_index(name, &index));
        CHECK(index == i && desc_len > 1);
        OK(MPI_T_category_get_num_events(i, &events));
        OK(MPI_T_category_get_cvars(i, 256, indices));
        for (int k = 0; k < cvars; ++k) CHECK(seen[0][indices[k]]++ == 0);
        OK(MPI_T_category_get_pvars(i, 256, indices));
        for (int k = 0; k < pvars; ++k) CHECK(seen[1][indices[k]]++ == 0);
        OK(MPI_T_category_get_events(i, 256, indices));
        for (int k = 0; k < events; ++k) CHECK(seen[2][indices[k]]++ == 0);
        sum_cvars += cvars;
        sum_pvars += pvars;
        sum_events += events;
    }
    CHECK(sum_cvars == all_cvars && sum_pvars == all_pvars && sum_events == all_events);
    OK(MPI_T_category_get_index("heddle", &root));
    int children;
    OK(MPI_T_category_get_info(root, NULL, NULL, NULL, NULL, NULL, NULL, &children));
    CHECK(children == number - 1);
    indices[1] = -7;
    OK(MPI_T_category_get_categories(root, 1, indices)); /* not more than there is room for */
    CHECK(indices[0] != root && indices[1] == -7);
    OK(MPI_T_category_get_categories(indices[0], 64, indices));
    OK(MPI_T_category_changed(&later));
    CHECK(later == stamp);

    CHECK(MPI_T_category_get_index("no such category", &root) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_category_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_cvars(-1, 1, indices) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_pvars(number, 1, indices) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_categories(number, 1, indices) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_events(number, 1, indices) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_num_events(number, &events) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_cvars(0, -1, indices) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_get_cvars(0, 1, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_changed(NULL) == MPI_T_ERR_INVALID);
}

static void wrong_handles(void) {
    int number, count;
    MPI_T_cvar_handle handle, stale, null = MPI_T_CVAR_HANDLE_NULL;
    CHECK(MPI_T_cvar_get_index("no such variable", &number) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_cvar_get_index(NULL, &number) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_get_index("eager_limit", NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_get_num(NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_handle_alloc(-1, NULL, &handle, &count) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_handle_alloc(0, NULL, NULL, &count) == MPI_T_ERR_INVALID);
    handle = open_cvar("eager_limit", &count);
    CHECK(MPI_T_cvar_read(handle, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_write(handle, NULL) == MPI_T_ERR_INVALID);
    stale = handle;
    OK(MPI_T_cvar_handle_free(&handle));
    CHECK(MPI_T_cvar_read(stale, &number) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_write(stale, &number) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_handle_free(&stale) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_handle_free(&null) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_handle_free(NULL) == MPI_T_ERR_INVALID);
}

static void at_any_time(void) {
    strings();
    descriptions();
    enumerations();
    categories();
    wrong_handles();
}

static unsigned long long number_of(const char* name) {
    int count;
    unsigned long long value = ~0ull;
    MPI_T_cvar_handle handle = open_cvar(name, &count);
    OK(MPI_T_cvar_read(handle, &value));
    OK(MPI_T_cvar_handle_free(&handle));
    return value;
}

static void write_before_init(void) {
    int count, choice = 2;
    unsigned long long bytes = 16;
    MPI_T_cvar_handle limit = open_cvar("eager_limit", &count);
    CHECK(number_of("eager_limit") == 100); /* from the environment, as the test sets it */
    OK(MPI_T_cvar_write(limit, &bytes));
    CHECK(number_of("eager_limit") == 16);
    bytes = 8193;
    CHECK(MPI_T_cvar_write(limit, &bytes) == MPI_T_ERR_INVALID); /* too large for a ring */
    CHECK(number_of("eager_limit") == 16);
    OK(MPI_T_cvar_handle_free(&limit));

    MPI_T_cvar_handle copy = open_cvar("single_copy", &count);
    OK(MPI_T_cvar_write(copy, &choice));
    choice = 3;
    CHECK(MPI_T_cvar_write(copy, &choice) == MPI_T_ERR_INVALID);
    choice = -1;
    CHECK(MPI_T_cvar_write(copy, &choice) == MPI_T_ERR_INVALID);
    OK(MPI_T_cvar_read(copy, &choice));
    CHECK(choice == 2);
    OK(MPI_T_cvar_handle_free(&copy));

    MPI_T_cvar_handle counters = open_cvar("counters", &count);
    char* text = malloc((size_t)count);
    memset(text, 'a', (size_t)count); /* the text has no end */
    CHECK(MPI_T_cvar_write(counters, text) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_write(counters, "(") == MPI_T_ERR_INVALID); /* not a regular expression */
    OK(MPI_T_cvar_write(counters, "^nothing has this name$"));
    OK(MPI_T_cvar_read(counters, text));
    CHECK(strcmp(text, "^nothing has this name$") == 0);
    free(text);
    OK(MPI_T_cvar_handle_free(&counters));
}

/* 17 bytes are above the limit of 16 now, and pipelined. */
static void settings_hold(int rank, int size) {
    char data[17] = {0};
    if (size > 1 && rank == 0) OK(MPI_Send(data, 17, MPI_CHAR, 1, 5, MPI_COMM_WORLD));
    if (rank == 1) {
        OK(MPI_Recv(data, 17, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(counter("pipelined_bytes") == 17);
        CHECK(counter("single_copy_bytes") == 0);
    }
    int count;
    unsigned long long bytes = 8;
    MPI_T_cvar_handle limit = open_cvar("eager_limit", &count);
    CHECK(MPI_T_cvar_write(limit, &bytes) == MPI_T_ERR_CVAR_SET_NOT_NOW);
    CHECK(number_of("eager_limit") == 16);
    OK(MPI_T_cvar_handle_free(&limit));
}

int main(void) {
    int provided = -1, rank, size;
    uninitialized();
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, NULL) == MPI_T_ERR_INVALID);
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK(provided == MPI_THREAD_MULTIPLE);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided)); /* calls are counted */
    OK(MPI_T_finalize());
    at_any_time();
    write_before_init();
    OK(MPI_T_finalize());
    uninitialized();

    start(&rank, &size, MPI_THREAD_SINGLE);
    uninitialized();
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    at_any_time();
    settings_hold(rank, size);
    MPI_Finalize();

    at_any_time();
    CHECK(number_of("eager_limit") == 16);
    OK(MPI_T_finalize());
    uninitialized();
    return 0;
}
