/* SPDX-License-Identifier: BSD-3-Clause */

/* A hash table whose places are spread over all ranks. A rank that adds to a key first finds its
 * place, by MPI_Compare_and_swap of the key with an empty one. It adds by MPI_Fetch_and_op. No rank
 * serves another. Each rank adds its share of words, which are numbers here. Then each rank looks
 * up all of them. */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PLACES = 4096,
    WORDS = 6000,
    KINDS = 700
}; /* places of each rank, words of each rank, different ones */

typedef struct {
    MPI_Win win; /* a key and a count for each place; key 0: empty */
    int ranks;
} Table;

typedef struct {
    int rank;
    MPI_Aint at; /* of the key; the count follows */
} Place;

static uint64_t scrambled(uint64_t key) {
    key ^= key >> 31;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static Place place_of(const Table* table, uint64_t number) {
    number %= (uint64_t)table->ranks * PLACES;
    const Place place = {(int)(number / PLACES), (MPI_Aint)(number % PLACES * 2)};
    return place;
}

/* Returns the place of the key. Takes a free place for the key if it has none yet. */
static Place find(const Table* table, uint64_t key) {
    const uint64_t empty = 0;
    for (uint64_t number = scrambled(key);; ++number) {
        uint64_t there = 0;
        const Place place = place_of(table, number);
        MPI_Compare_and_swap(&key, &empty, &there, MPI_UINT64_T, place.rank, place.at, table->win);
        MPI_Win_flush(place.rank, table->win);
        if (there == empty || there == key) return place;
    }
}

static void add(const Table* table, uint64_t key, uint64_t count) {
    const Place place = find(table, key);
    MPI_Accumulate(&count, 1, MPI_UINT64_T, place.rank, place.at + 1, 1, MPI_UINT64_T, MPI_SUM,
                   table->win);
}

static uint64_t look_up(const Table* table, uint64_t key) {
    uint64_t count = 0;
    const Place place = find(table, key);
    MPI_Get(&count, 1, MPI_UINT64_T, place.rank, place.at + 1, 1, MPI_UINT64_T, table->win);
    MPI_Win_flush(place.rank, table->win);
    return count;
}

static uint64_t word(int rank, int number) {
    return 1 + scrambled((uint64_t)(rank * WORDS + number)) % KINDS;
}

int main(int argc, char** argv) {
    int rank, wrong = 0;
    uint64_t* memory;
    Table table;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &table.ranks);
    MPI_Win_allocate(2 * PLACES * (MPI_Aint)sizeof *memory, sizeof *memory, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &memory, &table.win);
    for (int i = 0; i < 2 * PLACES; ++i) memory[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, table.win);
    for (int i = 0; i < WORDS; ++i) add(&table, word(rank, i), 1);
    MPI_Win_flush_all(table.win);
    MPI_Barrier(MPI_COMM_WORLD);

    uint64_t* expected = calloc(KINDS + 1, sizeof *expected);
    for (int other = 0; other < table.ranks; ++other)
        for (int i = 0; i < WORDS; ++i) ++expected[word(other, i)];
    for (uint64_t key = 1; key <= KINDS; ++key) wrong += look_up(&table, key) != expected[key];
    if (wrong != 0) fprintf(stderr, "rank %d: %d counts are wrong\n", rank, wrong);
    free(expected);
    MPI_Win_unlock_all(table.win);
    MPI_Win_free(&table.win);
    int any = 0;
    MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("hash_table: %d words of %d ranks counted, %s\n", WORDS * table.ranks, table.ranks,
               any != 0 ? "WRONG" : "correct");
    MPI_Finalize();
    return wrong != 0;
}
