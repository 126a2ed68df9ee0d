/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets of few bytes in memory of the program (MPI_Win_create). Several threads use each
   call that completes them, and the kernel refuses some. */
#include "check.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { places = 3000, most = 1500, threads = 3, rounds = 40 };

static unsigned char value_of(int rank, int round, size_t at) {
    return (unsigned char)(rank * 41 + round * 7 + (int)(at % 249) + 1);
}

/* The stripes of a rank: one at each other rank, and one of its own for each other rank. */
struct stripes {
    unsigned char* memory;
    size_t bytes;
    int rank, size;
    MPI_Win window;
};

static struct stripes make(int rank, int size, int flavor) {
    struct stripes made = {NULL, (size_t)places * (size_t)size, rank, size, MPI_WIN_NULL};
    made.memory = calloc(made.bytes, 1);
    if (flavor == MPI_WIN_FLAVOR_CREATE)
        OK(MPI_Win_create(made.memory, (MPI_Aint)made.bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                          &made.window));
    else
        OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &made.window));
    OK(MPI_Win_set_errhandler(made.window, MPI_ERRORS_RETURN));
    return made;
}

/* Returns the length of the next piece, some of which lie side by side, from `first` on. */
static size_t next_length(size_t i) { return i % 17 == 0 ? most : i % 5 * 8 + 1; }

static void put_all(const struct stripes* on, const unsigned char* from, int target,
                    MPI_Aint base) {
    for (size_t at = 0, i = 0; at < places; ++i) {
        const size_t bytes = next_length(i) < places - at ? next_length(i) : places - at;
        OK(MPI_Put(from + at, (int)bytes, MPI_BYTE, target, base + (MPI_Aint)at, (int)bytes,
                   MPI_BYTE, on->window));
        at += bytes;
    }
}

static void get_all(const struct stripes* on, unsigned char* to, int target, MPI_Aint base) {
    for (size_t at = places, i = 0; at > 0; ++i) {
        const size_t bytes = next_length(i) < at ? next_length(i) : at;
        at -= bytes;
        OK(MPI_Get(to + at, (int)bytes, MPI_BYTE, target, base + (MPI_Aint)at, (int)bytes, MPI_BYTE,
                   on->window));
    }
}

enum way {
    by_flush,
    by_flush_all,
    by_flush_local,
    by_unlock,
    by_unlock_all,
    by_fence,
    by_complete,
    by_request,
    ways
};

static void open_epoch(const struct stripes* on, enum way way, int target, int source) {
    switch (way) {
        case by_fence: OK(MPI_Win_fence(0, on->window)); break;
        case by_complete: {
            MPI_Group all, to, from;
            OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
            OK(MPI_Group_incl(all, 1, &target, &to));
            OK(MPI_Group_incl(all, 1, &source, &from));
            OK(MPI_Win_post(from, 0, on->window));
            OK(MPI_Win_start(to, 0, on->window));
            OK(MPI_Group_free(&all));
            OK(MPI_Group_free(&to));
            OK(MPI_Group_free(&from));
            break;
        }
        case by_unlock_all: OK(MPI_Win_lock_all(0, on->window)); break;
        default: OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, on->window));
    }
}

static void close_epoch(const struct stripes* on, enum way way, int target) {
    switch (way) {
        case by_fence: OK(MPI_Win_fence(0, on->window)); break;
        case by_complete:
            OK(MPI_Win_complete(on->window));
            OK(MPI_Win_wait(on->window));
            break;
        case by_unlock_all: OK(MPI_Win_unlock_all(on->window)); break;
        default: OK(MPI_Win_unlock(target, on->window));
    }
}

/* Data that is put is there when the epoch is over. Data that is got is there already after a
 * flush. */
static void each_way(struct stripes* on, MPI_Aint base_of_target) {
    const int target = (on->rank + 1) % on->size, source = (on->rank + on->size - 1) % on->size;
    unsigned char out[places], in[places];
    for (int round = 0; round < rounds; ++round) {
        const enum way way = (enum way)(round % ways);
        const MPI_Aint base = base_of_target + (MPI_Aint)on->rank * places;
        for (size_t at = 0; at < places; ++at) out[at] = value_of(on->rank, round, at);
        memset(in, 0, sizeof in);
        MPI_Barrier(MPI_COMM_WORLD);
        open_epoch(on, way, target, source);
        if (way == by_request) {
            MPI_Request request;
            OK(MPI_Rput(out, places, MPI_BYTE, target, base, places, MPI_BYTE, on->window,
                        &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            OK(MPI_Win_flush(target, on->window));
            for (size_t at = 0; at < places; at += 8) {
                OK(MPI_Rget(in + at, 8, MPI_BYTE, target, base + (MPI_Aint)at, 8, MPI_BYTE,
                            on->window, &request));
                OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
                CHECK(memcmp(in + at, out + at, 8) == 0);
            }
        } else {
            put_all(on, out, target, base);
        }
        if (way == by_flush || way == by_flush_local || way == by_flush_all) {
            OK(way == by_flush_all ? MPI_Win_flush_all(on->window)
                                   : MPI_Win_flush(target, on->window));
            get_all(on, in, target, base);
            if (way == by_flush_local)
                OK(MPI_Win_flush_local(target, on->window));
            else if (way == by_flush)
                OK(MPI_Win_flush(target, on->window));
            else
                OK(MPI_Win_flush_local_all(on->window));
            CHECK(memcmp(in, out, places) == 0);
        }
        close_epoch(on, way, target);
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, on->rank, 0, on->window));
        for (size_t at = 0; at < places; ++at)
            CHECK(on->memory[(size_t)source * places + at] == value_of(source, round, at));
        OK(MPI_Win_unlock(on->rank, on->window));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A thread with a third of the stripe, which puts, flushes and looks. */
struct worker {
    const struct stripes* on;
    int number;
};

static void* work(void* argument) {
    const struct worker* me = argument;
    const struct stripes* on = me->on;
    const int target = (on->rank + 1) % on->size;
    const size_t part = places / threads, first = part * (size_t)me->number;
    unsigned char out[places / threads], in[places / threads];
    for (int round = 0; round < rounds; ++round) {
        for (size_t at = 0; at < part; ++at) out[at] = value_of(on->rank + me->number, round, at);
        const MPI_Aint base = (MPI_Aint)((size_t)on->rank * places + first);
        for (size_t at = 0; at < part; at += 4)
            OK(MPI_Put(out + at, 4, MPI_BYTE, target, base + (MPI_Aint)at, 4, MPI_BYTE,
                       on->window));
        OK(MPI_Win_flush(target, on->window));
        for (size_t at = 0; at < part; at += 4)
            OK(MPI_Get(in + at, 4, MPI_BYTE, target, base + (MPI_Aint)at, 4, MPI_BYTE, on->window));
        OK(MPI_Win_flush(target, on->window));
        CHECK(memcmp(in, out, part) == 0);
    }
    return NULL;
}

static void by_threads(struct stripes* on) {
    pthread_t all[threads];
    struct worker workers[threads];
    OK(MPI_Win_lock_all(0, on->window));
    for (int i = 0; i < threads; ++i) {
        workers[i] = (struct worker){on, i};
        CHECK(pthread_create(&all[i], NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
    OK(MPI_Win_unlock_all(on->window));
}

/* The memory is gone: the caller that completes the put gets the error, and later calls work. */
static void refused(int rank, int size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char* memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    memset(memory, 0, 2 * page);
    MPI_Win window;
    OK(MPI_Win_create(memory, (MPI_Aint)(2 * page), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    OK(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
    CHECK(munmap(memory + page, page) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    const int target = (rank + 1) % size, one = 1, there = on_one_host(size);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window));
    if (there) {
        OK(MPI_Put(&one, 1, MPI_INT, target, 4 * rank, 1, MPI_INT, window));
        OK(MPI_Put(&one, 1, MPI_INT, target, (MPI_Aint)(page / 4) + 4 * rank, 1, MPI_INT, window));
        const int error = MPI_Win_flush(target, window);
        int class = MPI_SUCCESS, length = 0;
        OK(MPI_Error_class(error, &class));
        CHECK(class == MPI_ERR_RMA_RANGE);
        char text[MPI_MAX_ERROR_STRING];
        OK(MPI_Error_string(error, text, &length));
    }
    OK(MPI_Put(&one, 1, MPI_INT, target, 4 * rank, 1, MPI_INT, window));
    OK(MPI_Win_flush(target, window));
    OK(MPI_Win_unlock(target, window));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&window));
    CHECK(munmap(memory, page) == 0);
}

/* Windows of one kind take the places of windows of another kind, and find nothing left of them. */
static void one_after_the_other(int rank, int size) {
    const int target = (rank + 1) % size;
    for (int round = 0; round < 4; ++round) {
        unsigned char* base = NULL;
        MPI_Win window;
        if (round % 2 == 0)
            OK(MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window));
        else
            OK(MPI_Win_create(base = malloc((size_t)size), size, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                              &window));
        const unsigned char sent = value_of(rank, round, 0);
        unsigned char back = 0;
        OK(MPI_Win_lock_all(0, window));
        OK(MPI_Put(&sent, 1, MPI_BYTE, target, rank, 1, MPI_BYTE, window));
        OK(MPI_Win_flush(target, window));
        OK(MPI_Get(&back, 1, MPI_BYTE, target, rank, 1, MPI_BYTE, window));
        OK(MPI_Win_flush(target, window));
        CHECK(back == sent);
        OK(MPI_Win_unlock_all(window));
        OK(MPI_Win_free(&window));
        if (round % 2 != 0) free(base);
    }
}

/* Runs all tests. An argument says that targets are asked by messages: then the kernel refuses
 * nothing. */
int main(int argc, char** argv) {
    (void)argv;
    int rank = -1, size = -1;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    one_after_the_other(rank, size);
    struct stripes created = make(rank, size, MPI_WIN_FLAVOR_CREATE);
    each_way(&created, 0);
    by_threads(&created);
    OK(MPI_Win_free(&created.window));
    free(created.memory);

    struct stripes dynamic = make(rank, size, MPI_WIN_FLAVOR_DYNAMIC);
    OK(MPI_Win_attach(dynamic.window, dynamic.memory, (MPI_Aint)dynamic.bytes));
    MPI_Aint mine = 0, *bases = calloc((size_t)size, sizeof *bases);
    OK(MPI_Get_address(dynamic.memory, &mine));
    OK(MPI_Allgather(&mine, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD));
    each_way(&dynamic, bases[(rank + 1) % size]);
    OK(MPI_Win_detach(dynamic.window, dynamic.memory));
    OK(MPI_Win_free(&dynamic.window));
    free(dynamic.memory);
    free(bases);

    if (size > 1 && argc == 1) refused(rank, size);
    MPI_Finalize();
    return 0;
}
