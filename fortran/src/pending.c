/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of sections and converted arrays that live as long as an operation.
 *
 * An entry is found by the integer of its request when Fortran completes, starts or frees it.
 * Operations that are complete from the start may share a request: all entries of a request are
 * complete then. Once a request is complete, another thread may get the same integer for its
 * next operation. So entries are numbered, and only entries from before the call are complete.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fortran.h"

typedef struct Item {
    struct Item* next;
    void* memory;
    Descriptor* section; /* NULL if only the memory is kept */
    bool result;
} Item;

struct Pending {
    Pending* next;
    MPI_Fint request;
    uint64_t number;
    bool persistent;
    Item* items;
};

_Atomic int pending_operations;
_Atomic uint64_t kept_operations;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static Pending* all;

/* Allocates memory, or ends the job. The operation is pending, and no call can return the error. */
static void* memory(size_t bytes) {
    void* result = malloc(bytes);
    if (result == NULL) {
        fputs("MPI in Fortran: no memory to remember an operation\n", stderr);
        PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
        abort();
    }
    return result;
}

static Pending* add(Pending* pending, Item item, bool persistent) {
    if (pending == NULL) {
        pending = memory(sizeof *pending);
        *pending = (Pending){NULL, 0, 0, persistent, NULL};
    }
    item.next = pending->items;
    pending->items = memory(sizeof item);
    *pending->items = item;
    return pending;
}

Pending* add_section(Pending* pending, Copy* copy, bool result, bool persistent) {
    const size_t size =
        sizeof(Descriptor) + (size_t)copy->section->rank * sizeof copy->section->dimension[0];
    Descriptor* section = memcpy(memory(size), copy->section, size);
    return add(pending, (Item){NULL, copy->base, section, result}, persistent);
}

Pending* add_array(Pending* pending, Room* room, bool persistent) {
    return add(pending, (Item){NULL, room->elsewhere, NULL, false}, persistent);
}

static void end(Pending* pending) {
    while (pending->items != NULL) {
        Item* item = pending->items;
        pending->items = item->next;
        free(item->memory);
        free(item->section);
        free(item);
    }
    free(pending);
}

void keep(Pending* pending, MPI_Request request, int error) {
    if (error != MPI_SUCCESS) {
        end(pending);
        return;
    }
    pending->request = request_out(request);
    pthread_mutex_lock(&guard);
    pending->number = ++kept_operations;
    pending->next = all;
    all = pending;
    ++pending_operations;
    pthread_mutex_unlock(&guard);
}

static void results_out(const Pending* pending) {
    for (const Item* item = pending->items; item != NULL; item = item->next)
        if (item->section != NULL && item->result) unpack_section(item->section, item->memory);
}
static void operands_in(const Pending* pending) {
    for (const Item* item = pending->items; item != NULL; item = item->next)
        if (item->section != NULL) pack_section(item->memory, item->section);
}

/* Calls `act` for the entries of a request up to number `last`. An entry ends if `act` returns
 * true. */
static void for_entries(MPI_Fint request, uint64_t last, bool (*act)(const Pending*)) {
    pthread_mutex_lock(&guard);
    for (Pending** place = &all; *place != NULL;) {
        Pending* entry = *place;
        if (entry->request != request || entry->number > last || !act(entry)) {
            place = &entry->next;
            continue;
        }
        *place = entry->next;
        --pending_operations;
        end(entry);
    }
    pthread_mutex_unlock(&guard);
}

static bool complete(const Pending* entry) {
    results_out(entry);
    return !entry->persistent;
}
static bool start(const Pending* entry) {
    operands_in(entry);
    return false;
}
static bool forget(const Pending* entry) {
    (void)entry;
    return true;
}
void completed_slowly(MPI_Fint request, uint64_t last) { for_entries(request, last, complete); }
void started_slowly(MPI_Fint request) { for_entries(request, UINT64_MAX, start); }
void freed_slowly(MPI_Fint request) { for_entries(request, UINT64_MAX, forget); }
