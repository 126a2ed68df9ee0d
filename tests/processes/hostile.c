// SPDX-License-Identifier: BSD-3-Clause
/* Wrong and awkward requests for new processes and connections. `hostile CASE ...` runs a case of
 * the table at the end. Each request has the error that it must have, and after it a spawn works.
 * `hostile fatal CALL ...` ends by the error of one call, so that its words are printed. Children
 * run this program, too. */
#include "../mpi/check.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
static char* own_program;

static int class_of(int error) {
    int class = MPI_SUCCESS;
    if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
    return class;
}

static int spawn(char* program, char* first, int processes, MPI_Comm* children) {
    char* arguments[] = {first, NULL};
    return MPI_Comm_spawn(program, arguments, processes, MPI_INFO_NULL, 0, MPI_COMM_SELF, children,
                          MPI_ERRCODES_IGNORE);
}

static void spawning_works(void) {
    MPI_Comm children;
    CHECK(spawn(own_program, "child", 2, &children) == MPI_SUCCESS);
    CHECK(MPI_Comm_disconnect(&children) == MPI_SUCCESS);
}

/* --- numbers --- */

static void expect_all_failed(int error, MPI_Comm children, const int codes[], int count) {
    CHECK(class_of(error) == MPI_ERR_SPAWN);
    CHECK(children == MPI_COMM_NULL);
    for (int i = 0; i < count; ++i) CHECK(codes[i] == MPI_ERR_SPAWN);
}

static void numbers(char* argv[]) {
    (void)argv;
    MPI_Comm children;
    static int codes[10000];
    int error = MPI_Comm_spawn(own_program, MPI_ARGV_NULL, 10000, MPI_INFO_NULL, 0, MPI_COMM_SELF,
                               &children, codes);
    expect_all_failed(error, children, codes, 10000);
    error = MPI_Comm_spawn(own_program, MPI_ARGV_NULL, 0, MPI_INFO_NULL, 0, MPI_COMM_SELF,
                           &children, codes);
    expect_all_failed(error, children, codes, 0);
    CHECK(class_of(spawn(own_program, "child", -1, &children)) == MPI_ERR_ARG);

    char* commands[] = {own_program, own_program};
    const int most[] = {INT_MAX, INT_MAX};
    const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    error = MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, most, infos, 0, MPI_COMM_SELF,
                                    &children, MPI_ERRCODES_IGNORE);
    expect_all_failed(error, children, codes, 0);
    spawning_works();
}

/* --- arguments and environment --- */

enum { many = 10000 };

/* Makes a word of its number, with lines, quotes and characters that shells interpret. */
static void write_word(char* word, size_t size, int number) {
    snprintf(word, size, "%d\n\"'$HOME\\ :\t%d", number, number);
}

static int count_words(char* argv[]) {
    int count = 0;
    char expected[64];
    for (; argv[count] != NULL; ++count) {
        write_word(expected, sizeof expected, count);
        if (strcmp(argv[count], expected) != 0) return -1;
    }
    return count;
}

static void words(char* argv[]) {
    (void)argv;
    static char texts[many][64];
    static char* arguments[many + 2] = {"count"};
    for (int i = 0; i < many; ++i) {
        write_word(texts[i], sizeof texts[i], i);
        arguments[i + 1] = texts[i];
    }
    MPI_Comm children;
    CHECK(MPI_Comm_spawn(own_program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                         MPI_ERRCODES_IGNORE) == MPI_SUCCESS);
    for (int child = 0; child < 2; ++child) {
        int count;
        MPI_Recv(&count, 1, MPI_INT, child, 0, children, MPI_STATUS_IGNORE);
        CHECK(count == many);
    }
    MPI_Comm_disconnect(&children);

    // The word is longer than the kernel takes.
    const size_t length = 1 << 20;
    char* word = malloc(length + 1);
    memset(word, 'w', length);
    word[length] = '\0';
    CHECK(class_of(spawn(own_program, word, 1, &children)) == MPI_ERR_SPAWN);
    free(word);
    spawning_works();
}

static void environment(char* argv[]) {
    (void)argv;
    char* odd[] = {"no equals sign",
                   "=nameless",
                   "",
                   "an odd name=1",
                   "lines\nin=a\nname",
                   "HEDDLE_PARENT=nonsense",
                   "PMI_RANK=7",
                   "PMI_FD=0",
                   "HEDDLE_NODE_FD=3:4",
                   "PMIX_NAMESPACE=x",
                   NULL};
    char** const before = environ;
    int count = 0;
    while (before[count] != NULL) ++count;
    char** const entries = calloc((size_t)count + sizeof odd / sizeof *odd, sizeof *entries);
    memcpy(entries, before, (size_t)count * sizeof *entries);
    memcpy(entries + count, odd, sizeof odd);
    environ = entries;
    spawning_works();
    environ = before;
    free(entries);
}

/* --- limits of the parent --- */

/* Limits a resource so that steps of a spawn fail one after the other: it works, or says why
 * not. */
static void limited(int resource, rlim_t least, int steps) {
    struct rlimit before;
    getrlimit(resource, &before);
    int failed = 0, worked = 0;
    for (int step = 0; step <= steps; ++step) {
        const struct rlimit few = {least + (rlim_t)step, before.rlim_max};
        setrlimit(resource, &few);
        MPI_Comm children;
        const int error = spawn(own_program, "child", 1, &children);
        if (error == MPI_SUCCESS) MPI_Comm_disconnect(&children);
        setrlimit(resource, &before);
        if (error != MPI_SUCCESS) CHECK(class_of(error) == MPI_ERR_SPAWN);
        ++*(error == MPI_SUCCESS ? &worked : &failed);
    }
    CHECK(failed > 0 && worked > 0);
    spawning_works();
}

static void descriptors(char* argv[]) {
    (void)argv;
    const int next = dup(0);
    close(next);
    spawning_works();  // after this, each descriptor that is opened once is open
    limited(RLIMIT_NOFILE, (rlim_t)next, 24);
}

/* --- handlers --- */

static int handled;

static void spawn_again(MPI_Comm* comm, int* error, ...) {
    (void)comm;
    CHECK(class_of(*error) == MPI_ERR_SPAWN);
    ++handled;
    spawning_works();
}

static void handler(char* argv[]) {
    (void)argv;
    MPI_Errhandler errhandler;
    MPI_Comm comm, children;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(spawn_again, &errhandler);
    MPI_Comm_set_errhandler(comm, errhandler);
    char* none[] = {NULL};
    for (int i = 0; i < 3; ++i)
        MPI_Comm_spawn("/no/such/program", none, 1, MPI_INFO_NULL, 0, comm, &children,
                       MPI_ERRCODES_IGNORE);
    CHECK(handled == 3);
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&comm);
}

static int spawn_at_end(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra, (void)value;
    spawning_works();
    puts("spawned in MPI_Finalize");
    return MPI_SUCCESS;
}

static void finalize(char* argv[]) {
    (void)argv;
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, spawn_at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

/* --- programs that are not children --- */

static void never(char* argv[]) {
    for (; *argv != NULL; ++argv) {
        MPI_Comm children;
        char* words_of_shell[] = {"-c", argv[0], NULL};
        int codes[2];
        const int error = MPI_Comm_spawn("sh", words_of_shell, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF,
                                         &children, codes);
        expect_all_failed(error, children, codes, 2);
    }
    spawning_works();
}

/* Spawns one after the other, until the program is killed. */
static void many_spawns(char* argv[]) {
    (void)argv;
    for (int i = 0;; ++i) {
        if (i == 1) {
            puts("spawning");
            fflush(stdout);
        }
        spawning_works();
    }
}

/* --- ports --- */

static int connect_to(const char* port) {
    MPI_Comm server;
    const int error = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &server);
    CHECK((error == MPI_SUCCESS) == (server != MPI_COMM_NULL));
    if (error == MPI_SUCCESS) MPI_Comm_disconnect(&server);
    return error;
}

/* Writes the port of a process of another job that ends, with its port closed or not. Returns the
 * process. */
static pid_t dying_port(char* how, char* port) {
    MPI_Comm child;
    int pid;
    CHECK(spawn(own_program, how, 1, &child) == MPI_SUCCESS);
    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, child, MPI_STATUS_IGNORE);
    MPI_Recv(&pid, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&child);
    return pid;
}

/* Does the same, and waits for the end of the process. */
static void dead_port(char* how, char* port) {
    const pid_t pid = dying_port(how, port);
    while (kill(pid, 0) == 0) usleep(1000);
    spawning_works();  // makes progress, so that the last words of the process are known
}

static void garbage(void) {
    char text[2 * MPI_MAX_PORT_NAME];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    char* others[] = {"",
                      " ",
                      "heddle",
                      "heddle:2:",
                      "heddle:2::",
                      "heddle:2:zz:1",
                      "heddle:2:00:1",
                      "heddle:2:00:1",
                      "tag#0$port#1$",
                      "\xff\xfe\n",
                      text};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        MPI_Comm client;
        CHECK(class_of(connect_to(others[i])) == MPI_ERR_PORT);
        CHECK(class_of(MPI_Comm_accept(others[i], MPI_INFO_NULL, 0, MPI_COMM_SELF, &client)) ==
              MPI_ERR_PORT);
        CHECK(client == MPI_COMM_NULL);
        CHECK(class_of(MPI_Close_port(others[i])) == MPI_ERR_PORT);
    }
    CHECK(class_of(connect_to(NULL)) == MPI_ERR_PORT);
}

/* Changes one character of the name of an open port, at each place: the name leads nowhere. */
static void almost(const char* port) {
    char wrong[MPI_MAX_PORT_NAME];
    for (size_t at = 0; at < strlen(port); ++at) {
        strcpy(wrong, port);
        wrong[at] = wrong[at] == '1' ? '2' : '1';
        const int error = connect_to(wrong);
        CHECK(class_of(error) == MPI_ERR_PORT);
    }
    strcpy(wrong, port);
    wrong[strlen(wrong) - 1] = '\0';
    CHECK(class_of(connect_to(wrong)) == MPI_ERR_PORT);
}

static void ports(char* argv[]) {
    (void)argv;
    char port[MPI_MAX_PORT_NAME];
    garbage();
    MPI_Open_port(MPI_INFO_NULL, port);
    CHECK(MPI_Close_port(port) == MPI_SUCCESS);
    CHECK(class_of(MPI_Close_port(port)) == MPI_ERR_PORT);
    CHECK(class_of(connect_to(port)) == MPI_ERR_PORT);

    for (int i = 0; i < 20; ++i) {
        const pid_t pid = dying_port("port", port);
        if (i % 2 != 0)  // this process has not yet read its last words
            while (kill(pid, 0) == 0) usleep(1000);
        CHECK(class_of(connect_to(port)) == MPI_ERR_PORT);
    }
    dead_port("port", port);
    CHECK(class_of(connect_to(port)) == MPI_ERR_PORT);
    dead_port("closed", port);
    CHECK(class_of(connect_to(port)) == MPI_ERR_PORT);

    MPI_Comm child, client;
    int pid;
    CHECK(spawn(own_program, "server", 1, &child) == MPI_SUCCESS);
    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, child, MPI_STATUS_IGNORE);
    MPI_Recv(&pid, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
    almost(port);
    CHECK(class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &client)) ==
          MPI_ERR_PORT);
    CHECK(connect_to(port) == MPI_SUCCESS);
    MPI_Comm_disconnect(&child);
    spawning_works();
}

/* --- processes that end without disconnecting --- */

/* Makes a communicator of three jobs: a process, its first child, and a child of both. */
static MPI_Comm of_three(MPI_Comm first, int is_first) {
    MPI_Comm two, second, three;
    MPI_Intercomm_merge(first, is_first, &two);
    char* arguments[] = {"later", NULL};
    MPI_Comm_spawn(own_program, arguments, 1, MPI_INFO_NULL, 0, two, &second, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(second, 0, &three);
    MPI_Comm_set_errhandler(three, MPI_ERRORS_RETURN);
    return three;
}

/* A rank that waits for such a process gets an error. One that waits for any of several does when
 * all have ended. */
static void leaving(char* argv[]) {
    (void)argv;
    MPI_Comm first;
    MPI_Request any;
    MPI_Status status;
    int word = 0, is_there = 1;
    CHECK(spawn(own_program, "first", 1, &first) == MPI_SUCCESS);
    const MPI_Comm three = of_three(first, 0);
    MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, three, &any);
    CHECK(class_of(MPI_Recv(&word, 1, MPI_INT, 1, 1, three, MPI_STATUS_IGNORE)) ==
          MPI_ERR_PROC_ABORTED);
    MPI_Test(&any, &is_there, &status);
    CHECK(!is_there);
    MPI_Send(&word, 1, MPI_INT, 2, 0, three);
    CHECK(MPI_Wait(&any, &status) == MPI_SUCCESS && status.MPI_SOURCE == 2);
    CHECK(class_of(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, first, &status)) ==
          MPI_ERR_PROC_ABORTED);
    CHECK(MPI_Comm_disconnect(&first) == MPI_SUCCESS);
    spawning_works();
}

/* The child disconnects alone. */
static void abandoning(char* argv[]) {
    (void)argv;
    MPI_Comm child;
    CHECK(spawn(own_program, "abandoned", 1, &child) == MPI_SUCCESS);
}

/* --- threads at one port --- */

enum { threads = 4, rounds = 10 };
static char shared_port[MPI_MAX_PORT_NAME];
static MPI_Comm comms[threads];

/* Accepts one client, so that no other thread can do without this one. */
static void* accept_one(void* comm) {
    MPI_Comm client;
    CHECK(MPI_Comm_accept(shared_port, MPI_INFO_NULL, 0, *(MPI_Comm*)comm, &client) == MPI_SUCCESS);
    MPI_Comm_disconnect(&client);
    return NULL;
}

/* Waits for clients, of which none comes any more. */
static void* accept_none(void* comm) {
    MPI_Comm client;
    const int error = MPI_Comm_accept(shared_port, MPI_INFO_NULL, 0, *(MPI_Comm*)comm, &client);
    CHECK(class_of(error) == MPI_ERR_PORT && client == MPI_COMM_NULL);
    return NULL;
}

static void start_all(pthread_t started[], void* (*function)(void*)) {
    for (int i = 0; i < threads; ++i) pthread_create(&started[i], NULL, function, &comms[i]);
}
static void join_all(const pthread_t started[]) {
    for (int i = 0; i < threads; ++i) pthread_join(started[i], NULL);
}

static void one_port(char* argv[]) {
    (void)argv;
    pthread_t started[threads];
    for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
    MPI_Open_port(MPI_INFO_NULL, shared_port);
    MPI_Comm children;
    char* arguments[] = {"clients", shared_port, NULL};
    CHECK(MPI_Comm_spawn(own_program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                         MPI_ERRCODES_IGNORE) == MPI_SUCCESS);
    for (int round = 0; round < rounds; ++round) {
        start_all(started, accept_one);
        usleep(round % 2 * 10000);  // threads that wait sleep meanwhile, in every second round
        for (int child = 0; child < 2; ++child) MPI_Send(NULL, 0, MPI_INT, child, 0, children);
        join_all(started);
    }
    MPI_Comm_disconnect(&children);
    start_all(started, accept_none);
    usleep(20000);  // some threads wait already, or all, or none
    MPI_Close_port(shared_port);
    join_all(started);
    for (int i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
}

static void be_client(const char* port) {
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    for (int i = 0; i < rounds; ++i) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
        for (int k = 0; k < threads / 2; ++k) CHECK(connect_to(port) == MPI_SUCCESS);
    }
}

/* --- errors that end the program --- */

static void fatal(char* argv[]) {
    MPI_Comm other = MPI_COMM_NULL;
    char* words_of_child[] = {"child", NULL};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    if (strcmp(argv[0], "spawn") == 0)
        MPI_Comm_spawn(argv[1], words_of_child, atoi(argv[2]), MPI_INFO_NULL, 0, MPI_COMM_SELF,
                       &other, MPI_ERRCODES_IGNORE);
    if (strcmp(argv[0], "connect") == 0) connect_to(argv[1]);
    if (strcmp(argv[0], "accept") == 0)
        MPI_Comm_accept(argv[1], MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    if (strcmp(argv[0], "close") == 0) MPI_Close_port(argv[1]);
    puts("no error");
    if (other != MPI_COMM_NULL) MPI_Comm_disconnect(&other);
}

/* --- */

static void be_child(MPI_Comm parent, char* argv[]) {
    const char* task = argv[1];
    char port[MPI_MAX_PORT_NAME] = "";
    if (strcmp(task, "count") == 0) {
        const int count = count_words(argv + 2);
        MPI_Send(&count, 1, MPI_INT, 0, 0, parent);
    }
    if (strcmp(task, "port") == 0 || strcmp(task, "closed") == 0 || strcmp(task, "server") == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        if (task[0] == 'c') MPI_Close_port(port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, parent);
        const int pid = getpid();
        MPI_Send(&pid, 1, MPI_INT, 0, 0, parent);
    }
    if (strcmp(task, "server") == 0) {
        MPI_Comm client;
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &client);
        MPI_Comm_disconnect(&client);
    }
    if (strcmp(task, "clients") == 0) be_client(argv[2]);
    if (strcmp(task, "first") == 0) {
        of_three(parent, 1);
        return;
    }
    if (strcmp(task, "later") == 0) {
        MPI_Comm three;
        int word;
        MPI_Intercomm_merge(parent, 1, &three);
        MPI_Recv(&word, 1, MPI_INT, 0, 0, three, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 0, 0, three);
        return;
    }
    MPI_Comm_disconnect(&parent);
    if (strcmp(task, "abandoned") == 0) puts("disconnected");
}

static const struct {
    const char* name;
    void (*run)(char* argv[]);
} cases[] = {{"numbers", numbers},
             {"words", words},
             {"environment", environment},
             {"descriptors", descriptors},
             {"handler", handler},
             {"finalize", finalize},
             {"never", never},
             {"ports", ports},
             {"leaving", leaving},
             {"abandoning", abandoning},
             {"one_port", one_port},
             {"fatal", fatal},
             {"many", many_spawns}};

int main(int argc, char* argv[]) {
    int given;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    own_program = argv[0];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        be_child(parent, argv);
    } else {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
            if (strcmp(cases[i].name, argv[1]) == 0) cases[i].run(argv + 2);
    }
    MPI_Finalize();
    return 0;
}
