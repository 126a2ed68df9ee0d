/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the kernel refuse a system call to this program and its children, as containers and
 * sandboxes do. */
#ifndef HEDDLE_TESTS_REFUSE_H
#define HEDDLE_TESTS_REFUSE_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Refuses the call in all threads of the program. Returns 0, or -1 if filters themselves are
 * forbidden. */
static inline int refuse(int number, int error) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0
        ? 0
        : -1;
}

static inline int system_call_named(const char* name) {
    if (strcmp(name, "membarrier") == 0) return SYS_membarrier;
    if (strcmp(name, "memfd_create") == 0) return SYS_memfd_create;
    if (strcmp(name, "process_vm_readv") == 0) return SYS_process_vm_readv;
    if (strcmp(name, "process_vm_writev") == 0) return SYS_process_vm_writev;
    return -1;
}

static inline int error_named(const char* name) {
    if (strcmp(name, "EPERM") == 0) return EPERM;
    if (strcmp(name, "ENOMEM") == 0) return ENOMEM;
    if (strcmp(name, "ENOSYS") == 0) return ENOSYS;
    return -1;
}

#endif
