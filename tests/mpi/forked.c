/* SPDX-License-Identifier: BSD-3-Clause */
/* Children that a rank forks are not ranks. They may end without harm, and their calls are
 * refused. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

static pid_t parent;

/* Finalizes as programs and bindings do. In children it does so without asking. */
static void at_exit(void) {
    int begun = 0, over = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    if (!begun) _exit(11);
    if (!over) MPI_Finalize();
    if (getpid() != parent && MPI_Finalize() != MPI_SUCCESS) _exit(12);
}

/* Returns the bytes that a child says on stderr and its exit code. */
static int child_of(void (*body)(void), char* said, size_t room) {
    int ends[2], status = 0;
    size_t length = 0;
    ssize_t more = 0;
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        body();
        _exit(0);
    }
    close(ends[1]);
    while ((more = read(ends[0], said + length, room - 1 - length)) > 0) length += (size_t)more;
    said[length] = '\0';
    close(ends[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void ends(void) { exit(0); }
static void ends_by_hand(void) { _exit(MPI_Finalize() == MPI_SUCCESS ? 0 : 13); }
static void sends(void) { MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD); }
static void asks_its_rank(void) { MPI_Comm_rank(MPI_COMM_WORLD, &rank); }
static void begins(void) { MPI_Init(NULL, NULL); }
static void aborts(void) { MPI_Abort(MPI_COMM_WORLD, 5); }
static void opens_a_session(void) {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
}
static void* sends_as_thread(void* nothing) {
    sends();
    return nothing;
}
static void sends_from_a_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, sends_as_thread, NULL);
    pthread_join(thread, NULL);
}
static void wants_errors(void) {
    _exit(MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD) == MPI_ERR_OTHER ? 0
                                                                                             : 14);
}

static void expect_refused(void (*body)(void), const char* call) {
    char said[4096];
    CHECK(child_of(body, said, sizeof said) == 1);
    CHECK(strstr(said, call) != NULL);
    CHECK(strstr(said, "forked from an MPI process") != NULL);
}

/* Messages still go around, in order, and no other has come. */
static void go_around(int tag) {
    int from = -1, flag = 1;
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, tag, &from, 1, MPI_INT,
                    (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(from == (rank + size - 1) % size);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
}

int main(void) {
    char said[4096];
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    parent = getpid();
    atexit(at_exit);
    go_around(1);
    CHECK(child_of(ends, said, sizeof said) == 0);
    CHECK(said[0] == '\0');
    CHECK(child_of(ends_by_hand, said, sizeof said) == 0);
    go_around(2);
    expect_refused(sends, "MPI_Send");
    expect_refused(asks_its_rank, "MPI_Comm_rank");
    expect_refused(begins, "MPI_Init");
    expect_refused(opens_a_session, "MPI_Session_init");
    expect_refused(sends_from_a_thread, "MPI_Send");
    expect_refused(aborts, "MPI_Abort");
    go_around(3);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(child_of(wants_errors, said, sizeof said) == 0);
    expect_refused(aborts, "MPI_Abort");
    go_around(4);
    MPI_Finalize();
    CHECK(child_of(ends, said, sizeof said) == 0);
    return 0;
}
