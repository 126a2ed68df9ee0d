/* SPDX-License-Identifier: BSD-3-Clause */
/* What all bindings share: sentinels, errors, room for arrays, strings, and what is compared by address. */

#include <stdio.h>
#include <stdlib.h>

#include "fortran.h"

/* ---- Sentinels ---- */

EXPORTED MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_buffer_automatic_;
EXPORTED MPI_Fint mpi_fortran_unweighted_, mpi_fortran_weights_empty_, mpi_fortran_errcodes_ignore_;
EXPORTED MPI_Fint mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE];
EXPORTED MPI_Fint mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];
EXPORTED MPI_F08_status mpi_f08_status_ignore_, mpi_f08_statuses_ignore_;
EXPORTED char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;

EXPORTED MPI_Fint* MPI_F_STATUS_IGNORE = mpi_fortran_status_ignore_;
EXPORTED MPI_Fint* MPI_F_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;
EXPORTED MPI_F08_status* MPI_F08_STATUS_IGNORE = &mpi_f08_status_ignore_;
EXPORTED MPI_F08_status* MPI_F08_STATUSES_IGNORE = &mpi_f08_statuses_ignore_;

/* ---- Predefined callbacks: the ABI has constants for them, and calls none; programs may (MPI 5.0, 7.7.2) ---- */

#define COPY(name, flag_, copied, ...)                                                             \
    EXPORTED void name(const MPI_Fint* object, const MPI_Fint* keyval, __VA_ARGS__ MPI_Fint* flag, \
                       MPI_Fint* ierror) {                                                         \
        (void)object, (void)keyval, (void)extra_state, (void)value_in, (void)value_out;            \
        copied;                                                                                    \
        *flag = logical_out(flag_);                                                                \
        *ierror = MPI_SUCCESS;                                                                     \
    }
#define VALUES(Integer) const Integer *extra_state, const Integer *value_in, Integer *value_out,
#define NULL_COPY(name, Integer) COPY(name, 0, (void)0, VALUES(Integer))
#define DUP(name, Integer) COPY(name, 1, *value_out = *value_in, VALUES(Integer))
#define NULL_DELETE(name, Integer)                                                           \
    EXPORTED void name(const MPI_Fint* object, const MPI_Fint* keyval, const Integer* value, \
                       const Integer* extra_state, MPI_Fint* ierror) {                       \
        (void)object, (void)keyval, (void)value, (void)extra_state;                          \
        *ierror = MPI_SUCCESS;                                                               \
    }
NULL_COPY(mpi_null_copy_fn_, MPI_Fint)
DUP(mpi_dup_fn_, MPI_Fint)
NULL_DELETE(mpi_null_delete_fn_, MPI_Fint)
NULL_COPY(mpi_comm_null_copy_fn_, MPI_Aint)
DUP(mpi_comm_dup_fn_, MPI_Aint)
NULL_DELETE(mpi_comm_null_delete_fn_, MPI_Aint)
NULL_COPY(mpi_type_null_copy_fn_, MPI_Aint)
DUP(mpi_type_dup_fn_, MPI_Aint)
NULL_DELETE(mpi_type_null_delete_fn_, MPI_Aint)
NULL_COPY(mpi_win_null_copy_fn_, MPI_Aint)
DUP(mpi_win_dup_fn_, MPI_Aint)
NULL_DELETE(mpi_win_null_delete_fn_, MPI_Aint)

/* These are never called. */
EXPORTED void mpi_conversion_fn_null_(void) {}
EXPORTED void mpi_conversion_fn_null_c_(void) {}

/* ---- Handles of mpi_f08 ---- */

#define COMPARISONS(handle)                                                             \
    EXPORTED int mpi_fortran_equal_##handle##_(const MPI_Fint* a, const MPI_Fint* b) {  \
        return *a == *b;                                                                \
    }                                                                                   \
    EXPORTED int mpi_fortran_differ_##handle##_(const MPI_Fint* a, const MPI_Fint* b) { \
        return *a != *b;                                                                \
    }
COMPARISONS(comm)
COMPARISONS(datatype)
COMPARISONS(errhandler)
COMPARISONS(file)
COMPARISONS(group)
COMPARISONS(info)
COMPARISONS(message)
COMPARISONS(op)
COMPARISONS(request)
COMPARISONS(session)
COMPARISONS(win)

/* ---- Errors ---- */

int fail(int error_class, const char* function, const char* text) {
    char message[MPI_MAX_ERROR_STRING];
    snprintf(message, sizeof message, "%s: %s", function, text);
    int code = error_class;
    if (PMPI_Add_error_code(error_class, &code) == MPI_SUCCESS)
        PMPI_Add_error_string(code, message);
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
    return code;
}
int no_memory(const char* function) {
    return fail(MPI_ERR_NO_MEM, function, "no memory to convert the arguments");
}
int no_partitions(const char* function) {
    return fail(MPI_ERR_BUFFER, function, "partitions of an array section that is not contiguous");
}

/* ---- Arrays ---- */

void* long_room(Room* room, size_t bytes) { return room->elsewhere = malloc(bytes); }
void leave_long(Room* room) { free(room->elsewhere); }

int peers(MPI_Comm comm) {
    int inter = 0, size = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter) {
        PMPI_Comm_remote_size(comm, &size);
    } else {
        PMPI_Comm_size(comm, &size);
    }
    return size;
}

int neighbours(MPI_Comm comm, enum Side side) {
    int topology = MPI_UNDEFINED, in = 0, out = 0;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        PMPI_Cartdim_get(comm, &in);
        in = out = 2 * in;
    } else if (topology == MPI_GRAPH) {
        int rank;
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &in);
        out = in;
    } else if (topology == MPI_DIST_GRAPH) {
        int weighted;
        PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    }
    return side == sources ? in : out;
}

int dimensions(MPI_Comm comm) {
    int count = 0;
    PMPI_Cartdim_get(comm, &count);
    return count;
}

/* ---- Strings ---- */

static char* terminated(String* string, const char* text, Length length) {
    string->elsewhere = NULL;
    char* copy = string->here;
    if (length >= sizeof string->here) copy = string->elsewhere = malloc(length + 1);
    if (copy == NULL) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}
char* string_in(String* string, const char* text, Length length) {
    return terminated(string, text, without_blanks(text, length));
}
char* trimmed_in(String* string, const char* text, Length length) {
    length = without_blanks(text, length);
    while (length > 0 && *text == ' ') ++text, --length;
    return terminated(string, text, length);
}
void leave_string(String* string) { free(string->elsewhere); }

void string_out(char* text, Length length, const char* string) {
    const Length used = strnlen(string, length);
    memcpy(text, string, used);
    memset(text + used, ' ', length - used);
}

/* ---- Statuses ---- */

#define CONVERSION(name, From, To)                       \
    EXPORTED int MPI_Status_##name(From* from, To* to) { \
        memcpy(to, from, sizeof(MPI_Status));            \
        return MPI_SUCCESS;                              \
    }                                                    \
    ALIAS(MPI_Status_##name, PMPI_Status_##name)
CONVERSION(c2f, const MPI_Status, MPI_Fint)
CONVERSION(f2c, const MPI_Fint, MPI_Status)
CONVERSION(c2f08, const MPI_Status, MPI_F08_status)
CONVERSION(f082c, const MPI_F08_status, MPI_Status)
CONVERSION(f2f08, const MPI_Fint, MPI_F08_status)
CONVERSION(f082f, const MPI_F08_status, MPI_Fint)

/* ---- What the library says of its requests ---- */

unsigned lower_half_requests;

__attribute__((constructor)) static void ask_about_requests(void) {
    static const char expected[] = "lower half of the address";
    char said[64];
    int length = sizeof said, flag = 0;
    MPI_Info info = MPI_INFO_NULL;
    if (PMPI_Abi_get_info(&info) != MPI_SUCCESS || info == MPI_INFO_NULL) return;
    const int outcome = PMPI_Info_get_string(info, "heddle_request_toint", &length, said, &flag);
    if (outcome == MPI_SUCCESS && flag && strncmp(said, expected, sizeof expected) == 0)
        lower_half_requests = handle_constants;
    PMPI_Info_free(&info);
}

/* ---- What the ABI asks about Fortran ---- */

/* Nobody can ask before this runs. The types are those that gfortran and flang have on this processor, both. */
__attribute__((constructor)) static void describe_fortran(void) {
    static const char* const facts[][2] = {
        {"mpi_logical_size", "4"},
        {"mpi_integer_size", "4"},
        {"mpi_real_size", "4"},
        {"mpi_double_precision_size", "8"},
        {"mpi_logical1_supported", "true"},
        {"mpi_logical2_supported", "true"},
        {"mpi_logical4_supported", "true"},
        {"mpi_logical8_supported", "true"},
        {"mpi_logical16_supported", "false"},
        {"mpi_integer1_supported", "true"},
        {"mpi_integer2_supported", "true"},
        {"mpi_integer4_supported", "true"},
        {"mpi_integer8_supported", "true"},
        {"mpi_integer16_supported", "true"},
        {"mpi_real2_supported", "false"},
        {"mpi_real4_supported", "true"},
        {"mpi_real8_supported", "true"},
        {"mpi_real16_supported", "true"},
        {"mpi_complex4_supported", "false"},
        {"mpi_complex8_supported", "true"},
        {"mpi_complex16_supported", "true"},
        {"mpi_complex32_supported", "true"},
        {"mpi_double_complex_supported", "true"},
    };
    MPI_Info info = MPI_INFO_NULL;
    if (PMPI_Abi_get_fortran_info(&info) == MPI_SUCCESS && info != MPI_INFO_NULL) {
        PMPI_Info_free(&info); /* somebody has told before */
    } else if (PMPI_Info_create(&info) == MPI_SUCCESS) {
        for (size_t i = 0; i < sizeof facts / sizeof *facts; ++i)
            PMPI_Info_set(info, facts[i][0], facts[i][1]);
        PMPI_Abi_set_fortran_info(info);
        PMPI_Info_free(&info);
    }
    for (int size = 1; size <= 8; size *= 2) {
        const uint64_t yes = 1, no = 0; /* of a LOGICAL of this size: its lowest byte comes first */
        uint64_t other_yes, other_no;
        int known = 0;
        PMPI_Abi_get_fortran_booleans(size, &other_yes, &other_no, &known);
        if (!known) PMPI_Abi_set_fortran_booleans(size, (void*)&yes, (void*)&no);
    }
}
