/* SPDX-License-Identifier: BSD-3-Clause */
#include "every_call.h"

typedef MPI_Count Count, Step, Address;
typedef MPI_Aint Displacement, Unit;
#define N(X) MPI_##X##_c
#define ENTRY with_large_counts
#define REPRESENTATION "one more, large"
#include "counts.h"
