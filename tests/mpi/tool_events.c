/* SPDX-License-Identifier: BSD-3-Clause */
/* Events (MPI 5.0, 15.3.8): a listener gets each event, with its data; an event without one costs
 * no call. */
#include "check.h"

struct seen {
    int calls, dropped, freed;
    MPI_Count data[3];
    MPI_Count timestamp;
    MPI_T_event_registration registration;
    MPI_T_event_instance instance;
};

static void look(MPI_T_event_instance instance, MPI_T_event_registration registration,
                 MPI_T_cb_safety safety, void* user_data) {
    struct seen* seen = user_data;
    MPI_Count one = -1;
    int source = -1;
    CHECK(safety == MPI_T_CB_REQUIRE_THREAD_SAFE);
    CHECK(registration == seen->registration);
    OK(MPI_T_event_copy(instance, seen->data));
    OK(MPI_T_event_read(instance, 1, &one));
    CHECK(one == seen->data[1]);
    CHECK(MPI_T_event_read(instance, 3, &one) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_event_read(instance, -1, &one) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_event_read(instance, 0, NULL) == MPI_T_ERR_INVALID);
    OK(MPI_T_event_get_timestamp(instance, &seen->timestamp));
    OK(MPI_T_event_get_source(instance, &source));
    CHECK(source == 0);
    seen->instance = instance;
    ++seen->calls;
}

static struct seen* dropping;

static void drop(MPI_Count count, MPI_T_event_registration registration, int source,
                 MPI_T_cb_safety safety, void* user_data) {
    CHECK(registration == dropping->registration && source == 0);
    CHECK(safety == MPI_T_CB_REQUIRE_THREAD_SAFE && user_data == NULL);
    dropping->dropped += (int)count;
}

static void freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* user_data) {
    struct seen* seen = user_data;
    CHECK(registration == seen->registration && safety == MPI_T_CB_REQUIRE_NONE);
    ++seen->freed;
}

static void descriptions(void) {
    int number, sources;
    OK(MPI_T_event_get_num(&number));
    CHECK(number >= 3);
    for (int i = 0; i < number; ++i) {
        char name[64], desc[256];
        MPI_Datatype types[8];
        MPI_Aint places[8];
        MPI_Info info;
        MPI_T_enum choices;
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, elements = 8, bind, index;
        OK(MPI_T_event_get_info(i, name, &name_len, &verbosity, types, places, &elements, &choices,
                                &info, desc, &desc_len, &bind));
        OK(MPI_T_event_get_index(name, &index));
        CHECK(index == i && bind == MPI_T_BIND_NO_OBJECT && choices == MPI_T_ENUM_NULL);
        CHECK(elements >= 1 && elements <= 8);
        for (int k = 0; k < elements; ++k)
            CHECK(types[k] == MPI_COUNT && places[k] == (MPI_Aint)(k * sizeof(MPI_Count)));
        OK(MPI_Info_free(&info));
        int none = 0;
        OK(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, &none, NULL, NULL, NULL, NULL,
                                NULL));
        CHECK(none == elements);
    }
    CHECK(MPI_T_event_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                               NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_event_get_index("no such event", &number) == MPI_T_ERR_INVALID_NAME);

    OK(MPI_T_source_get_num(&sources));
    CHECK(sources == 1);
    char name[16];
    int name_len = sizeof name;
    MPI_T_source_order order;
    MPI_Count ticks, most, first, second;
    MPI_Info info;
    OK(MPI_T_source_get_info(0, name, &name_len, NULL, NULL, &order, &ticks, &most, &info));
    CHECK(strcmp(name, "heddle") == 0 && order == MPI_T_SOURCE_UNORDERED && ticks == 1000000000 &&
          most > ticks);
    OK(MPI_Info_free(&info));
    OK(MPI_T_source_get_timestamp(0, &first));
    OK(MPI_T_source_get_timestamp(0, &second));
    CHECK(first > 0 && first <= second && second <= most);
    CHECK(MPI_T_source_get_info(1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_source_get_timestamp(-1, &first) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_source_get_timestamp(0, NULL) == MPI_T_ERR_INVALID);
}

static MPI_T_event_registration listen_to(const char* name, struct seen* seen) {
    int index;
    OK(MPI_T_event_get_index(name, &index));
    memset(seen, 0, sizeof *seen);
    OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &seen->registration));
    return seen->registration;
}

/* Sends an unexpected message of `bytes` bytes to this rank, and receives it. */
static void send_and_receive(int rank, int tag, int bytes) {
    char data[64] = {0};
    OK(MPI_Send(data, bytes, MPI_CHAR, rank, tag, MPI_COMM_WORLD));
    OK(MPI_Recv(data, bytes, MPI_CHAR, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void unexpected(int rank) {
    struct seen seen, other;
    MPI_Count before, after, value;
    MPI_T_event_registration r = listen_to("unexpected_message", &seen);
    send_and_receive(rank, 1, 5); /* no callback yet */
    CHECK(seen.calls == 0);
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &seen, look));
    OK(MPI_T_source_get_timestamp(0, &before));
    send_and_receive(rank, 2, 6);
    OK(MPI_T_source_get_timestamp(0, &after));
    CHECK(seen.calls == 1 && seen.data[0] == rank && seen.data[1] == 2 && seen.data[2] == 6);
    CHECK(seen.timestamp >= before && seen.timestamp <= after);
    CHECK(MPI_T_event_read(seen.instance, 0, &value) == MPI_T_ERR_INVALID_HANDLE); /* it is over */
    CHECK(MPI_T_event_get_timestamp(seen.instance, &value) == MPI_T_ERR_INVALID_HANDLE);

    /* Two registrations get the same event; one that may not be called here drops it. */
    MPI_T_event_registration s = listen_to("unexpected_message", &other);
    dropping = &other;
    OK(MPI_T_event_register_callback(s, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &other, look));
    OK(MPI_T_event_set_dropped_handler(s, drop));
    send_and_receive(rank, 3, 7);
    CHECK(seen.calls == 2 && other.calls == 0 && other.dropped == 1);
    OK(MPI_T_event_register_callback(s, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &other,
                                     look));
    send_and_receive(rank, 4, 8);
    CHECK(seen.calls == 3 && other.calls == 1 && other.dropped == 1 && other.data[1] == 4);

    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL,
                                     NULL)); /* no more */
    send_and_receive(rank, 5, 9);
    CHECK(seen.calls == 3 && other.calls == 2);
    OK(MPI_T_event_handle_free(s, &other, freed));
    OK(MPI_T_event_handle_free(r, &seen, NULL));
    CHECK(other.freed == 1 && seen.freed == 0);
    send_and_receive(rank, 6, 10);
    CHECK(seen.calls == 3 && other.calls == 2 && other.dropped == 1);
}

static void hints_and_wrong_use(void) {
    struct seen seen;
    MPI_Info info;
    MPI_T_event_registration r = listen_to("thread_sleeps", &seen), stale = r;
    OK(MPI_Info_create(&info));
    OK(MPI_T_event_handle_set_info(r, info));
    OK(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_NONE, info));
    OK(MPI_Info_free(&info));
    OK(MPI_T_event_handle_get_info(r, &info));
    OK(MPI_Info_free(&info));
    OK(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info));
    OK(MPI_Info_free(&info));
    CHECK(MPI_T_event_callback_get_info(r, (MPI_T_cb_safety)77, &info) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_register_callback(r, (MPI_T_cb_safety)77, MPI_INFO_NULL, NULL, look) ==
          MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_handle_get_info(r, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_handle_alloc(-1, NULL, MPI_INFO_NULL, &stale) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL) == MPI_T_ERR_INVALID);
    OK(MPI_T_event_handle_free(r, NULL, NULL));
    CHECK(MPI_T_event_handle_free(stale, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_register_callback(stale, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, look) ==
          MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_set_dropped_handler(stale, drop) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_handle_set_info(stale, MPI_INFO_NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_copy((MPI_T_event_instance)&seen, &seen) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_get_source(NULL, &seen.calls) == MPI_T_ERR_INVALID_HANDLE);
}

int main(void) {
    int provided, rank, size;
    struct seen left;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    descriptions();
    hints_and_wrong_use();
    start(&rank, &size, MPI_THREAD_SINGLE);
    descriptions();
    unexpected(rank);
    hints_and_wrong_use();
    /* A registration that is left open ends with the interface. */
    OK(MPI_T_event_register_callback(listen_to("unexpected_message", &left),
                                     MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &left, look));
    OK(MPI_T_finalize());
    send_and_receive(rank, 7, 11);
    CHECK(left.calls == 0);
    MPI_Finalize();
    return 0;
}
