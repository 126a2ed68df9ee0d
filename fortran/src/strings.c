/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls whose CHARACTER arguments follow rules of their own, and the few without a function of
 * C. */

#include <stdlib.h>

#include "fortran.h"
#include "names_by_hand.h"

/* ---- Values whose length the caller passes. C counts the null character, Fortran has none.
 * ---- */

EXPORTED void mpi_info_get_(const MPI_Fint* info, const char* key, const MPI_Fint* valuelen,
                            char* value, MPI_Fint* flag, MPI_Fint* ierror, Length key_length,
                            Length value_length) {
    String string;
    char* c_key = trimmed_in(&string, key, key_length);
    char* c_value = malloc(*valuelen > 0 ? (size_t)*valuelen + 1 : 1);
    int c_flag = 0;
    const int outcome = c_key == NULL || c_value == NULL
        ? no_memory("MPI_Info_get")
        : MPI_Info_get(info_in(*info), c_key, *valuelen, c_value, &c_flag);
    if (outcome == MPI_SUCCESS) *flag = logical_out(c_flag);
    if (outcome == MPI_SUCCESS && c_flag) string_out(value, value_length, c_value);
    free(c_value);
    leave_string(&string);
    answer(ierror, outcome);
}

EXPORTED void mpi_info_get_string_(const MPI_Fint* info, const char* key, MPI_Fint* buflen,
                                   char* value, MPI_Fint* flag, MPI_Fint* ierror, Length key_length,
                                   Length value_length) {
    String string;
    char* c_key = trimmed_in(&string, key, key_length);
    int c_buflen = *buflen > 0 ? *buflen + 1 : *buflen;
    char* c_value = malloc(c_buflen > 0 ? (size_t)c_buflen : 1);
    int c_flag = 0;
    const int outcome = c_key == NULL || c_value == NULL
        ? no_memory("MPI_Info_get_string")
        : MPI_Info_get_string(info_in(*info), c_key, &c_buflen, c_value, &c_flag);
    if (outcome == MPI_SUCCESS) *flag = logical_out(c_flag);
    if (outcome == MPI_SUCCESS && c_flag) {
        if (*buflen > 0) string_out(value, value_length, c_value);
        *buflen = c_buflen - 1;
    }
    free(c_value);
    leave_string(&string);
    answer(ierror, outcome);
}

EXPORTED void mpi_session_get_nth_pset_(const MPI_Fint* session, const MPI_Fint* info,
                                        const MPI_Fint* n, MPI_Fint* pset_len, char* pset_name,
                                        MPI_Fint* ierror, Length pset_name_length) {
    int c_length = *pset_len > 0 ? *pset_len + 1 : *pset_len;
    char* c_name = malloc(c_length > 0 ? (size_t)c_length : 1);
    const int outcome = c_name == NULL
        ? no_memory("MPI_Session_get_nth_pset")
        : MPI_Session_get_nth_pset(session_in(*session), info_in(*info), *n, &c_length, c_name);
    if (outcome == MPI_SUCCESS) {
        if (*pset_len > 0) string_out(pset_name, pset_name_length, c_name);
        *pset_len = c_length - 1;
    }
    free(c_name);
    answer(ierror, outcome);
}

/* ---- Starting processes ---- */

/* Returns strings of `length` characters, `distance` strings apart, up to a blank one or `most`.
 * They are one block of memory. */
static char** strings_in(const char* strings, Length length, size_t distance, long most) {
    long count = 0;
    while (count != most &&
           (most >= 0 || without_blanks(strings + (size_t)count * distance * length, length) > 0))
        ++count;
    char** all = malloc(((size_t)count + 1) * sizeof *all + (size_t)count * (length + 1));
    if (all == NULL) return NULL;
    char* next = (char*)(all + count + 1);
    for (long i = 0; i < count; ++i, next += length + 1) {
        const char* text = strings + (size_t)i * distance * length;
        const Length used = without_blanks(text, length);
        memcpy(next, text, used);
        next[used] = '\0';
        all[i] = next;
    }
    all[count] = NULL;
    return all;
}

EXPORTED void mpi_comm_spawn_(const char* command, const char* argv, const MPI_Fint* maxprocs,
                              const MPI_Fint* info, const MPI_Fint* root, const MPI_Fint* comm,
                              MPI_Fint* intercomm, MPI_Fint* array_of_errcodes, MPI_Fint* ierror,
                              Length command_length, Length argv_length) {
    String string;
    char* c_command = string_in(&string, command, command_length);
    const bool none = is_argv_null(argv);
    char** c_argv = none ? MPI_ARGV_NULL : strings_in(argv, argv_length, 1, -1);
    MPI_Comm c_intercomm;
    const int outcome = c_command == NULL || (c_argv == NULL && !none)
        ? no_memory("MPI_Comm_spawn")
        : MPI_Comm_spawn(c_command, c_argv, *maxprocs, info_in(*info), *root, comm_in(*comm),
                         &c_intercomm, or_no_errcodes(array_of_errcodes));
    if (outcome == MPI_SUCCESS) *intercomm = comm_out(c_intercomm);
    free(c_argv);
    leave_string(&string);
    answer(ierror, outcome);
}

static void free_argvs(char*** argvs, int count) {
    for (int i = 0; argvs != NULL && i < count; ++i) free(argvs[i]);
    free(argvs);
}
/* Converts array_of_argv(count, *): the arguments of a command are `count` strings apart. */
static char*** argvs_in(const char* array_of_argv, Length length, int count) {
    char*** argvs = calloc((size_t)count + 1, sizeof *argvs);
    for (int i = 0; argvs != NULL && i < count; ++i) {
        argvs[i] = strings_in(array_of_argv + (size_t)i * length, length, (size_t)count, -1);
        if (argvs[i] == NULL) {
            free_argvs(argvs, i);
            return NULL;
        }
    }
    return argvs;
}

EXPORTED void mpi_comm_spawn_multiple_(const MPI_Fint* count, const char* array_of_commands,
                                       const char* array_of_argv, const MPI_Fint* array_of_maxprocs,
                                       const MPI_Fint* array_of_info, const MPI_Fint* root,
                                       const MPI_Fint* comm, MPI_Fint* intercomm,
                                       MPI_Fint* array_of_errcodes, MPI_Fint* ierror,
                                       Length commands_length, Length argv_length) {
    int rank = MPI_PROC_NULL, commands = 0;
    PMPI_Comm_rank(comm_in(*comm), &rank);
    if (rank == *root && *count > 0) commands = *count; /* on other ranks it must not be read */
    const bool none = commands == 0 || is_argvs_null(array_of_argv);
    char** c_commands = strings_in(array_of_commands, commands_length, 1, commands);
    char*** c_argvs = none ? MPI_ARGVS_NULL : argvs_in(array_of_argv, argv_length, commands);
    Room room;
    MPI_Info* c_infos = enter(&room, commands, sizeof *c_infos);
    MPI_Comm c_intercomm;
    int outcome = MPI_SUCCESS;
    if (c_commands == NULL || c_infos == NULL || (c_argvs == NULL && !none))
        outcome = no_memory("MPI_Comm_spawn_multiple");
    if (outcome == MPI_SUCCESS) {
        for (int i = 0; i < commands; ++i) c_infos[i] = info_in(array_of_info[i]);
        outcome = MPI_Comm_spawn_multiple(*count, c_commands, c_argvs, array_of_maxprocs, c_infos,
                                          *root, comm_in(*comm), &c_intercomm,
                                          or_no_errcodes(array_of_errcodes));
    }
    if (outcome == MPI_SUCCESS) *intercomm = comm_out(c_intercomm);
    leave(&room);
    if (!none) free_argvs(c_argvs, commands);
    free(c_commands);
    answer(ierror, outcome);
}

/* ---- The rest ---- */

EXPORTED void mpi_pcontrol_(const MPI_Fint* level, MPI_Fint* ierror) {
    answer(ierror, MPI_Pcontrol(*level));
}

/* Does nothing. A compiler that sees this call may keep nothing of the buffer in registers. */
EXPORTED void mpi_f_sync_reg_(void* buf) { (void)buf; }
#ifdef HEDDLE_FORTRAN_OTHER_LIBRARIES_H
ALIAS(mpi_f_sync_reg_, mpi_f_sync_reg__)
ALIAS(mpi_f_sync_reg_, mpi_f_sync_reg)
ALIAS(mpi_f_sync_reg_, MPI_F_SYNC_REG)
ALIAS(mpi_f_sync_reg_, mpi_f_sync_reg_f08_)
#endif
EXPORTED void mpi_f_sync_reg_f08ts_(const Descriptor* buf) { (void)buf; }

EXPORTED void mpi_sizeof_f08ts_(const Descriptor* x, MPI_Fint* size, MPI_Fint* ierror) {
    *size = (MPI_Fint)x->element;
    answer(ierror, MPI_SUCCESS);
}

static void copy_status(const MPI_Fint* from, MPI_Fint* to, MPI_Fint* ierror) {
    memmove(to, from, sizeof(MPI_Status));
    answer(ierror, MPI_SUCCESS);
}
EXPORTED void mpi_status_f2f08_(const MPI_Fint* f, MPI_Fint* f08, MPI_Fint* ierror) {
    copy_status(f, f08, ierror);
}
EXPORTED void mpi_status_f082f_(const MPI_Fint* f08, MPI_Fint* f, MPI_Fint* ierror) {
    copy_status(f08, f, ierror);
}
ALIAS(mpi_status_f2f08_, mpi_status_f2f08_f08_)
ALIAS(mpi_status_f082f_, mpi_status_f082f_f08_)

/* ---- Their other names ---- */

/* clang-format off */
NAMES_mpi_info_get
NAMES_mpi_info_get_string
NAMES_mpi_session_get_nth_pset
NAMES_mpi_comm_spawn
NAMES_mpi_comm_spawn_multiple
NAMES_mpi_pcontrol
