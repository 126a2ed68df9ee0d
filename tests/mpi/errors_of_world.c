/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that follows the standard before MPI 4.0. It sets an error handler on MPI_COMM_WORLD
   only, and expects errors without a communicator there. Once MPI_COMM_SELF has a handler, that one
   counts. */
#include "check.h"

static int calls, last_code;
static MPI_Comm last_comm;

static void note(MPI_Comm* comm, int* code, ...) {
    ++calls;
    last_comm = *comm;
    last_code = *code;
}

int main(void) {
    MPI_Errhandler mine;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Info info = MPI_INFO_NULL;
    int number = MPI_KEYVAL_INVALID;
    MPI_Init(NULL, NULL);
    OK(MPI_Comm_create_errhandler(note, &mine));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine));
    CHECK(MPI_Type_commit(&type) == MPI_ERR_TYPE);
    CHECK(calls == 1 && last_comm == MPI_COMM_WORLD && last_code == MPI_ERR_TYPE);
    CHECK(MPI_Group_size(group, &number) == MPI_ERR_GROUP);
    CHECK(MPI_Info_free(&info) == MPI_ERR_INFO);
    CHECK(MPI_Comm_free_keyval(&number) == MPI_ERR_KEYVAL);
    CHECK(MPI_Comm_size(MPI_COMM_NULL, &number) == MPI_ERR_COMM);
    CHECK(calls == 5 && last_comm == MPI_COMM_WORLD);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK(MPI_Type_commit(&type) == MPI_ERR_TYPE);
    CHECK(calls == 5);
    OK(MPI_Errhandler_free(&mine));
    MPI_Finalize();
    return 0;
}
