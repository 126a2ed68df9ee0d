/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks that talk and sleep in between leave the cores of other processes alone. Their sleeps
   pass no fence of the node, which would interrupt every core that runs a process with heavy
   fences. A filter hands these fences to this program, which counts them and passes them on. Exit
   code 77: filters are forbidden here.

   undisturbed [MESSAGES]: messages in each direction between two sleeps, one unless given. */
#define _GNU_SOURCE
#include "../mpi/check.h"
#include "../mpi/counter.h"

#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <time.h>
#include <unistd.h>

enum {
    rounds = 10,
    enough_sleeps = 20,
    most_turns = 5,    /* other processes on the cores may disturb some */
    passed_on = 0x4865 /* third argument, which the kernel ignores */
};

static atomic_int fences;

/* Counts a fence and passes it on. Sets the register that holds the result of the call to 0. */
static void count_fence(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)info;
    atomic_fetch_add(&fences, 1);
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, passed_on) != 0) _exit(3);
#if defined(__x86_64__)
    ((ucontext_t*)context)->uc_mcontext.gregs[REG_RAX] = 0;
#elif defined(__aarch64__)
    ((ucontext_t*)context)->uc_mcontext.regs[0] = 0;
#endif
}

static int trap_fences_of_the_node(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, passed_on, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = count_fence;
    sigaction(SIGSYS, &action, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/* The other rank waits for so long, in the end for longer than it spins or offers its core. */
static long computing = 1000000;

static void compute(void) {
    const struct timespec time = {0, computing};
    nanosleep(&time, NULL);
}

static int messages = 1;

/* Exchanges the messages after the first one in each direction, without a pause. */
static void go_on_talking(int rank, int number) {
    for (int k = 1; k < messages; ++k) {
        int got = -1;
        if (rank == 0) OK(MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
        OK(MPI_Recv(&got, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (rank == 1) OK(MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
        CHECK(got == number);
    }
}

static void talk(int rank) {
    int number = -1;
    for (int i = 0; i < rounds; ++i) {
        if (rank == 0) {
            compute();
            OK(MPI_Send(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
            OK(MPI_Recv(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            compute();
            OK(MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
        }
        CHECK(number == i);
        go_on_talking(rank, i);
    }
}

/* Exchanges until there were enough sleeps. Returns whether there were many fences for them. */
static int passes_fences(int rank, MPI_Comm pair, int says_so) {
    const int sleeps_before = (int)counter("sleeps"), fences_before = atomic_load(&fences);
    for (int sleeps = 0; sleeps < enough_sleeps;) {
        const int before = (int)counter("sleeps");
        talk(rank);
        sleeps = (int)counter("sleeps") - sleeps_before;
        int few = sleeps - before + sleeps_before < rounds / 2;
        OK(MPI_Allreduce(MPI_IN_PLACE, &few, 1, MPI_INT, MPI_MAX, pair));
        OK(MPI_Allreduce(MPI_IN_PLACE, &sleeps, 1, MPI_INT, MPI_MIN, pair));
        if (few && computing < 16000000) computing *= 2;
    }
    const int sleeps = (int)counter("sleeps") - sleeps_before;
    const int passed = atomic_load(&fences) - fences_before;
    if (passed * 5 <= sleeps) return 0;
    if (says_so) fprintf(stderr, "rank %d: %d fences in %d sleeps\n", rank, passed, sleeps);
    return 1;
}

int main(int argc, char** argv) {
    int rank, size;
    if (argc > 1) messages = atoi(argv[1]);
    if (trap_fences_of_the_node() != 0) return 77;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    MPI_Comm pair;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &pair));
    int fails = 1;
    for (int turn = 0; rank < 2 && fails && turn < most_turns; ++turn) {
        fails = passes_fences(rank, pair, turn + 1 == most_turns);
        OK(MPI_Allreduce(MPI_IN_PLACE, &fails, 1, MPI_INT, MPI_MAX, pair));
    }
    if (rank < 2 && fails) exit(1);
    OK(MPI_Comm_free(&pair));
    MPI_Finalize();
    return 0;
}
