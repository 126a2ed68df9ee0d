// SPDX-License-Identifier: BSD-3-Clause
/// Versions: of the standard (MPI 5.0 section 9.1.1), of the ABI (chapter 20) and of this library.
/// These functions may be called at any time, also before MPI_Init and after MPI_Finalize.

#include <mpi.h>

#include <cstring>

#include "api/arguments.hpp"

namespace {

using heddle::api::is_memory;

constexpr char library_version[] =
    "Heddle " HEDDLE_VERSION ", MPI 5.0, standard ABI 1.0 (libmpi_abi.so.1)";
static_assert(sizeof library_version <= MPI_MAX_LIBRARY_VERSION_STRING);

}  // namespace

extern "C" {

int PMPI_Get_version(int* version, int* subversion) {
    if (!is_memory(version) || !is_memory(subversion)) return MPI_ERR_ARG;
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}
decltype(PMPI_Get_version) MPI_Get_version __attribute__((weak, alias("PMPI_Get_version")));

int PMPI_Get_library_version(char* version, int* resultlen) {
    if (!is_memory(version) || !is_memory(resultlen)) return MPI_ERR_ARG;
    std::memcpy(version, library_version, sizeof library_version);
    *resultlen = static_cast<int>(sizeof library_version - 1);
    return MPI_SUCCESS;
}
decltype(PMPI_Get_library_version) MPI_Get_library_version
    __attribute__((weak, alias("PMPI_Get_library_version")));

int PMPI_Abi_get_version(int* abi_major, int* abi_minor) {
    if (!is_memory(abi_major) || !is_memory(abi_minor)) return MPI_ERR_ARG;
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}
decltype(PMPI_Abi_get_version) MPI_Abi_get_version
    __attribute__((weak, alias("PMPI_Abi_get_version")));

}  // extern "C"
