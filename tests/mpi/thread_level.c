/* SPDX-License-Identifier: BSD-3-Clause */
/* thread_level ASKED GIVEN: MPI_Init_thread asks for one level and gives another. MPI_Query_thread
 * agrees. */
#include <stdlib.h>

#include "check.h"

int main(int argc, char** argv) {
    CHECK(argc == 3);
    int given = -1, queried = -1;
    OK(MPI_Init_thread(&argc, &argv, atoi(argv[1]), &given));
    CHECK(given == atoi(argv[2]));
    OK(MPI_Query_thread(&queried));
    CHECK(queried == given);
    OK(MPI_Finalize());
    return 0;
}
