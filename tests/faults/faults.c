/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.c HOW: rank 1 dies in that manner, and the others wait for it. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int zero;
static int rank;

void die_of_segv(void) { *(volatile int*)(8 + (size_t)zero) = 1; }
void die_of_fpe(void) { zero = 7 / zero; }
void die_of_call(void) { ((void (*)(void))(size_t)zero)(); }
int die_of_depth(int depth) {
    volatile char much[4096];
    much[depth % 4096] = (char)depth;
    return zero ? 0 : die_of_depth(depth + 1) + much[7];
}
void sit_in_sleep(void) { pause(); }

static void* in_a_thread(void* calls_mpi) {
    if (calls_mpi != NULL) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    die_of_segv();
    return NULL;
}
static void own_handler(int number) {
    (void)number;
    static const char text[] = "the program's own handler\n";
    if (write(2, text, sizeof text - 1) < 0) _exit(1);
    _exit(3);
}

static void die(const char* how) {
    pthread_t thread;
    if (strcmp(how, "segv") == 0) die_of_segv();
    if (strcmp(how, "fpe") == 0) die_of_fpe();
    if (strcmp(how, "call") == 0) die_of_call();
    if (strcmp(how, "depth") == 0) exit(die_of_depth(0));
    if (strcmp(how, "raise") == 0) raise(SIGBUS);
    if (strcmp(how, "locked") == 0) {
        /* Breaks what a walk might need: the heap, and a lock that this thread holds. */
        char* volatile piece = malloc(16);
        memset(piece - 16 + zero, 0xff, 64);
        die_of_segv();
    }
    if (strcmp(how, "own") == 0) {
        signal(SIGSEGV, own_handler);
        die_of_segv();
    }
    if (strcmp(how, "thread") == 0 || strcmp(how, "stranger") == 0) {
        pthread_create(&thread, NULL, in_a_thread, how[0] == 't' ? &thread : NULL);
        pthread_join(thread, NULL);
    }
    if (strcmp(how, "killed") == 0) {
        kill(getpid(), SIGSEGV);
        sit_in_sleep();
    }
}

int main(int argc, char** argv) {
    int level;
    (void)argc;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) die(argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
