/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface. */
#include "every_call.h"

/* ---- Tools ---- */

static void categories(void) {
    int number = -1, is = -1, cvars = -1, pvars = -1, categories_in = -1, events = -1, stamp = -1;
    OK(MPI_T_category_get_num(&number));
    CHECK(number >= 1);
    for (int i = 0; i < number; ++i) {
        char name[128] = "", text[256];
        int name_length = sizeof name, length = sizeof text;
        OK(MPI_T_category_get_info(i, name, &name_length, text, &length, &cvars, &pvars,
                                   &categories_in));
        OK(MPI_T_category_get_index(name, &is));
        CHECK(is == i && name_length == (int)strlen(name) + 1);
        int indices[1024];
        CHECK(cvars >= 0 && cvars <= 1024 && pvars >= 0 && pvars <= 1024);
        OK(MPI_T_category_get_cvars(i, 1024, indices));
        for (int k = 0; k < cvars; ++k) CHECK(indices[k] >= 0);
        OK(MPI_T_category_get_pvars(i, 1024, indices));
        for (int k = 0; k < pvars; ++k) CHECK(indices[k] >= 0);
        OK(MPI_T_category_get_categories(i, 1024, indices));
        OK(MPI_T_category_get_num_events(i, &events));
        OK(MPI_T_category_get_events(i, 1024, indices));
        for (int k = 0; k < events && k < 1024; ++k) CHECK(indices[k] >= 0);
    }
    OK(MPI_T_category_changed(&stamp));
    CHECK(stamp >= 0);
}

static void control_variables(void) {
    int number = -1, is = -1, written = 0, enums = 0;
    OK(MPI_T_cvar_get_num(&number));
    CHECK(number >= 1);
    for (int i = 0; i < number; ++i) {
        char name[128] = "", text[1024];
        int name_length = sizeof name, length = sizeof text, verbosity = -1, bind = -1, scope = -1;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum choices = MPI_T_ENUM_NULL;
        OK(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &choices, text, &length,
                               &bind, &scope));
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        CHECK(bind == MPI_T_BIND_NO_OBJECT);
        CHECK(scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY ||
              scope == MPI_T_SCOPE_LOCAL || scope == MPI_T_SCOPE_GROUP ||
              scope == MPI_T_SCOPE_GROUP_EQ || scope == MPI_T_SCOPE_ALL ||
              scope == MPI_T_SCOPE_ALL_EQ);
        OK(MPI_T_cvar_get_index(name, &is));
        CHECK(is == i);
        if (choices != MPI_T_ENUM_NULL) {
            int items = -1, value = -1;
            char item[64] = "";
            int item_length = sizeof item;
            OK(MPI_T_enum_get_info(choices, &items, item, &item_length));
            CHECK(items >= 1);
            item_length = sizeof item;
            OK(MPI_T_enum_get_item(choices, items - 1, &value, item, &item_length));
            CHECK(item_length == (int)strlen(item) + 1);
            ++enums;
        }
        MPI_T_cvar_handle handle;
        int count = -1;
        char value[4096];
        OK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count));
        CHECK(count >= 1);
        OK(MPI_T_cvar_read(handle, value));
        if (MPI_T_cvar_write(handle, value) == MPI_SUCCESS) ++written;
        OK(MPI_T_cvar_handle_free(&handle));
    }
    CHECK(enums > 0);
    (void)written; /* most variables may not be written any more */
}

static void performance_variables(void) {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int number = -1, index = -1, count = -1, is = -1;
    unsigned long long before = 0, after = 0;
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_get_num(&number));
    CHECK(number >= 1);
    for (int i = 0; i < number; ++i) {
        char name[128] = "", text[1024];
        int name_length = sizeof name, length = sizeof text, verbosity, class, bind, readonly,
            continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum choices;
        OK(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &choices, text,
                               &length, &bind, &readonly, &continuous, &atomic));
        CHECK(class == MPI_T_PVAR_CLASS_COUNTER || class == MPI_T_PVAR_CLASS_LEVEL ||
              class == MPI_T_PVAR_CLASS_HIGHWATERMARK);
        CHECK(type == MPI_UNSIGNED_LONG_LONG);
        CHECK(bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM);
        OK(MPI_T_pvar_get_index(name, class, &is));
        CHECK(is == i);
    }
    OK(MPI_T_pvar_get_index("unexpected_messages", MPI_T_PVAR_CLASS_COUNTER, &index));
    OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK(count == 1);
    OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_read(session, handle, &before));
    OK(MPI_Send(given, 1, MPI_INT, rank, 48, world));
    OK(MPI_Recv(got, 1, MPI_INT, rank, 48, world, MPI_STATUS_IGNORE));
    OK(MPI_T_pvar_read(session, handle, &after));
    CHECK(after > before); /* the other rank may be ahead, and send already */
    before = 100000;
    OK(MPI_T_pvar_write(session, handle, &before));
    OK(MPI_T_pvar_readreset(session, handle, &after));
    CHECK(after >= 100000);
    OK(MPI_T_pvar_read(session, handle, &after));
    CHECK(after < 100000);
    OK(MPI_T_pvar_reset(session, handle));
    OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_handle_free(session, &handle));
    OK(MPI_T_pvar_get_index("comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &index));
    OK(MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count));
    OK(MPI_T_pvar_read(session, handle, &before));
    OK(MPI_T_pvar_handle_free(session, &handle));
    OK(MPI_T_pvar_session_free(&session));
}

static MPI_T_event_registration registration;
static int occurrences, freed_registrations, dropped;
static void occurs(MPI_T_event_instance instance, MPI_T_event_registration r,
                   MPI_T_cb_safety safety, void* data) {
    MPI_Count all[8] = {-1}, one = -1, stamp = -1;
    int source = -1;
    CHECK(safety == MPI_T_CB_REQUIRE_THREAD_SAFE && r == registration && data == &occurrences);
    OK(MPI_T_event_copy(instance, all));
    OK(MPI_T_event_read(instance, 1, &one));
    OK(MPI_T_event_get_timestamp(instance, &stamp));
    OK(MPI_T_event_get_source(instance, &source));
    CHECK(all[0] == rank && all[1] == 49 && one == 49 && stamp > 0 && source == 0);
    ++occurrences;
}
static void drops(MPI_Count count, MPI_T_event_registration r, int source, MPI_T_cb_safety safety,
                  void* data) {
    (void)data;
    CHECK(r == registration && source == 0 && safety == MPI_T_CB_REQUIRE_THREAD_SAFE);
    dropped += (int)count;
}
static void registration_freed(MPI_T_event_registration r, MPI_T_cb_safety safety, void* data) {
    CHECK(r == registration && safety == MPI_T_CB_REQUIRE_NONE && data == &occurrences);
    ++freed_registrations;
}
static void message_to_oneself(void) {
    OK(MPI_Send(given, 1, MPI_INT, rank, 49, MPI_COMM_WORLD));
    OK(MPI_Recv(got, 1, MPI_INT, rank, 49, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void occurrences_of_event(void) {
    MPI_Info info;
    OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL,
                                     &occurrences, occurs));
    OK(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, &info));
    OK(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, info));
    OK(MPI_Info_free(&info));
    OK(MPI_T_event_set_dropped_handler(registration, drops));
    message_to_oneself();
    CHECK(occurrences == 1 && dropped == 0);
    OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL,
                                     NULL, NULL));
    OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL,
                                     &occurrences, occurs));
    message_to_oneself();
    CHECK(occurrences == 1 && dropped == 1);
    OK(MPI_T_event_handle_free(registration, &occurrences, registration_freed));
    CHECK(freed_registrations == 1);
}

static void events(void) {
    int number = -1, index = -1, is = -1;
    MPI_Info info;
    OK(MPI_T_event_get_num(&number));
    OK(MPI_T_event_get_index("unexpected_message", &index));
    CHECK(index >= 0 && index < number);
    char name[64] = "", text[256];
    MPI_Datatype elements[8];
    MPI_Aint places[8];
    MPI_T_enum choices;
    int name_length = sizeof name, length = sizeof text, verbosity, how_many = 8, bind;
    OK(MPI_T_event_get_info(index, name, &name_length, &verbosity, elements, places, &how_many,
                            &choices, &info, text, &length, &bind));
    CHECK(strcmp(name, "unexpected_message") == 0 && how_many == 3 && elements[0] == MPI_COUNT);
    CHECK(bind == MPI_T_BIND_NO_OBJECT && places[1] == sizeof(MPI_Count));
    OK(MPI_Info_free(&info));
    OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration));
    OK(MPI_T_event_handle_get_info(registration, &info));
    OK(MPI_T_event_handle_set_info(registration, info));
    OK(MPI_Info_free(&info));
    occurrences_of_event();

    MPI_T_source_order order;
    MPI_Count ticks = -1, most = -1, now = -1;
    OK(MPI_T_source_get_num(&number));
    CHECK(number == 1);
    is = sizeof name, length = sizeof text;
    OK(MPI_T_source_get_info(0, name, &is, text, &length, &order, &ticks, &most, &info));
    CHECK(strcmp(name, "heddle") == 0 && ticks > 0);
    CHECK(order == MPI_T_SOURCE_UNORDERED);
    OK(MPI_Info_free(&info));
    OK(MPI_T_source_get_timestamp(0, &now));
    CHECK(now > 0 && now <= most);
}

void tools(void) {
    categories();
    control_variables();
    performance_variables();
    events();
}
