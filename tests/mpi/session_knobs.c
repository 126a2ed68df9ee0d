/* SPDX-License-Identifier: BSD-3-Clause */
/* The first session may set up the library: info keys set knobs. */
#include "check.h"

static MPI_Info info_with(const char* value) {
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "heddle_no_such_knob", "1"));
    OK(MPI_Info_set(info, "heddle_instances", value));
    return info;
}

/* Checks the name of the choice that the knob has now. */
static void expect_instances(const char* wanted) {
    int index, count, provided, choice = -1, type_len = 0, number, at;
    char name[64], item[64];
    int name_len = sizeof name, item_len = sizeof item, verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum choices;
    MPI_T_cvar_handle handle;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_cvar_get_index("instances", &index));
    OK(MPI_T_cvar_get_info(index, name, &name_len, &verbosity, &type, &choices, NULL, &type_len,
                           &bind, &scope));
    OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    OK(MPI_T_cvar_read(handle, &choice));
    name_len = sizeof name;
    OK(MPI_T_enum_get_info(choices, &number, name, &name_len));
    for (int i = 0; i < number; ++i) {
        item_len = sizeof item;
        OK(MPI_T_enum_get_item(choices, i, &at, item, &item_len));
        if (at == choice) CHECK(strcmp(item, wanted) == 0);
    }
    OK(MPI_T_cvar_handle_free(&handle));
    OK(MPI_T_finalize());
}

int main(void) {
    MPI_Session first, second;
    MPI_Info info = info_with("2"), later = info_with("4");
    OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &first));
    expect_instances("2");
    OK(MPI_Session_init(later, MPI_ERRORS_RETURN, &second)); /* too late, but no error */
    expect_instances("2");
    OK(MPI_Session_finalize(&second));
    OK(MPI_Session_finalize(&first));
    OK(MPI_Info_free(&info));
    OK(MPI_Info_free(&later));
    return 0;
}
