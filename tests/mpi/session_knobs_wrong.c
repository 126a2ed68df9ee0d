/* SPDX-License-Identifier: BSD-3-Clause */
/* An info key with a value that its knob cannot have is the session's error, by its handler. */
#include "check.h"

int main(void) {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "heddle_instances", "3"));
    FAILS(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO_VALUE);
    CHECK(session == MPI_SESSION_NULL);
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Session_finalize(&session));
    OK(MPI_Info_free(&info));
    return 0;
}
