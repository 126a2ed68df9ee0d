/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes that Fortran has set: C gets the address of an integer (MPI 5.0, 19.3.7).
 *
 * There is one integer for each value that was ever set, for as long as the program runs. C code
 * may pass its address on to other objects, which the bindings would not notice. Attributes at
 * other addresses were set by C.
 */

#include <pthread.h>
#include <stdlib.h>

#include "fortran.h"

typedef struct Value {
    MPI_Aint value; /* first: C reads it, or its lower half if Fortran has set an INTEGER */
    struct Value* next;
} Value;
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the lower half comes first");

enum { first_block = 64, most_blocks = 32, buckets = 1024 };

/* Each block is twice as long as the one before. */
static Value* blocks[most_blocks];
static size_t used_blocks, used_of_last;
static Value* with_hash[buckets];
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static size_t length_of_block(size_t i) { return (size_t)first_block << i; }

static Value* new_value(void) {
    if (used_blocks == 0 || used_of_last == length_of_block(used_blocks - 1)) {
        if (used_blocks == most_blocks) return NULL;
        Value* block = malloc(length_of_block(used_blocks) * sizeof *block);
        if (block == NULL) return NULL;
        blocks[used_blocks++] = block;
        used_of_last = 0;
    }
    return &blocks[used_blocks - 1][used_of_last++];
}

static Value* find_or_add(MPI_Aint value) {
    Value** bucket = &with_hash[((uint64_t)value * 0x9E3779B97F4A7C15u) >> 54];
    for (Value* one = *bucket; one != NULL; one = one->next)
        if (one->value == value) return one;
    Value* added = new_value();
    if (added == NULL) return NULL;
    *added = (Value){value, *bucket};
    return *bucket = added;
}

static bool is_ours(const void* attribute) {
    for (size_t i = 0; i < used_blocks; ++i) {
        const size_t used = i + 1 < used_blocks ? length_of_block(i) : used_of_last;
        const size_t offset = (uintptr_t)attribute - (uintptr_t)blocks[i];
        if (offset < used * sizeof(Value) && offset % sizeof(Value) == 0) return true;
    }
    return false;
}

void* attribute_in(MPI_Aint value) {
    pthread_mutex_lock(&guard);
    Value* found = find_or_add(value);
    pthread_mutex_unlock(&guard);
    return found;
}

MPI_Aint attribute_out(const void* attribute) {
    pthread_mutex_lock(&guard);
    const bool ours = is_ours(attribute);
    pthread_mutex_unlock(&guard);
    return ours ? ((const Value*)attribute)->value : (MPI_Aint)attribute;
}
