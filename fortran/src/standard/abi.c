/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the standard ABI's bindings: sentinels, mpi_f08's handles, statuses, and facts
 * about Fortran. */

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

/* ---- Facts about the library's requests ---- */

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

/* ---- Facts about Fortran for the ABI ---- */

/* Tells the library about Fortran, before any call can ask. gfortran and flang both have these
 * types on this processor. */
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
        PMPI_Info_free(&info); /* another library has set them before */
    } else if (PMPI_Info_create(&info) == MPI_SUCCESS) {
        for (size_t i = 0; i < sizeof facts / sizeof *facts; ++i)
            PMPI_Info_set(info, facts[i][0], facts[i][1]);
        PMPI_Abi_set_fortran_info(info);
        PMPI_Info_free(&info);
    }
    for (int size = 1; size <= 8; size *= 2) {
        const uint64_t yes = 1, no = 0; /* values of a LOGICAL of this size: its lowest byte
                                           comes first */
        uint64_t other_yes, other_no;
        int known = 0;
        PMPI_Abi_get_fortran_booleans(size, &other_yes, &other_no, &known);
        if (!known) PMPI_Abi_set_fortran_booleans(size, (void*)&yes, (void*)&no);
    }
}
