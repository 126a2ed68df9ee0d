/* SPDX-License-Identifier: BSD-3-Clause */
#include "every_call.h"

typedef int Count, Displacement, Step, Unit;
typedef MPI_Aint Address;
#define N(X) MPI_##X
#define ENTRY with_counts
#define REPRESENTATION "one more"
#include "counts.h"
