/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs programs that scripts.py has written. scripts FILE FIRST COUNT runs COUNT programs of the
 * file, in one job.
 *
 * A program is a line "program RANKS THREADS SESSION" and a line "RANK THREAD OPERATION..." for
 * each thread of each rank. scripts.py says what the operations are and decides which programs end.
 * Thread i sends to thread j of another rank on a communicator that only these pairs use. So
 * threads of a rank never compete for a message. */
#include <mpi.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A large message is longer than the memory that a sender may fill ahead of its receive (4 MiB). */
enum { most_threads = 2, most_operations = 64, most_line = 4096, large = 5 << 20 };
enum { groups_per_thread = 4 };

typedef struct {
    int rank, thread, number; /* number: place of the message among those of its sender */
    int large;
} Content;

typedef struct {
    char code;
    int peer, peer_thread, tag;
} Operation;

typedef struct {
    int number; /* number of the thread */
    Operation operations[most_operations];
    int count;
    MPI_Request requests[most_operations];
    Content* buffers[most_operations];
    int requested[most_operations]; /* 0, or for a receive its operation + 1 */
    int open;
    int calls[groups_per_thread]; /* collective calls so far, by group */
    int sent;
} Thread;

static int rank, size, threads, in_session;
static MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
static MPI_Comm pairs[most_threads][most_threads];
static MPI_Comm groups[most_threads][groups_per_thread];
static Thread own[most_threads];
static char* file_text;
static int program;

static void fail(const char* why, int a, int b) {
    fprintf(stderr, "scripts: program %d, rank %d: %s (%d, %d)\n", program, rank, why, a, b);
    MPI_Abort(world, 3);
    exit(3);
}

static Content* content_of(Thread* me, int is_large) {
    Content* content = calloc(1, is_large ? large : sizeof *content);
    *content = (Content){rank, me->number, me->sent++, is_large};
    return content;
}

static void check(const Thread* me, const Operation* at, const Content* got,
                  const MPI_Status* status) {
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    if (bytes != (got->large ? large : (int)sizeof *got)) fail("wrong length", bytes, got->large);
    if (got->rank != status->MPI_SOURCE) fail("wrong source", got->rank, status->MPI_SOURCE);
    if (got->thread != at->peer_thread) fail("wrong thread", got->thread, me->number);
    if (at->peer >= 0 && got->rank != at->peer) fail("another source", got->rank, at->peer);
    if (at->tag >= 0 && status->MPI_TAG != at->tag) fail("another tag", status->MPI_TAG, at->tag);
}

/* --- operations --- */

static void send(Thread* me, const Operation* at) {
    MPI_Comm comm = pairs[me->number][at->peer_thread];
    const int is_large = at->code == 'L';
    Content* content = content_of(me, is_large);
    const int bytes = is_large ? large : (int)sizeof *content;
    MPI_Request* request = &me->requests[me->open];
    switch (at->code) {
        case 's':
        case 'L': MPI_Send(content, bytes, MPI_BYTE, at->peer, at->tag, comm); break;
        case 'S': MPI_Ssend(content, bytes, MPI_BYTE, at->peer, at->tag, comm); break;
        case 'i': MPI_Isend(content, bytes, MPI_BYTE, at->peer, at->tag, comm, request); break;
        default: MPI_Issend(content, bytes, MPI_BYTE, at->peer, at->tag, comm, request); break;
    }
    if (at->code != 'i' && at->code != 'I') {
        free(content);
        return;
    }
    me->requested[me->open] = 0;
    me->buffers[me->open++] = content;
}

static int any_or(int value, int any) { return value < 0 ? any : value; }

static void receive(Thread* me, const Operation* at) {
    MPI_Comm comm = pairs[at->peer_thread][me->number];
    const int from = any_or(at->peer, MPI_ANY_SOURCE), tag = any_or(at->tag, MPI_ANY_TAG);
    Content* content = malloc(large);
    MPI_Status status;
    if (at->code == 'q') {
        MPI_Irecv(content, large, MPI_BYTE, from, tag, comm, &me->requests[me->open]);
        me->requested[me->open] = (int)(at - me->operations) + 1;
        me->buffers[me->open++] = content;
        return;
    }
    if (at->code == 'P') {
        MPI_Status found;
        MPI_Probe(from, tag, comm, &found);
        MPI_Recv(content, large, MPI_BYTE, found.MPI_SOURCE, found.MPI_TAG, comm, &status);
    } else if (at->code == 'M') {
        MPI_Message message;
        MPI_Mprobe(from, tag, comm, &message, &status);
        MPI_Mrecv(content, large, MPI_BYTE, &message, &status);
    } else {
        MPI_Recv(content, large, MPI_BYTE, from, tag, comm, &status);
    }
    check(me, at, content, &status);
    free(content);
}

static void probe(Thread* me, const Operation* at) {
    MPI_Probe(any_or(at->peer, MPI_ANY_SOURCE), any_or(at->tag, MPI_ANY_TAG),
              pairs[at->peer_thread][me->number], MPI_STATUS_IGNORE);
}

static void complete(Thread* me, int index, const MPI_Status* status) {
    if (me->requested[index] != 0)
        check(me, &me->operations[me->requested[index] - 1], me->buffers[index], status);
    free(me->buffers[index]);
    me->buffers[index] = NULL;
}

static void wait_any(Thread* me) {
    int index;
    MPI_Status status;
    MPI_Waitany(me->open, me->requests, &index, &status);
    if (index != MPI_UNDEFINED) complete(me, index, &status);
}

static void wait_all(Thread* me) {
    MPI_Status statuses[most_operations];
    MPI_Waitall(me->open, me->requests, statuses);
    for (int i = 0; i < me->open; ++i)
        if (me->buffers[i] != NULL) complete(me, i, &statuses[i]);
    me->open = 0;
}

/* Makes the next call of a group. scripts.py has the same list of calls. */
static void collective(Thread* me, int group) {
    MPI_Comm comm = groups[me->number][group];
    const int call = me->calls[group]++;
    int members, value = 1, sum = 0;
    if (comm == MPI_COMM_NULL) fail("no member", group, call);
    MPI_Comm_size(comm, &members);
    switch ((call + group) % 4) {
        case 0: MPI_Barrier(comm); return;
        case 1:
            MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
            if (sum != members) fail("wrong sum", sum, members);
            return;
        case 2:
            value = 0;
            MPI_Bcast(&value, 1, MPI_INT, call % members, comm);
            return;
        default:
            MPI_Ibarrier(comm, &me->requests[me->open]);
            me->requested[me->open] = 0;
            me->buffers[me->open++] = calloc(1, sizeof(Content));
    }
}

static void compute(int milliseconds) {
    const double end = MPI_Wtime() + milliseconds / 1e3;
    while (MPI_Wtime() < end) {}
}
static void rest(int milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    while (nanosleep(&time, &time) != 0) {}
}

static void run_operation(Thread* me, const Operation* at) {
    switch (at->code) {
        case 's':
        case 'S':
        case 'L':
        case 'i':
        case 'I': return send(me, at);
        case 'r':
        case 'q':
        case 'P':
        case 'M': return receive(me, at);
        case 'p': return probe(me, at);
        case 'a': return wait_any(me);
        case 'w': return wait_all(me);
        case 'c': return collective(me, at->peer);
        case 'l': return compute(at->peer);
        case 'z': return rest(at->peer);
        case 'f':
            for (;;) compute(1000);
        default: fail("no such operation", at->code, 0);
    }
}

/* Runs a thread. All threads but the first end with a message to the first, which waits for it in
 * MPI. */
static void* run_thread(void* which) {
    Thread* me = which;
    for (int i = 0; i < me->count; ++i) run_operation(me, &me->operations[i]);
    if (me->number != 0) MPI_Send(&me->number, 1, MPI_INT, 0, me->number, self);
    return NULL;
}

static void run_program(void) {
    pthread_t others[most_threads];
    for (int i = 1; i < threads; ++i) {
        pthread_create(&others[i], NULL, run_thread, &own[i]);
        pthread_detach(others[i]);
    }
    run_thread(&own[0]);
    for (int i = 1; i < threads; ++i)
        MPI_Recv(&own[i].number, 1, MPI_INT, 0, i, self, MPI_STATUS_IGNORE);
}

/* --- scripts --- */

static char* text_of(const char* path) {
    FILE* file = fopen(path, "r");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    const long bytes = ftell(file);
    rewind(file);
    char* text = calloc(1, (size_t)bytes + 1);
    if (fread(text, 1, (size_t)bytes, file) != (size_t)bytes) text[0] = '\0';
    fclose(file);
    return text;
}

/* Returns the line of program `number`, counted from 0. */
static char* find_program(int number) {
    char* at = file_text;
    while ((at = strstr(at, "program ")) != NULL && number-- > 0) ++at;
    return at;
}

static void read_thread(Thread* me, const char* line) {
    const char* end = strchr(line, '\n');
    for (const char* at = strchr(line, ' '); at != NULL && at < end; at = strchr(at + 1, ' ')) {
        Operation* operation = &me->operations[me->count];
        *operation = (Operation){0, 0, 0, 0};
        if (sscanf(at + 1, "%c:%d:%d:%d", &operation->code, &operation->peer,
                   &operation->peer_thread, &operation->tag) > 0 &&
            (operation->code < '0' || operation->code > '9'))
            ++me->count;
    }
}

static void read_program(const char* line) {
    int number, thread;
    for (int i = 0; i < most_threads; ++i) own[i] = (Thread){.number = i};
    while ((line = strchr(line, '\n')) != NULL && sscanf(++line, "%d %d", &number, &thread) == 2)
        if (number == rank) read_thread(&own[thread], line);
}

/* --- communicators --- */

/* Returns the color in a group. Group 0 has all ranks, 1 the lower or upper half, 2 the even or odd
 * ones. Group 3 has all but the last rank, which is alone. */
static int color_of(int group) {
    const int colors[groups_per_thread] = {0, rank >= size / 2, rank % 2, rank == size - 1};
    return colors[group];
}

static void make_communicators(void) {
    for (int i = 0; i < threads; ++i) {
        for (int j = 0; j < threads; ++j) MPI_Comm_dup(world, &pairs[i][j]);
        for (int k = 0; k < groups_per_thread; ++k)
            MPI_Comm_split(world, color_of(k), rank, &groups[i][k]);
    }
}

static void free_communicators(void) {
    for (int i = 0; i < threads; ++i) {
        for (int j = 0; j < threads; ++j) MPI_Comm_free(&pairs[i][j]);
        for (int k = 0; k < groups_per_thread; ++k) MPI_Comm_free(&groups[i][k]);
    }
}

static MPI_Session session;

static MPI_Comm communicator_of(const char* set) {
    MPI_Comm comm;
    MPI_Group group;
    MPI_Group_from_session_pset(session, set, &group);
    MPI_Comm_create_from_group(group, set, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

static void begin(void) {
    int provided;
    if (!in_session) {
        MPI_Init_thread(NULL, NULL, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                        &provided);
    } else {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "thread_level",
                     threads > 1 ? "MPI_THREAD_MULTIPLE" : "MPI_THREAD_SINGLE");
        MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Info_free(&info);
        world = communicator_of("mpi://WORLD");
        self = communicator_of("mpi://SELF");
    }
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    make_communicators();
}

/* Ends the program. In a session a rank ends without the others. */
static void end(void) {
    free_communicators();
    if (!in_session) {
        MPI_Finalize();
        return;
    }
    MPI_Comm_free(&self);
    MPI_Comm_free(&world);
    MPI_Session_finalize(&session);
}

int main(int argc, char** argv) {
    if (argc != 4 || (file_text = text_of(argv[1])) == NULL) {
        fprintf(stderr, "scripts FILE FIRST COUNT\n");
        return 2;
    }
    const int first = atoi(argv[2]), count = atoi(argv[3]);
    int ranks;
    char* line = find_program(first);
    if (line == NULL || sscanf(line, "program %d %d %d", &ranks, &threads, &in_session) != 3)
        return 2;
    begin();
    if (size != ranks) fail("wrong number of ranks", size, ranks);
    for (program = first; program < first + count; ++program) {
        if (program != first) MPI_Barrier(world);
        read_program(find_program(program));
        run_program();
    }
    end();
    return 0;
}
