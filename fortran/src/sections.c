/* SPDX-License-Identifier: BSD-3-Clause */
/* Array sections with gaps (MPI 5.0, 19.1.12): a call behaves as if they were copied to a
 * contiguous array.
 *
 * Nothing is copied if the buffer is one message: a datatype tells C where the elements lie. It
 * is made for the call and freed after it; MPI keeps it as long as the operation needs it.
 * - Elements of the datatype that fill the elements of the section become vectors of vectors.
 * - Any other datatype is taken apart. An array that holds its own places is packed. This tells
 *   which bytes of the contiguous array form the message, in their order.
 * A buffer that is more than one message, or is reduced, is copied.
 */

#include <stdlib.h>

#include "fortran.h"

/* ---- Places ---- */

/* Returns the begin of element `i`, in array order. The last dimension may have any extent. */
static ptrdiff_t place_of(const Descriptor* section, ptrdiff_t i) {
    ptrdiff_t place = 0;
    for (int d = 0; d < section->rank - 1; ++d) {
        place += i % section->dimension[d].extent * section->dimension[d].stride;
        i /= section->dimension[d].extent;
    }
    return place + i * section->dimension[section->rank - 1].stride;
}

static ptrdiff_t elements_in_all(const Descriptor* section) {
    ptrdiff_t count = 1;
    for (int d = 0; d < section->rank; ++d) count *= section->dimension[d].extent;
    return count;
}

/* ---- Copies ---- */

void pack_section(void* packed, const Descriptor* section) {
    char* to = packed;
    const ptrdiff_t count = elements_in_all(section);
    for (ptrdiff_t i = 0; i < count; ++i, to += section->element)
        memcpy(to, section->base + place_of(section, i), section->element);
}
void unpack_section(const Descriptor* section, const void* packed) {
    const char* from = packed;
    const ptrdiff_t count = elements_in_all(section);
    for (ptrdiff_t i = 0; i < count; ++i, from += section->element)
        memcpy(section->base + place_of(section, i), from, section->element);
}

Copy copy_of_section(const Descriptor* section) {
    Copy copy = {malloc((size_t)elements_in_all(section) * section->element), section};
    if (copy.base != NULL) pack_section(copy.base, section);
    return copy;
}
void copy_back(Copy* copy, bool result) {
    if (result && copy->base != NULL) unpack_section(copy->section, copy->base);
    free(copy->base);
}

/* ---- Datatypes ---- */

/* Makes a type of the first `count` elements of the first `rank` dimensions, each of type
 * `leaf`. */
static int type_of_elements(const Descriptor* section, int rank, MPI_Count count, MPI_Datatype leaf,
                            MPI_Datatype* type) {
    if (rank == 0) return PMPI_Type_dup(leaf, type);
    MPI_Count row = 1;
    for (int d = 0; d < rank - 1; ++d) row *= section->dimension[d].extent;
    const MPI_Count rows = count / row, rest = count % row;
    const MPI_Count stride = section->dimension[rank - 1].stride;
    MPI_Datatype inner, parts[2];
    int outcome = type_of_elements(section, rank - 1, row, leaf, &inner);
    if (outcome != MPI_SUCCESS) return outcome;
    outcome = PMPI_Type_create_hvector_c(rows, 1, stride, inner, &parts[0]);
    PMPI_Type_free(&inner);
    if (outcome != MPI_SUCCESS || rest == 0) {
        *type = parts[0];
        return outcome;
    }
    outcome = type_of_elements(section, rank - 1, rest, leaf, &parts[1]);
    if (outcome == MPI_SUCCESS) {
        outcome = PMPI_Type_create_struct_c(2, (MPI_Count[]){1, 1}, (MPI_Count[]){0, rows * stride},
                                            parts, type);
        PMPI_Type_free(&parts[1]);
    }
    PMPI_Type_free(&parts[0]);
    return outcome;
}

/* Makes a type of `count` elements of `type`. `each` of them fill an element of the section. */
static int type_of_whole(const Descriptor* section, MPI_Count count, MPI_Datatype type,
                         MPI_Count each, MPI_Datatype* made) {
    const MPI_Count whole = count / each, rest = count % each;
    MPI_Datatype leaf, parts[2];
    int outcome = PMPI_Type_contiguous_c(each, type, &leaf);
    if (outcome != MPI_SUCCESS) return outcome;
    outcome = type_of_elements(section, section->rank, whole, leaf, &parts[0]);
    PMPI_Type_free(&leaf);
    if (outcome != MPI_SUCCESS || rest == 0) {
        *made = parts[0];
        return outcome;
    }
    outcome = PMPI_Type_contiguous_c(rest, type, &parts[1]);
    if (outcome == MPI_SUCCESS) {
        outcome = PMPI_Type_create_struct_c(
            2, (MPI_Count[]){1, 1}, (MPI_Count[]){0, place_of(section, whole)}, parts, made);
        PMPI_Type_free(&parts[1]);
    }
    PMPI_Type_free(&parts[0]);
    return outcome;
}

/* Finds the byte of a contiguous array that each byte of the message is. The array holds the
 * lowest byte of each place first, then the next one, and so on. It is packed each time. */
static int places_of_bytes(MPI_Count count, MPI_Datatype type, size_t span, size_t bytes,
                           size_t* places) {
    unsigned char* array = malloc(span + bytes);
    if (array == NULL) return MPI_ERR_NO_MEM;
    unsigned char* packed = array + span;
    int outcome = MPI_SUCCESS;
    memset(places, 0, bytes * sizeof *places);
    for (unsigned shift = 0; outcome == MPI_SUCCESS && (shift == 0 || span >> shift != 0);
         shift += 8) {
        for (size_t i = 0; i < span; ++i) array[i] = (unsigned char)(i >> shift);
        MPI_Count position = 0;
        outcome =
            PMPI_Pack_c(array, count, type, packed, (MPI_Count)bytes, &position, MPI_COMM_SELF);
        for (size_t i = 0; i < bytes; ++i) places[i] |= (size_t)packed[i] << shift;
    }
    free(array);
    return outcome;
}

/* Makes a type of the bytes at these places of the contiguous array, by their addresses in the
 * section. */
static int type_of_bytes(const Descriptor* section, const size_t* places, size_t bytes,
                         MPI_Datatype* made) {
    MPI_Count* displacements = malloc(2 * (bytes + 1) * sizeof *displacements);
    if (displacements == NULL) return MPI_ERR_NO_MEM;
    MPI_Count* lengths = displacements + bytes + 1;
    size_t runs = 0;
    for (size_t i = 0; i < bytes; ++i) {
        const MPI_Count place = place_of(section, (ptrdiff_t)(places[i] / section->element)) +
            (MPI_Count)(places[i] % section->element);
        if (runs > 0 && displacements[runs - 1] + lengths[runs - 1] == place) {
            ++lengths[runs - 1];
        } else {
            displacements[runs] = place;
            lengths[runs++] = 1;
        }
    }
    const int outcome =
        PMPI_Type_create_hindexed_c((MPI_Count)runs, lengths, displacements, MPI_BYTE, made);
    free(displacements);
    return outcome;
}

typedef struct {
    MPI_Count lower, extent, true_lower, true_extent, size;
} Bounds;

static int bounds_of(MPI_Datatype type, Bounds* bounds) {
    int outcome = PMPI_Type_get_extent_c(type, &bounds->lower, &bounds->extent);
    if (outcome == MPI_SUCCESS)
        outcome = PMPI_Type_get_true_extent_c(type, &bounds->true_lower, &bounds->true_extent);
    return outcome == MPI_SUCCESS ? PMPI_Type_size_c(type, &bounds->size) : outcome;
}

static int type_of_any(const Descriptor* section, MPI_Count count, MPI_Datatype type,
                       const Bounds* bounds, const char* function, MPI_Datatype* made) {
    const MPI_Count first =
        bounds->true_lower + (bounds->extent < 0 ? (count - 1) * bounds->extent : 0);
    const MPI_Count last = bounds->true_lower + bounds->true_extent +
        (bounds->extent > 0 ? (count - 1) * bounds->extent : 0);
    if (first < 0 || last > elements_in_all(section) * (MPI_Count)section->element)
        return fail(MPI_ERR_BUFFER, function, "the datatype reaches beyond the array section");
    const size_t bytes = (size_t)(count * bounds->size);
    size_t* places = malloc((bytes + 1) * sizeof *places);
    if (places == NULL) return no_memory(function);
    int outcome = places_of_bytes(count, type, (size_t)last, bytes, places);
    if (outcome == MPI_SUCCESS) outcome = type_of_bytes(section, places, bytes, made);
    free(places);
    return outcome == MPI_ERR_NO_MEM ? no_memory(function) : outcome;
}

Elements elements_of_section(const Descriptor* section, MPI_Count count, MPI_Datatype type,
                             const char* function) {
    Elements all = {section->base, count, type, MPI_SUCCESS, false};
    /* C itself finds wrong arguments and reports them. */
    if (count <= 0 || type == MPI_DATATYPE_NULL) return all;
    Bounds bounds;
    all.error = bounds_of(type, &bounds);
    if (all.error != MPI_SUCCESS) return all;
    const MPI_Count element = (MPI_Count)section->element;
    const bool fills = bounds.extent > 0 && bounds.lower == 0 && element % bounds.extent == 0 &&
        bounds.true_lower >= 0 && bounds.true_lower + bounds.true_extent <= bounds.extent;
    MPI_Datatype made;
    all.error = fills ? type_of_whole(section, count, type, element / bounds.extent, &made)
                      : type_of_any(section, count, type, &bounds, function, &made);
    if (all.error != MPI_SUCCESS) return all;
    all.error = PMPI_Type_commit(&made);
    all.type = made;
    all.count = 1;
    all.made = true;
    return all;
}
