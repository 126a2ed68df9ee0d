/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of sections that operations keep. The test checks which of them a call completes if
 * requests share an integer. */
#include <stdio.h>
#include <stdlib.h>

#include "fortran.h"

static int failures;
#define EXPECT(condition)                                                                    \
    do {                                                                                     \
        if (!(condition)) ++failures, printf("FAILED, line %d: %s\n", __LINE__, #condition); \
    } while (0)

static const MPI_Fint number = 77; /* a constant, since the test asks no library for it */

/* Starts an operation that writes 3 elements of an array of 6, every other one. */
static void start_operation(int array[6], int result, bool persistent) {
    Descriptor* section = malloc(sizeof *section + sizeof section->dimension[0]);
    section->base = (char*)array;
    section->element = sizeof *array;
    section->rank = 1;
    section->dimension[0].extent = 3;
    section->dimension[0].stride = 2 * sizeof *array;
    Copy copy = copy_of_section(section);
    Pending* pending = add_section(NULL, &copy, true, persistent);
    for (int i = 0; i < 3; ++i) ((int*)copy.base)[i] = result;
    keep(pending, (MPI_Request)(uintptr_t)number, MPI_SUCCESS);
    free(section);
}

int main(void) {
    int first[6] = {0}, second[6] = {0}, third[6] = {0};
    start_operation(first, 1, false);
    const uint64_t last = kept_operations;
    start_operation(second, 2, false); /* by another thread, which got the freed integer */
    completed(number, last);
    EXPECT(first[0] == 1 && first[1] == 0 && first[2] == 1 && first[4] == 1);
    EXPECT(second[0] == 0 && pending_operations == 1);
    completed(number + 1, kept_operations);
    EXPECT(second[0] == 0);
    completed(number, kept_operations);
    EXPECT(second[0] == 2 && second[1] == 0 && second[4] == 2 && pending_operations == 0);

    start_operation(third, 3, true);
    completed(number, kept_operations);
    EXPECT(third[2] == 3 && pending_operations == 1);
    freed(number);
    EXPECT(pending_operations == 0);
    return failures != 0;
}
