/* SPDX-License-Identifier: BSD-3-Clause */
/* The first exchange of a new thread makes no system call that a later one does not make. It reads
   no file, and asks for no affinity. A filter hands such calls to this program, which counts them.
   Exit code 77: filters are forbidden here. */
#define _GNU_SOURCE
#include "../mpi/check.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <unistd.h>

enum { threads = 200, warm_up = 20 };

static atomic_int calls;
static _Thread_local int first_exchange;

/* Counts a call, which fails. A caller that does not need its result goes on. */
static void count_call(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)info;
    if (first_exchange) atomic_fetch_add(&calls, 1);
#if defined(__x86_64__)
    ((ucontext_t*)context)->uc_mcontext.gregs[REG_RAX] = -1;
#elif defined(__aarch64__)
    ((ucontext_t*)context)->uc_mcontext.regs[0] = (unsigned long long)-1;
#endif
}

static int trap_questions(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_getaffinity, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = count_call;
    sigaction(SIGSYS, &action, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static void exchange(int rank) {
    int number = rank;
    OK(MPI_Sendrecv_replace(&number, 1, MPI_INT, 1 - rank, 1, 1 - rank, 1, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE));
    CHECK(number == 1 - rank);
}

static void* come_and_go(void* rank) {
    first_exchange = 1;
    exchange(*(int*)rank);
    first_exchange = 0;
    exchange(*(int*)rank);
    return NULL;
}

static void start_threads(int rank, int number) {
    for (int i = 0; i < number; ++i) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, come_and_go, &rank) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
}

int main(void) {
    int rank, size;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    start_threads(rank, warm_up);
    if (trap_questions() != 0) return 77;
    start_threads(rank, threads);
    if (atomic_load(&calls) != 0) {
        fprintf(stderr, "rank %d: %d questions in the first exchanges of %d threads\n", rank,
                atomic_load(&calls), threads);
        exit(1);
    }
    MPI_Finalize();
    return 0;
}
