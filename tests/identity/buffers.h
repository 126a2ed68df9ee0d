/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory at the same address in every process: a copy that takes the wrong process finds some. */
#ifndef HEDDLE_TESTS_BUFFERS_H
#define HEDDLE_TESTS_BUFFERS_H

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { most_bytes = 300000 };                              /* from 256 KiB on both sides copy */
static const size_t buffer_bytes = 2 * (size_t)most_bytes; /* one to send, one to receive */

static inline unsigned char* buffers(void) {
    void* memory = mmap((void*)0x200000000000, buffer_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(3);
    }
    return memory;
}

#endif
