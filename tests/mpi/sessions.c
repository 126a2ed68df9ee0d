/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions (MPI 5.0, 11.3) before, during, after and without the world model, by several
 * threads. */
#include <pthread.h>

#include "check.h"

static int rank, size; /* of mpi://WORLD */

#define EXPECT(condition)                                                               \
    do {                                                                                \
        if (!(condition)) {                                                             \
            fprintf(stderr, "rank %d, %s:%d: not true: %s\n", rank, __FILE__, __LINE__, \
                    #condition);                                                        \
            abort();                                                                    \
        }                                                                               \
    } while (0)
#define DOES(call) EXPECT((call) == MPI_SUCCESS)

static MPI_Session open_session(void) {
    MPI_Session session = MPI_SESSION_NULL;
    DOES(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    EXPECT(session != MPI_SESSION_NULL);
    return session;
}

static void ring(MPI_Comm comm, int what) {
    int me, n, got = -1;
    DOES(MPI_Comm_rank(comm, &me));
    DOES(MPI_Comm_size(comm, &n));
    DOES(MPI_Sendrecv(&what, 1, MPI_INT, (me + 1) % n, 0, &got, 1, MPI_INT, (me + n - 1) % n, 0,
                      comm, MPI_STATUS_IGNORE));
    EXPECT(got == what);
}

static MPI_Comm everybody(MPI_Session session, const char* tag) {
    MPI_Group group;
    MPI_Comm comm;
    DOES(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    DOES(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    DOES(MPI_Group_free(&group));
    DOES(MPI_Comm_rank(comm, &rank));
    DOES(MPI_Comm_size(comm, &size));
    return comm;
}

static void use(MPI_Session session, const char* tag) {
    MPI_Comm comm = everybody(session, tag), copy;
    ring(comm, 17);
    DOES(MPI_Comm_dup(comm, &copy));
    ring(copy, 18);
    DOES(MPI_Comm_free(&copy));
    DOES(MPI_Comm_free(&comm));
}

/* The library compares names of process sets without regard to case. */
static void any_case(MPI_Session session) {
    MPI_Group group;
    MPI_Info info;
    int members;
    DOES(MPI_Group_from_session_pset(session, "MPI://world", &group));
    DOES(MPI_Group_size(group, &members));
    EXPECT(members == size);
    DOES(MPI_Group_free(&group));
    DOES(MPI_Group_from_session_pset(session, "mpi://self", &group));
    DOES(MPI_Group_size(group, &members));
    EXPECT(members == 1);
    DOES(MPI_Group_free(&group));
    DOES(MPI_Session_get_pset_info(session, "mpi://World", &info));
    DOES(MPI_Info_free(&info));
    EXPECT(MPI_Group_from_session_pset(session, "mpi://worl", &group) == MPI_ERR_ARG);
}

static void process_sets(MPI_Session session) {
    int count, length = 0, found = 0;
    char name[MPI_MAX_PSET_NAME_LEN];
    DOES(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    EXPECT(count >= 2);
    for (int i = 0; i < count; ++i) {
        length = 0;
        DOES(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
        EXPECT(length > 1);
        const int needed = length;
        length = 5; /* the name is cut */
        DOES(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
        EXPECT(length == needed && strlen(name) == 4);
        DOES(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
        EXPECT((int)strlen(name) == needed - 1);
        MPI_Info info;
        char value[16];
        int flag, room = sizeof value, n;
        DOES(MPI_Session_get_pset_info(session, name, &info));
        DOES(MPI_Info_get_string(info, "mpi_size", &room, value, &flag));
        EXPECT(flag);
        DOES(MPI_Info_free(&info));
        MPI_Group group;
        DOES(MPI_Group_from_session_pset(session, name, &group));
        DOES(MPI_Group_size(group, &n));
        EXPECT(atoi(value) == n);
        DOES(MPI_Group_free(&group));
        found += strcmp(name, "mpi://WORLD") == 0 || strcmp(name, "mpi://SELF") == 0;
    }
    EXPECT(found == 2);
}

static void thread_level(void) {
    MPI_Session session;
    MPI_Info info;
    char value[32];
    int flag, room = sizeof value;
    DOES(MPI_Info_create(&info));
    DOES(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    DOES(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    DOES(MPI_Info_free(&info));
    DOES(MPI_Session_get_info(session, &info));
    DOES(MPI_Info_get_string(info, "thread_level", &room, value, &flag));
    EXPECT(flag && strcmp(value, "MPI_THREAD_MULTIPLE") == 0);
    DOES(MPI_Info_free(&info));
    DOES(MPI_Session_finalize(&session));
    EXPECT(session == MPI_SESSION_NULL);
}

static int calls, last_code;
static MPI_Session last_session;
static void note(MPI_Session* session, int* code, ...) {
    ++calls;
    last_session = *session;
    last_code = *code;
}
static void note_of_communicators(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }

static void error_handlers(void) {
    MPI_Errhandler handler, got;
    MPI_Session session;
    MPI_Group group;
    int number;
    DOES(MPI_Session_create_errhandler(note, &handler)); /* before there is any session */
    DOES(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    DOES(MPI_Errhandler_free(&handler)); /* the handler stays in force */
    EXPECT(MPI_Group_from_session_pset(session, "mpi://NOBODY", &group) == MPI_ERR_ARG);
    EXPECT(calls == 1 && last_session == session && last_code == MPI_ERR_ARG);
    EXPECT(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL) == MPI_ERR_ARG);
    EXPECT(calls == 2);
    DOES(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    EXPECT(calls == 3 && last_code == MPI_ERR_OTHER);
    DOES(MPI_Session_get_errhandler(session, &got));
    DOES(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
    DOES(MPI_Errhandler_free(&got));
    EXPECT(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, &number, NULL) == MPI_ERR_ARG);
    number = -1;
    EXPECT(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &number, NULL) == MPI_ERR_ARG);
    number = 5;
    EXPECT(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &number, NULL) == MPI_ERR_ARG);
    EXPECT(MPI_Session_get_pset_info(session, NULL, NULL) == MPI_ERR_ARG);
    EXPECT(MPI_Group_from_session_pset(session, NULL, &group) == MPI_ERR_ARG);
    /* A handler is for one kind of object. */
    DOES(MPI_Comm_create_errhandler(note_of_communicators, &handler));
    EXPECT(MPI_Session_set_errhandler(session, handler) == MPI_ERR_ERRHANDLER);
    DOES(MPI_Errhandler_free(&handler));
    EXPECT(calls == 3);
    EXPECT(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL) == MPI_ERR_ARG);
    MPI_Session other;
    EXPECT(MPI_Session_init((MPI_Info)&other, MPI_ERRORS_RETURN, &other) == MPI_ERR_INFO);
    DOES(MPI_Session_finalize(&session));
}

/* An error of a call without a communicator yet goes to the handler that the communicator would
 * have. */
static void errors_without_communicator(MPI_Session session) {
    MPI_Group group;
    MPI_Comm comm;
    DOES(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    EXPECT(MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                      &comm) == MPI_ERR_GROUP);
    EXPECT(MPI_Comm_create_from_group(group, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
           MPI_ERR_ARG);
    EXPECT(MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL) ==
           MPI_ERR_ARG);
    EXPECT(MPI_Intercomm_create_from_groups(group, 0, group, 0, "x", MPI_INFO_NULL,
                                            MPI_ERRORS_RETURN, &comm) == MPI_ERR_GROUP);
    EXPECT(MPI_Intercomm_create_from_groups(group, 0, group, 5, "x", MPI_INFO_NULL,
                                            MPI_ERRORS_RETURN, &comm) == MPI_ERR_RANK);
    DOES(MPI_Group_free(&group));
}

/* Buffered sends take the session's buffer, if the communicator has none. */
static void buffers(MPI_Session session) {
    char memory[4096], *address = NULL;
    int length = 0, out = 5, in = -1;
    MPI_Request request;
    MPI_Comm comm = everybody(session, "buffers"), copy;
    DOES(MPI_Comm_dup(comm, &copy)); /* the copy belongs to the session, too */
    EXPECT(MPI_Bsend(&out, 1, MPI_INT, rank, 0, copy) == MPI_ERR_BUFFER);
    DOES(MPI_Session_attach_buffer(session, memory, sizeof memory));
    EXPECT(MPI_Session_attach_buffer(session, memory, sizeof memory) == MPI_ERR_BUFFER);
    DOES(MPI_Bsend(&out, 1, MPI_INT, (rank + 1) % size, 0, copy));
    DOES(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, copy, MPI_STATUS_IGNORE));
    EXPECT(in == 5);
    DOES(MPI_Session_flush_buffer(session));
    DOES(MPI_Session_iflush_buffer(session, &request));
    DOES(MPI_Wait(&request, MPI_STATUS_IGNORE));
    DOES(MPI_Session_detach_buffer(session, &address, &length));
    EXPECT(address == memory && length == (int)sizeof memory);
    EXPECT(MPI_Session_detach_buffer(session, &address, &length) == MPI_ERR_BUFFER);
    DOES(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
    DOES(MPI_Bsend(&out, 1, MPI_INT, (rank + 1) % size, 1, comm));
    DOES(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE));
    DOES(MPI_Session_detach_buffer(session, &address, &length));
    EXPECT((void*)address == MPI_BUFFER_AUTOMATIC);
    DOES(MPI_Comm_free(&copy));
    DOES(MPI_Comm_free(&comm));
}

static void* in_thread(void* argument) {
    char tag[32];
    snprintf(tag, sizeof tag, "thread %d", (int)(long)argument);
    for (int i = 0; i < 10; ++i) {
        MPI_Session session = open_session();
        use(session, tag);
        DOES(MPI_Session_finalize(&session));
    }
    return NULL;
}

static int is(int (*asked)(int*)) {
    int flag = -1;
    DOES(asked(&flag));
    return flag;
}

int main(void) {
    pthread_t threads[3];
    EXPECT(!is(MPI_Initialized));
    MPI_Session first = open_session(), second = open_session();
    EXPECT(!is(MPI_Initialized) && !is(MPI_Finalized));
    use(first, "first");
    use(second, "second");
    process_sets(second);
    any_case(second);
    DOES(MPI_Session_finalize(&first));
    use(second, "second again");
    buffers(second);
    error_handlers();
    errors_without_communicator(second);
    thread_level();
    DOES(MPI_Session_finalize(&second)); /* no session is open now */
    for (long i = 0; i < 3; ++i)
        EXPECT(pthread_create(&threads[i], NULL, in_thread, (void*)i) == 0);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);

    MPI_Init(NULL, NULL);
    EXPECT(is(MPI_Initialized) && !is(MPI_Finalized));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    first = open_session();
    use(first, "during");
    EXPECT(MPI_Session_finalize(&second) == MPI_ERR_SESSION); /* MPI_SESSION_NULL */
    second = (MPI_Session)&threads;
    EXPECT(MPI_Session_finalize(&second) == MPI_ERR_SESSION);
    EXPECT(MPI_Session_finalize(NULL) == MPI_ERR_ARG);
    EXPECT(MPI_Session_fromint(MPI_Session_toint(first)) == first);
    ring(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    EXPECT(is(MPI_Initialized) && is(MPI_Finalized));
    use(first, "after");
    DOES(MPI_Session_finalize(&first));
    second = open_session();
    use(second, "last");
    DOES(MPI_Session_finalize(&second));
    return 0;
}
