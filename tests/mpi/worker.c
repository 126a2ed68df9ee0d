/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs run while the worker of the node carries their messages: worker CASE. Each case ends
 * with messages that move while both sides compute. Without a worker they would wait for ever, and
 * the test with them. */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { most = 3000000, skipped = 77 };

static int rank, size;
static unsigned char out[most], in[most];

static int threads_of_process(void) {
    int count = 0;
    DIR* tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (struct dirent* task; (task = readdir(tasks)) != NULL;) count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* Waits for a number of threads. A joined thread is listed for a moment longer. */
static void wait_for_threads(int count) {
    while (threads_of_process() != count) sched_yield();
}

/* Computes without a call of MPI, until the message is there. */
static void compute_until_here(int bytes, unsigned char mark) {
    volatile unsigned char* last = &in[bytes - 1];
    while (*last != mark) sched_yield();
}

/* Sends from each rank to the next, and computes. */
static void overlap(MPI_Comm comm, int bytes, unsigned char mark) {
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request requests[2];
    memset(in, 0, (size_t)bytes);
    memset(out, mark, (size_t)bytes);
    OK(MPI_Irecv(in, bytes, MPI_BYTE, before, 5, comm, &requests[0]));
    OK(MPI_Isend(out, bytes, MPI_BYTE, next, 5, comm, &requests[1]));
    compute_until_here(bytes, mark);
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < bytes; ++i) CHECK(in[i] == mark);
}

static void overlap_all(void) {
    const int sizes[] = {20000, 100000, 300000, most};
    for (unsigned char round = 1; round <= 3; ++round)
        for (int i = 0; i < 4; ++i) overlap(MPI_COMM_WORLD, sizes[i], round);
}

static void begin(int level) {
    start(&rank, &size, level);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* --- no thread can be created --- */

/* Forbids threads. Limits do not hold for root. */
static void forbid_threads(void) {
    const struct rlimit none = {0, 0};
    pthread_t thread;
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) exit(skipped);
    prctl(PR_SET_DUMPABLE, 1);
    if (setrlimit(RLIMIT_NPROC, &none) != 0) exit(skipped);
    if (pthread_create(&thread, NULL, (void* (*)(void*))(void*)abort, NULL) == 0) exit(skipped);
}

static void limit(void) {
    char said[1000] = "";
    FILE* errors = tmpfile();
    CHECK(errors != NULL);
    const int before = dup(STDERR_FILENO);
    forbid_threads();
    dup2(fileno(errors), STDERR_FILENO);
    MPI_Init(NULL, NULL);
    dup2(before, STDERR_FILENO);
    rewind(errors);
    CHECK(fread(said, 1, sizeof said - 1, errors) > 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char expected[100];
    snprintf(expected, sizeof expected, "rank %d has no worker (HEDDLE_WORKER)", rank);
    CHECK(strstr(said, expected) != NULL);
    CHECK(threads_of_process() == 1);
    for (int bytes = 1; bytes < most; bytes *= 9) {
        memset(out, rank + 1, (size_t)bytes);
        OK(MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, 0, in, bytes, MPI_BYTE,
                        (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(in[bytes - 1] == (rank + size - 1) % size + 1);
    }
}

/* --- there must be no worker --- */

static void without(void) {
    begin(MPI_THREAD_MULTIPLE);
    CHECK(threads_of_process() == 1);
}

/* --- children --- */

static void expect_child_to_end(void (*ends)(void), int code) {
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        ends();
        _exit(100);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == code);
}
static void ends_at_once(void) { _exit(3); }
static void ends(void) { exit(4); }
static void becomes_another(void) { execl("/bin/sh", "sh", "-c", "exit 5", (char*)NULL); }
static void has_one_thread(void) { _exit(threads_of_process() == 1 ? 6 : 1); }

static void forks(void) {
    begin(MPI_THREAD_MULTIPLE);
    for (unsigned char round = 1; round <= 8; ++round) {
        MPI_Request requests[2];
        memset(in, 0, most);
        memset(out, round, most);
        OK(MPI_Irecv(in, most, MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                     &requests[0]));
        OK(MPI_Isend(out, most, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]));
        expect_child_to_end(ends_at_once, 3);
        expect_child_to_end(ends, 4);
        expect_child_to_end(becomes_another, 5);
        expect_child_to_end(has_one_thread, 6);
        compute_until_here(most, round);
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < most; ++i) CHECK(in[i] == round);
    }
}

/* --- signals of the program --- */

static pthread_t program;
static atomic_int alarms, strange, told;

static void on_alarm(int signal) {
    (void)signal;
    ++alarms;
    if (!pthread_equal(pthread_self(), program)) ++strange;
}
static void on_told(int signal) {
    on_alarm(signal);
    ++told;
}

static void signals(void) {
    const struct itimerval each_millisecond = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action;
    sigset_t one, before;
    program = pthread_self();
    memset(&action, 0, sizeof action);
    action.sa_handler = on_told;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    action.sa_handler = on_alarm; /* without SA_RESTART */
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    begin(MPI_THREAD_MULTIPLE);
    CHECK(threads_of_process() == 2);
    CHECK(setitimer(ITIMER_REAL, &each_millisecond, NULL) == 0);
    for (int round = 0; round < 5 || alarms < 100; ++round) {
        /* The program blocks the signal just now. The worker must not take it either. */
        sigemptyset(&one);
        sigaddset(&one, SIGUSR1);
        CHECK(pthread_sigmask(SIG_BLOCK, &one, &before) == 0);
        CHECK(kill(getpid(), SIGUSR1) == 0);
        overlap(MPI_COMM_WORLD, 300000, (unsigned char)(1 + round % 100));
        CHECK(told == round);
        CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
        CHECK(told == round + 1);
        /* All ranks have had enough alarms, or none has. */
        const int mine = alarms;
        int fewest = mine;
        OK(MPI_Allreduce(&mine, &fewest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
        alarms = fewest;
    }
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK(strange == 0);
}

/* --- cores and scheduling of the program's threads --- */

static void one_core(void) {
    cpu_set_t allowed, one;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
        if (CPU_ISSET(core, &allowed)) CPU_SET(core, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    begin(MPI_THREAD_MULTIPLE);
    CHECK(threads_of_process() == 2);
}
static void scheduled(int policy, int priority) {
    const struct sched_param parameter = {.sched_priority = priority};
    if (sched_setscheduler(0, policy, &parameter) != 0) exit(errno == EPERM ? skipped : 1);
    begin(MPI_THREAD_MULTIPLE);
    CHECK(threads_of_process() == 2);
}
static void idle(void) { scheduled(SCHED_IDLE, 0); }
static void fifo(void) { scheduled(SCHED_FIFO, 1); }
static void single(void) { begin(MPI_THREAD_SINGLE); }

/* Returns the number of threads other than this one that may run on so many cores. */
static int threads_that_may_run_on(int cores) {
    int count = 0;
    cpu_set_t set;
    DIR* tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (struct dirent* task; (task = readdir(tasks)) != NULL;) {
        const int id = atoi(task->d_name);
        if (id == 0 || id == getpid()) continue;
        CHECK(sched_getaffinity(id, sizeof set, &set) == 0);
        count += CPU_COUNT(&set) == cores;
    }
    closedir(tasks);
    return count;
}

/* The program has not asked for a worker. Rank 0 has more cores than threads. It gets a worker with
 * its first large message, also if the sending thread is bound to one core. The others have one
 * core. */
static void spare(void) {
    cpu_set_t allowed, one;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    if (CPU_COUNT(&allowed) < 2) exit(skipped);
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &allowed)) {
            CPU_SET(core, &one);
            break;
        }
    if (strcmp(getenv("PMI_RANK"), "0") != 0) CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    begin(MPI_THREAD_MULTIPLE);
    CHECK(threads_of_process() == 1);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    for (unsigned char round = 1; round <= 3; ++round) {
        memset(in, 0, most);
        memset(out, round, most);
        if (rank == 0 && round == 1) {
            OK(MPI_Recv(in, most, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else if (rank == 0) {
            MPI_Request request;
            OK(MPI_Irecv(in, most, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &request));
            compute_until_here(most, round);
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else if (rank == 1) {
            OK(MPI_Send(out, most, MPI_BYTE, 0, 5, MPI_COMM_WORLD));
        }
        CHECK(rank != 0 || in[most / 2] == round);
    }
    CHECK(threads_of_process() == (rank == 0 ? 2 : 1));
    CHECK(threads_that_may_run_on(CPU_COUNT(&allowed)) == (rank == 0 ? 1 : 0));
}

/* --- a send without a receive for long --- */

/* Returns how often threads other than this one have gone to sleep. */
static long sleeps_of_others(void) {
    long sum = 0;
    DIR* tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (struct dirent* task; (task = readdir(tasks)) != NULL;) {
        char name[300], line[200];
        if (atoi(task->d_name) == 0 || atoi(task->d_name) == getpid()) continue;
        snprintf(name, sizeof name, "/proc/self/task/%s/status", task->d_name);
        FILE* status = fopen(name, "r");
        CHECK(status != NULL);
        while (fgets(line, sizeof line, status) != NULL) {
            long sleeps = 0;
            if (sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps) == 1) sum += sleeps;
        }
        fclose(status);
    }
    closedir(tasks);
    return sum;
}

static void compute_for(double seconds) {
    const double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end) sched_yield();
}

static volatile sig_atomic_t heard;
static void hear(int number) { heard = number; }
static void compute_until_heard(void) {
    while (!heard) sched_yield();
}

/* The sender's worker goes to sleep, and wakes when the receiver asks for the payload. */
static void unanswered(void) {
    int mine = getpid(), other = 0;
    MPI_Request send;
    signal(SIGUSR1, hear);
    begin(MPI_THREAD_MULTIPLE);
    OK(MPI_Sendrecv(&mine, 1, MPI_INT, 1 - rank, 6, &other, 1, MPI_INT, 1 - rank, 6, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    memset(out, 9, most);
    if (rank == 0) {
        OK(MPI_Isend(out, most, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &send));
        for (long before = -1, now; (now = sleeps_of_others()) != before; before = now)
            compute_for(0.2);
        CHECK(kill(other, SIGUSR1) == 0);
        compute_until_heard();
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    } else {
        compute_until_heard();
        OK(MPI_Recv(in, most, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(memcmp(in, out, most) == 0);
        CHECK(kill(other, SIGUSR1) == 0);
    }
}

/* Exchanges few bytes in each round: there are many ranks, and each has a worker. */
static void many(void) {
    begin(MPI_THREAD_MULTIPLE);
    for (unsigned char round = 1; round <= 3; ++round) overlap(MPI_COMM_WORLD, 60000, round);
    OK(MPI_Finalize());
}

/* --- the end --- */

static void sleep_for(double seconds) {
    const struct timespec time = {0, (long)(seconds * 1e9)};
    nanosleep(&time, NULL);
}

/* The worker has just copied, or still does, when MPI ends. Each session starts a worker. */
static void sessions(void) {
    for (int round = 0; round < 40; ++round) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
        OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        OK(MPI_Comm_create_from_group(group, "heddle://worker", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                      &comm));
        OK(MPI_Group_free(&group));
        OK(MPI_Comm_rank(comm, &rank));
        OK(MPI_Comm_size(comm, &size));
        OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        wait_for_threads(2);
        overlap(comm, round % 2 ? 300000 : most, (unsigned char)(round + 1));
        OK(MPI_Comm_free(&comm));
        OK(MPI_Session_finalize(&session));
        wait_for_threads(1);
    }
}

/* Sends without a receive are cancelled while both workers look at them. Others are freed, and
 * received while their sender is in MPI_Finalize. */
static void finalize(void) {
    static unsigned char unsent[most];
    begin(MPI_THREAD_MULTIPLE);
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int cancelled = 0;
    MPI_Status status;
    MPI_Request given_up, withdrawn[8];
    for (int i = 0; i < 8; ++i)
        OK(MPI_Isend(unsent, most, MPI_BYTE, next, 100 + i, MPI_COMM_WORLD, &withdrawn[i]));
    overlap(MPI_COMM_WORLD, 300000, 9);
    for (int i = 0; i < 8; ++i) {
        OK(MPI_Cancel(&withdrawn[i]));
        OK(MPI_Wait(&withdrawn[i], &status));
        OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK(cancelled);
    }
    memset(out, 11, most);
    if (next != 0) {
        OK(MPI_Isend(out, most, MPI_BYTE, next, 7, MPI_COMM_WORLD, &given_up));
        OK(MPI_Request_free(&given_up));
    }
    if (rank != 0) {
        sleep_for(0.01 * rank);
        memset(in, 0, most);
        OK(MPI_Recv(in, most, MPI_BYTE, before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < most; ++i) CHECK(in[i] == 11);
    }
    OK(MPI_Finalize());
}

static const struct {
    const char* name;
    void (*run)(void);
    int carries, ends;
} cases[] = {
    {"limit", limit, 0, 0},      {"without", without, 0, 0},       {"forks", forks, 1, 0},
    {"signals", signals, 1, 0},  {"one_core", one_core, 1, 0},     {"idle", idle, 1, 0},
    {"fifo", fifo, 1, 0},        {"single", single, 1, 0},         {"many", many, 0, 1},
    {"spare", spare, 0, 0},      {"unanswered", unanswered, 1, 0}, {"sessions", sessions, 0, 1},
    {"finalize", finalize, 0, 1}};

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (strcmp(argv[1], cases[i].name) != 0) continue;
        cases[i].run();
        if (cases[i].ends) return 0;
        if (cases[i].carries) overlap_all();
        return MPI_Finalize();
    }
    return 2;
}
