/* SPDX-License-Identifier: BSD-3-Clause */
/* Room for converted arguments: on the stack if they are few. */
#ifndef HEDDLE_FOREIGN_ROOMS_H
#define HEDDLE_FOREIGN_ROOMS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    uint64_t here[64];
    void* elsewhere;
} Room;

/* Returns NULL if there is no memory. */
static inline void* long_room(Room* room, size_t bytes) { return room->elsewhere = malloc(bytes); }
static inline void* enter(Room* room, long elements, size_t size) {
    room->elsewhere = NULL;
    const size_t bytes = elements > 0 ? (size_t)elements * size : 0;
    return __builtin_expect(bytes <= sizeof room->here, 1) ? room->here : long_room(room, bytes);
}
/* Leaves a room. LEAVING Room room; does so at the end of the block, also after an exception. */
static inline void leave(Room* room) {
    if (__builtin_expect(room->elsewhere != NULL, 0)) free(room->elsewhere);
}
#define LEAVING __attribute__((cleanup(leave)))

#endif
