/* SPDX-License-Identifier: BSD-3-Clause */
/* Performance variables (MPI 5.0, 15.3.7) count the messages of this test. Sessions do not see each
 * other. */
#include "check.h"

enum { MESSAGES = 10, BYTES = 24, LARGE = 100000 };

static int rank, size;
static MPI_T_pvar_session session;

static int pvar(const char* name, int class) {
    int index = -1;
    OK(MPI_T_pvar_get_index(name, class, &index));
    return index;
}

static MPI_T_pvar_handle open_pvar(const char* name, int class, void* object) {
    MPI_T_pvar_handle handle;
    int count = -1;
    OK(MPI_T_pvar_handle_alloc(session, pvar(name, class), object, &handle, &count));
    CHECK(count == 1);
    return handle;
}

static MPI_T_pvar_handle open_counter(const char* name) {
    return open_pvar(name, MPI_T_PVAR_CLASS_COUNTER, NULL);
}

static unsigned long long value_of(MPI_T_pvar_handle handle) {
    unsigned long long value = ~0ull;
    OK(MPI_T_pvar_read(session, handle, &value));
    return value;
}

static void descriptions(void) {
    int number;
    OK(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; ++i) {
        char name[64], desc[256];
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, class, bind, readonly,
            continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum choices;
        OK(MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &choices, desc,
                               &desc_len, &bind, &readonly, &continuous, &atomic));
        CHECK(name_len == (int)strlen(name) + 1 && desc_len == (int)strlen(desc) + 1);
        CHECK(pvar(name, class) == i);
        CHECK(type == MPI_UNSIGNED_LONG_LONG && choices == MPI_T_ENUM_NULL && continuous == 1);
        CHECK(readonly == (class != MPI_T_PVAR_CLASS_COUNTER) && atomic == !readonly);
        CHECK((bind == MPI_T_BIND_MPI_COMM) == (strncmp(name, "comm_", 5) == 0));
        int other;
        CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_TIMER, &other) == MPI_T_ERR_INVALID_NAME);
    }
    CHECK(MPI_T_pvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                              NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_COUNTER, &number) ==
          MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_pvar_get_num(NULL) == MPI_T_ERR_INVALID);
}

/* The counts of all instances add up to that of the process. One instance has the highest level. */
static void instances(void) {
    enum { MOST = 64 };
    static const char* const names[] = {"sent_messages", "received_messages",
                                        "unexpected_messages"};
    for (int i = 0; i < 3; ++i) {
        char name[64];
        unsigned long long values[MOST], sum = 0;
        MPI_T_pvar_handle handle, whole = open_counter(names[i]);
        int count = -1;
        snprintf(name, sizeof name, "instance_%s", names[i]);
        OK(MPI_T_pvar_handle_alloc(session, pvar(name, MPI_T_PVAR_CLASS_COUNTER), NULL, &handle,
                                   &count));
        CHECK(count > 0 && count <= MOST);
        OK(MPI_T_pvar_read(session, handle, values));
        for (int k = 0; k < count; ++k) sum += values[k];
        CHECK(sum == value_of(whole));
        OK(MPI_T_pvar_handle_free(session, &handle));
        OK(MPI_T_pvar_handle_free(session, &whole));
    }
}

static void wrong_use(void) {
    unsigned long long value = 0;
    int count;
    MPI_T_pvar_session other, null = MPI_T_PVAR_SESSION_NULL, stale_session;
    MPI_T_pvar_handle handle = open_counter("sent_messages"), stale = handle, nothing;
    MPI_T_pvar_handle level = open_pvar("unexpected_queue", MPI_T_PVAR_CLASS_LEVEL, NULL);
    OK(MPI_T_pvar_session_create(&other));
    CHECK(MPI_T_pvar_session_create(NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_session_free(&null) == MPI_T_ERR_INVALID_SESSION);
    /* A handle belongs to its session. */
    CHECK(MPI_T_pvar_read(other, handle, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_read(null, handle, &value) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_handle_free(other, &handle) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_read(session, MPI_T_PVAR_HANDLE_NULL, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_read(session, handle, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_write(session, handle, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_handle_alloc(session, -1, NULL, &nothing, &count) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_pvar_handle_alloc(session, 0, NULL, NULL, &count) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_handle_alloc(null, 0, NULL, &nothing, &count) == MPI_T_ERR_INVALID_SESSION);
    /* The variables run by themselves. */
    CHECK(MPI_T_pvar_start(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_stop(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK(MPI_T_pvar_start(null, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION);
    /* A level cannot be reset. */
    CHECK(MPI_T_pvar_reset(session, level) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_write(session, level, &value) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_readreset(session, level, &value) == MPI_T_ERR_PVAR_NO_ATOMIC);
    OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_handle_free(session, &level));
    OK(MPI_T_pvar_handle_free(session, &handle));
    CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
    CHECK(MPI_T_pvar_handle_free(session, &stale) == MPI_T_ERR_INVALID_HANDLE);
    stale_session = other;
    OK(MPI_T_pvar_session_free(&other));
    CHECK(other == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_pvar_session_free(&stale_session) == MPI_T_ERR_INVALID_SESSION);
}

/* Rank 0 sends nothing before rank 1 has looked at its counters. */
static void wait_for_receiver(void) {
    if (rank == 0)
        OK(MPI_Recv(NULL, 0, MPI_CHAR, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    else
        OK(MPI_Send(NULL, 0, MPI_CHAR, 0, 8, MPI_COMM_WORLD));
}

static void exchange(void) {
    static char data[MESSAGES][BYTES];
    wait_for_receiver();
    MPI_Request requests[MESSAGES];
    for (int i = 0; i < MESSAGES; ++i) {
        if (rank == 0)
            OK(MPI_Isend(data[i], BYTES, MPI_CHAR, 1, i, MPI_COMM_WORLD, &requests[i]));
        else
            OK(MPI_Irecv(data[i], BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD, &requests[i]));
    }
    OK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
}

/* Checks the traffic in the direction that each rank knows. */
static void traffic(void) {
    static char large[LARGE];
    const char* messages = rank == 0 ? "sent_messages" : "received_messages";
    const char* bytes = rank == 0 ? "sent_bytes" : "received_bytes";
    MPI_T_pvar_handle m = open_counter(messages), b = open_counter(bytes),
                      total = open_counter(messages);
    OK(MPI_T_pvar_reset(session, m));
    OK(MPI_T_pvar_reset(session, b));
    const unsigned long long before = value_of(total);
    CHECK(value_of(m) == 0 && value_of(b) == 0);
    exchange();
    CHECK(value_of(m) == MESSAGES && value_of(b) == MESSAGES * BYTES);
    CHECK(value_of(total) == before + MESSAGES); /* a handle of its own */
    wait_for_receiver();
    if (rank == 0) {
        OK(MPI_Send(large, LARGE, MPI_CHAR, 1, 3, MPI_COMM_WORLD));
        OK(MPI_Ssend(large, 40, MPI_CHAR, 1, 3, MPI_COMM_WORLD));
        OK(MPI_Send(large, 5000, MPI_CHAR, 1, 3, MPI_COMM_WORLD));
    } else {
        for (int i = 0; i < 3; ++i)
            OK(MPI_Recv(large, LARGE, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK(value_of(m) == MESSAGES + 3 && value_of(b) == MESSAGES * BYTES + LARGE + 40 + 5000);
    unsigned long long value = 1000;
    OK(MPI_T_pvar_write(session, m, &value));
    exchange();
    OK(MPI_T_pvar_readreset(session, m, &value));
    CHECK(value == 1000 + MESSAGES && value_of(m) == 0);
    exchange();
    OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK(value_of(m) == 0 && value_of(b) == 0 && value_of(total) == 0);
    wait_for_receiver();
    OK(MPI_T_pvar_session_free(&session)); /* frees its handles, too */
    OK(MPI_T_pvar_session_create(&session));
}

static void copies(void) {
    static char large[LARGE];
    MPI_T_pvar_handle single = open_counter("single_copy_bytes"),
                      pieces = open_counter("pipelined_bytes");
    const unsigned long long before = value_of(single) + value_of(pieces);
    if (rank == 0)
        OK(MPI_Send(large, LARGE, MPI_CHAR, 1, 4, MPI_COMM_WORLD));
    else
        OK(MPI_Recv(large, LARGE, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(value_of(single) + value_of(pieces) - before == (rank == 1 ? LARGE : 0));
}

/* Messages of one communicator are kept until they are received. */
static void unexpected(void) {
    char data[BYTES] = {0};
    MPI_Comm comm, nothing = MPI_COMM_NULL;
    MPI_T_pvar_handle handle;
    int count;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_T_pvar_handle here = open_pvar("comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &comm);
    MPI_T_pvar_handle bytes = open_pvar("comm_unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL, &comm);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle there = open_pvar("comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &world);
    MPI_T_pvar_handle kept = open_counter("unexpected_messages");
    MPI_T_pvar_handle queue = open_pvar("unexpected_queue", MPI_T_PVAR_CLASS_LEVEL, NULL);
    MPI_T_pvar_handle most =
        open_pvar("most_unexpected_queue", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
    const int index = pvar("comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL);
    CHECK(MPI_T_pvar_handle_alloc(session, index, &nothing, &handle, &count) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_T_ERR_INVALID);
    if (rank == 0) {
        for (int i = 0; i < 4; ++i) OK(MPI_Send(data, BYTES, MPI_CHAR, 1, 0, comm));
        OK(MPI_Ssend(data, 0, MPI_CHAR, 1, 1, comm));
    } else {
        MPI_Status status;
        OK(MPI_Probe(0, 1, comm, &status)); /* all the others have come */
        for (int flag = 0; !flag;) OK(MPI_Iprobe(0, 0, comm, &flag, &status));
        CHECK(value_of(here) == 5 && value_of(bytes) == 4 * BYTES && value_of(there) == 0);
        CHECK(value_of(queue) == 5 && value_of(most) >= 4 && value_of(kept) >= 5);
        for (int i = 0; i < 4; ++i)
            OK(MPI_Recv(data, BYTES, MPI_CHAR, 0, 0, comm, MPI_STATUS_IGNORE));
        CHECK(value_of(here) == 1 && value_of(bytes) == 0 && value_of(queue) == 1);
        OK(MPI_Recv(data, 0, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE));
        CHECK(value_of(here) == 0 && value_of(queue) == 0);
    }
    OK(MPI_Comm_free(&comm));
    CHECK(value_of(here) == 0); /* the object is gone */
}

static void posted(void) {
    char data[MESSAGES], other;
    MPI_Request requests[MESSAGES], any;
    MPI_T_pvar_handle now = open_pvar("posted_receives", MPI_T_PVAR_CLASS_LEVEL, NULL);
    MPI_T_pvar_handle most =
        open_pvar("most_posted_receives", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
    MPI_T_pvar_handle wild = open_pvar("any_tag_receives", MPI_T_PVAR_CLASS_LEVEL, NULL);
    const unsigned long long before = value_of(now);
    for (int i = 0; i < MESSAGES; ++i)
        OK(MPI_Irecv(&data[i], 1, MPI_CHAR, rank, 7, MPI_COMM_WORLD, &requests[i]));
    CHECK(value_of(now) == before + MESSAGES && value_of(most) >= MESSAGES);
    OK(MPI_Irecv(&other, 1, MPI_CHAR, rank, MPI_ANY_TAG, MPI_COMM_WORLD, &any));
    CHECK(value_of(wild) == 1 && value_of(now) == before + MESSAGES + 1);
    OK(MPI_Cancel(&any));
    OK(MPI_Wait(&any, MPI_STATUS_IGNORE));
    CHECK(value_of(wild) == 0);
    OK(MPI_Cancel(&requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI_T_pvar_handle self = open_counter("self_messages"), bytes = open_counter("self_bytes");
    OK(MPI_T_pvar_reset(session, self));
    OK(MPI_T_pvar_reset(session, bytes));
    for (int i = 1; i < MESSAGES; ++i) OK(MPI_Send(data, 1, MPI_CHAR, rank, 7, MPI_COMM_WORLD));
    OK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
    CHECK(value_of(now) == before && value_of(most) >= MESSAGES);
    CHECK(value_of(self) == MESSAGES - 1 && value_of(bytes) == MESSAGES - 1);
}

/* The search in one communicator is not counted for another. */
static void searches(void) {
    enum { MANY = 300 };
    static char data[MANY];
    static const char sent;
    static MPI_Request requests[MANY];
    MPI_Comm comms[2];
    MPI_T_pvar_handle times[2], steps[2], deepest[2], shallow[2], posted_in[2];
    for (int i = 0; i < 2; ++i) {
        OK(MPI_Comm_dup(MPI_COMM_SELF, &comms[i]));
        times[i] = open_pvar("comm_searches", MPI_T_PVAR_CLASS_COUNTER, &comms[i]);
        steps[i] = open_pvar("comm_search_steps", MPI_T_PVAR_CLASS_COUNTER, &comms[i]);
        shallow[i] = open_pvar("comm_searches_to_1", MPI_T_PVAR_CLASS_COUNTER, &comms[i]);
        deepest[i] = open_pvar("comm_deepest_search", MPI_T_PVAR_CLASS_HIGHWATERMARK, &comms[i]);
        posted_in[i] = open_pvar("comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL, &comms[i]);
        CHECK(value_of(times[i]) == 0 && value_of(posted_in[i]) == 0);
    }
    const unsigned long long all = value_of(open_counter("searches"));
    for (int tag = 0; tag < MANY; ++tag)
        OK(MPI_Irecv(&data[tag], 1, MPI_CHAR, 0, tag, comms[0], &requests[tag]));
    CHECK(value_of(posted_in[0]) == MANY && value_of(posted_in[1]) == 0);
    for (int tag = MANY; tag-- > 0;) OK(MPI_Send(&sent, 1, MPI_CHAR, 0, tag, comms[0]));
    OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    const unsigned long long found = value_of(times[0]);
    CHECK(found > 0 && found == value_of(open_counter("searches")) - all);
    CHECK(value_of(steps[0]) >= found && value_of(deepest[0]) >= 1 &&
          value_of(shallow[0]) <= found);
    CHECK(value_of(times[1]) == 0 && value_of(steps[1]) == 0 && value_of(deepest[1]) == 0);
    CHECK(value_of(posted_in[0]) == 0);
    OK(MPI_T_pvar_reset(session, times[0]));
    CHECK(value_of(times[0]) == 0);
    for (int i = 0; i < 2; ++i) OK(MPI_Comm_free(&comms[i]));
}

static void before_init(void) {
    MPI_T_pvar_handle handle;
    int provided, count;
    MPI_Comm world = MPI_COMM_WORLD;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_pvar_session_create(&session));
    descriptions();
    CHECK(value_of(open_counter("sent_messages")) == 0);
    CHECK(MPI_T_pvar_handle_alloc(session, pvar("comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL),
                                  &world, &handle, &count) == MPI_T_ERR_INVALID);
}

int main(void) {
    before_init();
    start(&rank, &size, MPI_THREAD_SINGLE);
    descriptions();
    wrong_use();
    posted();
    searches();
    if (size == 2) {
        traffic();
        copies();
        unexpected();
    }
    instances();
    MPI_T_pvar_handle sent = open_counter("self_messages");
    MPI_Finalize();
    CHECK(value_of(sent) >= MESSAGES - 1);
    OK(MPI_T_finalize());
    CHECK(MPI_T_pvar_session_create(&session) == MPI_T_ERR_NOT_INITIALIZED);
    return 0;
}
