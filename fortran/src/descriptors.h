/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice buffers of mpi_f08 as C describes them (TS 29113). */
#ifndef HEDDLE_FORTRAN_DESCRIPTORS_H
#define HEDDLE_FORTRAN_DESCRIPTORS_H

/* The parts of a C descriptor on which compilers agree. */
typedef struct {
    char* base;
    size_t element; /* bytes of an element */
    int version;
    signed char rank;
    char unused[3];
    struct {
        ptrdiff_t lower, extent, stride; /* stride is in bytes */
    } dimension[];
} Descriptor;

enum { most_dimensions = 15 };
/* Memory for a descriptor that is made from another. */
typedef struct {
    Descriptor descriptor;
    uint64_t dimensions[3 * most_dimensions];
} Section;

#endif
