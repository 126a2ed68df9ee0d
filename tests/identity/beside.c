/* SPDX-License-Identifier: BSD-3-Clause */
/* beside PROGRAM [ARGUMENT...]: to be run as the first process of a PID namespace of its own, one
   for each rank. Runs the program. Beside rank 0's program it starts a bystander. The bystander has
   the process id in this namespace that rank 1 has in its own, and memory at the addresses of rank
   1's buffers. Exit code 0 if the program ended well, and no process has touched the bystander's
   memory. */
#include "buffers.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits for the end of the other side, and checks the memory. */
static void stand_by(int ready, int over) {
    unsigned char* memory = buffers();
    char byte = 0;
    memset(memory, 0xb5, buffer_bytes);
    if (write(ready, &byte, 1) != 1) _exit(3);
    while (read(over, &byte, 1) > 0) {}
    for (size_t i = 0; i < buffer_bytes; ++i) {
        if (memory[i] == 0xb5) continue;
        fprintf(stderr, "memory of a process that is no rank was overwritten, at byte %zu\n", i);
        _exit(1);
    }
    _exit(0);
}

static int ended_well(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char** argv) {
    (void)argc;
    int ready[2], over[2];
    char byte = 0;
    if (pipe(ready) != 0 || pipe(over) != 0) return 3;
    pid_t bystander = 0;
    if (atoi(getenv("PMI_RANK")) == 0) {
        bystander = fork();
        if (bystander == 0) {
            close(over[1]);
            stand_by(ready[1], over[0]);
        }
        if (read(ready[0], &byte, 1) != 1) return 3;
    }
    close(over[0]);
    const pid_t program = fork();
    if (program == 0) {
        close(over[1]);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (bystander != 0 && (bystander != 2 || program != 3))
        return 4; /* another namespace than expected */
    const int well = ended_well(program);
    close(over[1]);
    return well && (bystander == 0 || ended_well(bystander)) ? 0 : 1;
}
