// SPDX-License-Identifier: BSD-3-Clause
/* Large messages between two jobs: a process, and a child that runs this program, too.
 *   payloads exchange   messages of many lengths and layouts, cancelled ones, and those of several
 *                       threads.
 *   payloads hidden     the end of a payload cannot be read by others while it is sent.
 *   payloads computes   the receiver of a message is in no call of MPI until its sender has sent
 *                       it.
 *   payloads lost WAIT  a process of another job, which connects to this one, is killed. This one
 *                       waits for it in the middle of a message: WAIT is recv, irecv, ssend or
 *                       issend.
 *   payloads stop PORT  that other process.
 *
 * Says "fine" in the end. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

enum { most = 8 << 20, tag = 3, go_on = 4, threads = 4 };

static int errors = 0;

static void complain(const char* what, ...) {
    va_list more;
    va_start(more, what);
    vprintf(what, more);
    va_end(more);
    putchar('\n');
    fflush(stdout);
    ++errors;
}

/* One end: its peer, and its number of the two. */
struct end {
    MPI_Comm comm;
    int peer, me;
    const char* name;
};

static unsigned char byte_at(size_t at, int seed) {
    return (unsigned char)(at * 7 + at / 4096 * 13 + (size_t)seed);
}
static void fill(unsigned char* bytes, size_t count, int seed) {
    for (size_t i = 0; i < count; ++i) bytes[i] = byte_at(i, seed);
}
static void check(const unsigned char* bytes, size_t count, int seed, const char* what) {
    for (size_t i = 0; i < count; ++i)
        if (bytes[i] != byte_at(i, seed)) {
            complain("%s: byte %zu of %zu is %d", what, i, count, bytes[i]);
            return;
        }
}
static int class_of(int error) {
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    return class;
}
static unsigned char* memory(size_t bytes) {
    unsigned char* made = malloc(bytes);
    if (made == NULL) abort();
    return made;
}

/* --- exchange --- */

static const int lengths[] = {0,      1,      100,    4096,   32700,   32768,   40000, 65536,
                              131071, 131072, 131073, 300000, 1 << 20, 5000000, most};

static void one_way(struct end end, int sender, int length, size_t shift) {
    const size_t whole = (size_t)length + 200;
    unsigned char* bytes = memory(whole);
    const int seed = length % 251 + sender;
    if (end.me == sender) {
        fill(bytes + shift, (size_t)length, seed);
        MPI_Send(bytes + shift, length, MPI_BYTE, end.peer, tag, end.comm);
    } else {
        memset(bytes, 0xee, whole);
        MPI_Status status;
        int got = -1;
        MPI_Recv(bytes + shift / 2, length + 50, MPI_BYTE, end.peer, tag, end.comm, &status);
        MPI_Get_count(&status, MPI_BYTE, &got);
        if (got != length) complain("%s: %d bytes of %d", end.name, got, length);
        check(bytes + shift / 2, (size_t)length, seed, end.name);
        if (bytes[shift / 2 + (size_t)length] != 0xee) complain("%s: more was written", end.name);
    }
    free(bytes);
}

static void both_ways(struct end end, int length) {
    unsigned char *mine = memory(most), *others = memory(most);
    fill(mine, (size_t)length, end.me);
    MPI_Sendrecv(mine, length, MPI_BYTE, end.peer, tag, others, length, MPI_BYTE, end.peer, tag,
                 end.comm, MPI_STATUS_IGNORE);
    check(others, (size_t)length, 1 - end.me, "both ways");
    free(mine);
    free(others);
}

enum { blocks = 50000, in_block = 12, apart = 20 };

/* Moves `blocks` blocks with gaps from `bytes` into a row; with `spread` from the row into
 * `bytes`. */
static void move_blocks(unsigned char* row, unsigned char* bytes, int spread) {
    for (size_t i = 0; i < blocks; ++i) {
        if (spread)
            memcpy(bytes + i * apart, row + i * in_block, in_block);
        else
            memcpy(row + i * in_block, bytes + i * apart, in_block);
    }
}

static void layouts(struct end end, int sparse_send, int sparse_receive) {
    unsigned char *row = memory(blocks * in_block), *bytes = memory(blocks * apart);
    MPI_Datatype type;
    MPI_Type_vector(blocks, in_block, apart, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    if (end.me == 0) {
        fill(row, blocks * in_block, 9);
        move_blocks(row, bytes, 1);
        if (sparse_send)
            MPI_Send(bytes, 1, type, end.peer, tag, end.comm);
        else
            MPI_Send(row, blocks * in_block, MPI_BYTE, end.peer, tag, end.comm);
    } else {
        memset(bytes, 0xee, blocks * apart);
        if (sparse_receive) {
            MPI_Recv(bytes, 1, type, end.peer, tag, end.comm, MPI_STATUS_IGNORE);
            move_blocks(row, bytes, 0);
            if (bytes[in_block] != 0xee) complain("a gap was written");
        } else {
            MPI_Recv(row, blocks * in_block, MPI_BYTE, end.peer, tag, end.comm, MPI_STATUS_IGNORE);
        }
        check(row, blocks * in_block, 9, "layouts");
    }
    MPI_Type_free(&type);
    free(row);
    free(bytes);
}

static void too_short(struct end end, int length, int capacity) {
    unsigned char* bytes = memory(most);
    if (end.me == 0) {
        fill(bytes, (size_t)length, 5);
        MPI_Send(bytes, length, MPI_BYTE, end.peer, tag, end.comm);
    } else {
        memset(bytes, 0xee, most);
        const int error =
            MPI_Recv(bytes, capacity, MPI_BYTE, end.peer, tag, end.comm, MPI_STATUS_IGNORE);
        if (class_of(error) != MPI_ERR_TRUNCATE) complain("too short: error %d", error);
        check(bytes, (size_t)capacity, 5, "too short");
        if (bytes[capacity] != 0xee) complain("too short: more was written");
    }
    free(bytes);
}

static void unexpected(struct end end) {
    unsigned char* bytes = memory(most);
    if (end.me == 0) {
        fill(bytes, most, 6);
        MPI_Request request;
        MPI_Isend(bytes, most, MPI_BYTE, end.peer, tag, end.comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Message message;
        MPI_Mprobe(end.peer, tag, end.comm, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(bytes, most, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        check(bytes, most, 6, "unexpected");
    }
    free(bytes);
}

static void cancelled(struct end end) {
    if (end.me == 0) {
        unsigned char* bytes = memory(1 << 20);
        MPI_Request request;
        MPI_Status status;
        int taken_back = 0;
        MPI_Issend(bytes, 1 << 20, MPI_BYTE, end.peer, 77, end.comm, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &taken_back);
        if (!taken_back) complain("a send that nobody has received was not cancelled");
        free(bytes);
        MPI_Send(NULL, 0, MPI_BYTE, end.peer, go_on, end.comm);
    } else {
        int found = 1;
        MPI_Recv(NULL, 0, MPI_BYTE, end.peer, go_on, end.comm, MPI_STATUS_IGNORE);
        MPI_Iprobe(end.peer, 77, end.comm, &found, MPI_STATUS_IGNORE);
        if (found) complain("a cancelled message is there");
    }
}

struct thread {
    struct end end;
    int number;
};

static void* exchange_in_thread(void* argument) {
    const struct thread* const own = argument;
    for (int i = 0; i < 12; ++i) {
        const int length = 20000 + 150000 * ((i + own->number) % 5);
        unsigned char *mine = memory((size_t)length), *others = memory((size_t)length);
        fill(mine, (size_t)length, i + own->end.me);
        MPI_Sendrecv(mine, length, MPI_BYTE, own->end.peer, own->number, others, length, MPI_BYTE,
                     own->end.peer, own->number, own->end.comm, MPI_STATUS_IGNORE);
        check(others, (size_t)length, i + 1 - own->end.me, "threads");
        free(mine);
        free(others);
    }
    return NULL;
}

static void several_threads(struct end end) {
    pthread_t made[threads];
    struct thread each[threads];
    for (int i = 0; i < threads; ++i) {
        each[i] = (struct thread){end, i};
        pthread_create(&made[i], NULL, exchange_in_thread, &each[i]);
    }
    for (int i = 0; i < threads; ++i) pthread_join(made[i], NULL);
}

static void exchange(struct end end) {
    MPI_Comm_set_errhandler(end.comm, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i)
        for (int sender = 0; sender < 2; ++sender)
            for (size_t shift = 0; shift < 50; shift += 24) one_way(end, sender, lengths[i], shift);
    both_ways(end, 100000);
    both_ways(end, most);
    for (int how = 0; how < 4; ++how) layouts(end, how & 1, how & 2);
    too_short(end, 1 << 20, 100);
    too_short(end, 1 << 20, 700000);
    one_way(end, 0, 1 << 20, 0);
    unexpected(end);
    cancelled(end);
    several_threads(end);
}

/* Parts of collectives are sent from within the progress of others. */
static void collectives(MPI_Comm all) {
    enum { count = 300000 };
    int *mine = malloc(count * sizeof *mine), *sums = malloc(count * sizeof *sums), rank;
    MPI_Comm_rank(all, &rank);
    for (int i = 0; i < count; ++i) mine[i] = i + rank;
    for (int round = 0; round < 5; ++round) {
        MPI_Request request;
        MPI_Iallreduce(mine, sums, count, MPI_INT, MPI_SUM, all, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; ++i)
            if (sums[i] != 2 * i + 1) {
                complain("the sum at %d is %d", i, sums[i]);
                break;
            }
        MPI_Bcast(sums, count, MPI_INT, round % 2, all);
    }
    free(mine);
    free(sums);
}

static void exchange_in_all(MPI_Comm other, int is_child) {
    MPI_Comm all;
    MPI_Intercomm_merge(other, is_child, &all);
    exchange((struct end){other, 0, is_child, "two jobs"});
    exchange((struct end){all, 1 - is_child, is_child, "merged"});
    collectives(all);
    MPI_Comm_free(&all);
}

/* --- hidden --- */

enum { hidden = 2 << 20 };

/* Sends a payload whose end can be read only after a signal, SIGCONT, tells this process. */
static void send_hidden(MPI_Comm other) {
    unsigned char* bytes =
        mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fill(bytes, most, 8);
    mprotect(bytes + most - hidden, hidden, PROT_NONE);
    MPI_Request request;
    MPI_Isend(bytes, most, MPI_BYTE, 0, tag, other, &request);
    raise(SIGSTOP);
    mprotect(bytes + most - hidden, hidden, PROT_READ);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    munmap(bytes, most);
}

/* --- the process, and its child --- */

/* Returns whether the process is stopped. */
static int is_stopped(int process) {
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE* file = fopen(path, "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 0;
    fclose(file);
    return state == 'T';
}

static void wait_until_stopped(int process) {
    while (!is_stopped(process)) usleep(1000);
}

/* Receives the part of the child's payload that has come; the rest comes when it goes on. */
static void receive_hidden(MPI_Comm other, int child) {
    unsigned char* bytes = memory(most);
    wait_until_stopped(child);
    MPI_Request request;
    MPI_Irecv(bytes, most, MPI_BYTE, 0, tag, other, &request);
    for (int tests = 0, done = 0; tests < 1000; ++tests) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done) {
            complain("what cannot be read has come");
            break;
        }
    }
    kill(child, SIGCONT);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(bytes, most, 8, "hidden");
    free(bytes);
}

static void send_and_stop(MPI_Comm other) {
    unsigned char* bytes = memory(most);
    fill(bytes, most, 8);
    MPI_Ssend(bytes, most, MPI_BYTE, 0, tag, other);
    raise(SIGSTOP);
    free(bytes);
}

/* The child stops once its payload is here. This thread does nothing for it. */
static void receive_and_compute(MPI_Comm other, int child) {
    unsigned char* bytes = memory(most);
    MPI_Probe(0, tag, other, MPI_STATUS_IGNORE);
    MPI_Request request;
    MPI_Irecv(bytes, most, MPI_BYTE, 0, tag, other, &request);
    wait_until_stopped(child);
    kill(child, SIGCONT);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(bytes, most, 8, "computes");
    free(bytes);
}

static void* kill_when_stopped(void* argument) {
    const int child = *(const int*)argument;
    wait_until_stopped(child);
    kill(child, SIGKILL);
    return NULL;
}

static int wait_for(MPI_Request* request, int child) {
    wait_until_stopped(child);
    for (int tests = 0, done = 0; tests < 1000 && !done; ++tests)
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    kill(child, SIGKILL);
    return MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Waits in the middle of a message to the process, or from it, while it is killed. Returns the
 * error. */
static int lose(MPI_Comm other, int process, const char* how) {
    unsigned char* bytes = memory(most);
    MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
    int error = MPI_SUCCESS;
    if (how[0] == 'i') {
        MPI_Request request;
        if (strcmp(how, "irecv") == 0) {
            wait_until_stopped(process);  // the message has come
            MPI_Irecv(bytes, most, MPI_BYTE, 0, tag, other, &request);
        } else {
            MPI_Issend(bytes, most, MPI_BYTE, 0, tag, other, &request);
        }
        error = wait_for(&request, process);
    } else {
        pthread_t killer;
        pthread_create(&killer, NULL, kill_when_stopped, &process);
        if (strcmp(how, "recv") == 0)
            error = MPI_Recv(bytes, most, MPI_BYTE, 0, tag, other, MPI_STATUS_IGNORE);
        else
            error = MPI_Ssend(bytes, most, MPI_BYTE, 0, tag, other);
        pthread_join(killer, NULL);
    }
    free(bytes);
    return error;
}

static void with_child(char* argv[]) {
    MPI_Comm other;
    MPI_Comm_get_parent(&other);
    const int is_child = other != MPI_COMM_NULL;
    if (!is_child)
        MPI_Comm_spawn(argv[0], argv + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other,
                       MPI_ERRCODES_IGNORE);
    int child = getpid();
    if (is_child)
        MPI_Send(&child, 1, MPI_INT, 0, 0, other);
    else
        MPI_Recv(&child, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "exchange") == 0)
        exchange_in_all(other, is_child);
    else if (strcmp(argv[1], "computes") == 0)
        is_child ? send_and_stop(other) : receive_and_compute(other, child);
    else if (is_child)
        send_hidden(other);
    else
        receive_hidden(other, child);
    MPI_Comm_disconnect(&other);
    if (errors == 0 && !is_child) puts("fine");
}

/* Starts another job, which connects to this one and is killed. */
static void with_victim(char* argv[]) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    char port[MPI_MAX_PORT_NAME];
    MPI_Open_port(MPI_INFO_NULL, port);
    char* words[] = {argv[0], "stop", port, NULL};
    pid_t victim = 0;
    if (posix_spawn(&victim, argv[0], NULL, NULL, words, environ) != 0) abort();
    MPI_Comm other;
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    const int error = lose(other, victim, argv[2]);
    if (class_of(error) != MPI_ERR_PROC_ABORTED) complain("error %d", error);
    waitpid(victim, NULL, 0);
    MPI_Comm_disconnect(&other);
    MPI_Close_port(port);
    if (errors == 0) puts("fine");
}

static void stop(const char* port) {
    MPI_Comm other;
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    send_hidden(other);
}

int main(int argc, char* argv[]) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (strcmp(argv[1], "lost") == 0)
        with_victim(argv);
    else if (strcmp(argv[1], "stop") == 0)
        stop(argv[2]);
    else
        with_child(argv);
    MPI_Finalize();
    return errors != 0;
}
