/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined objects of libmpi.so.40, by the addresses that the loader gave them. */

#include <stdio.h>

#include "face.h"

INTERNAL extern const Predefined objects_of_library[];
INTERNAL extern const int objects_in_library;

Predefined predefined_objects[1 << predefined_bits];
_Alignas(bytes_at_lower_bits) char objects_by_lower_bits[lower_bits_end + bytes_at_lower_bits];
uint64_t predefined_multiplier;
const void* predefined_out[handle_constants];

/* Fills the table. Returns false if two objects would have one place. */
static bool fill(uint64_t multiplier) {
    memset(predefined_objects, 0, sizeof predefined_objects);
    for (int i = 0; i < objects_in_library; ++i) {
        const Predefined* object = &objects_of_library[i];
        Predefined* place =
            &predefined_objects[(uintptr_t)object->address * multiplier >> (64 - predefined_bits)];
        if (place->address != NULL) return false;
        *place = *object;
    }
    predefined_multiplier = multiplier;
    return true;
}

/* Fills the table by lower bits. It leaves out the second of two objects with the same bits. It
 * also leaves out one that is not aligned, which would reach into the next place. */
static void fill_by_lower_bits(void) {
    for (int i = 0; i < objects_in_library; ++i) {
        const uintptr_t address = (uintptr_t)objects_of_library[i].address;
        HeddleAddress* place =
            (HeddleAddress*)(objects_by_lower_bits + (address & (lower_bits_end - 1)));
        if (address % bytes_at_lower_bits == 0 && place->address == NULL) {
            place->address = objects_of_library[i].address;
            place->standard = objects_of_library[i].standard;
        }
    }
}

__attribute__((constructor(102))) static void find_objects(void) {
    uint64_t multiplier = 0x9E3779B97F4A7C15u;
    while (!fill(multiplier))
        multiplier = (multiplier * 6364136223846793005u + 1442695040888963407u) | 1;
    fill_by_lower_bits();
    for (int i = objects_in_library; i-- > 0;) /* the first of two with one meaning */
        predefined_out[objects_of_library[i].standard] = objects_of_library[i].address;
}

void describe_handles(HeddleFace* face) {
    face->comm_world = (uintptr_t)F_MPI_COMM_WORLD;
    face->request_null = (uintptr_t)F_MPI_REQUEST_NULL;
    face->types = objects_by_lower_bits;
}

/* ---- C++ ---- */

/* MPI::Op::Init calls it. That function has no address of its own in the library. */
EXPORTED void ompi_op_set_cxx_callback(F_Op op, void (*function)(void));
void ompi_op_set_cxx_callback(F_Op op, void (*function)(void)) {
    (void)op, (void)function;
    fputs(
        "Heddle: libmpi.so.40: MPI::Op::Init: Heddle does not have this function of MPI's C++ "
        "bindings, which MPI 3.0 removed. Call MPI_Op_create (docs/faces.md).\n",
        stderr);
    heddle.Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* ---- Data ---- */

static F_Status ignored[2];
EXPORTED extern MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
MPI_Fint* MPI_F_STATUS_IGNORE = (MPI_Fint*)&ignored[0];
MPI_Fint* MPI_F_STATUSES_IGNORE = (MPI_Fint*)&ignored[1];
