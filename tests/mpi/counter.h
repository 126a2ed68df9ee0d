/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's counts so far, for tests that want a number and are not about MPI_T. */
#ifndef HEDDLE_TESTS_COUNTER_H
#define HEDDLE_TESTS_COUNTER_H

#include "check.h"

/* Returns a performance variable that belongs to no object. MPI must be initialized. */
static inline unsigned long long variable(const char* name, int variable_class) {
    int provided = -1, index = -1, count = -1;
    unsigned long long value = ~0ULL;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_get_index(name, variable_class, &index));
    OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK(count == 1);
    OK(MPI_T_pvar_read(session, handle, &value));
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    return value;
}
static inline unsigned long long counter(const char* name) {
    return variable(name, MPI_T_PVAR_CLASS_COUNTER);
}
static inline unsigned long long level(const char* name) {
    return variable(name, MPI_T_PVAR_CLASS_LEVEL);
}

#endif
