/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that MPI 3.0 removed, in Fortran, whose addresses are INTEGERs. For the bindings of
 * other libraries. */

#include "fortran.h"

#ifdef HEDDLE_FORTRAN_PROFILING
#define C(X) PMPI_##X
#define NAME(x) pmpi_##x##_
#define ALIASES(x, X) \
    ALIAS(pmpi_##x##_, pmpi_##x##__) ALIAS(pmpi_##x##_, pmpi_##x) ALIAS(pmpi_##x##_, PMPI_##X)
#else
#define C(X) MPI_##X
#define NAME(x) mpi_##x##_
#define ALIASES(x, X) \
    ALIAS(mpi_##x##_, mpi_##x##__) ALIAS(mpi_##x##_, mpi_##x) ALIAS(mpi_##x##_, MPI_##X)
#endif

int C(Address)(void*, MPI_Aint*);
int C(Errhandler_create)(MPI_Comm_errhandler_function*, MPI_Errhandler*);
int C(Errhandler_get)(MPI_Comm, MPI_Errhandler*);
int C(Errhandler_set)(MPI_Comm, MPI_Errhandler);
int C(Type_extent)(MPI_Datatype, MPI_Aint*);
int C(Type_lb)(MPI_Datatype, MPI_Aint*);
int C(Type_ub)(MPI_Datatype, MPI_Aint*);
int C(Type_hvector)(int, int, MPI_Aint, MPI_Datatype, MPI_Datatype*);
int C(Type_hindexed)(int, int[], MPI_Aint[], MPI_Datatype, MPI_Datatype*);
int C(Type_struct)(int, int[], MPI_Aint[], MPI_Datatype[], MPI_Datatype*);

/* Stores an address. An address that no INTEGER holds is an error, as the standard says. */
static int address_out(int outcome, MPI_Aint address, MPI_Fint* to, const char* function) {
    if (outcome != MPI_SUCCESS) return outcome;
    *to = (MPI_Fint)address;
    return *to == address ? MPI_SUCCESS
                          : fail(MPI_ERR_ARG, function, "the address does not fit into an INTEGER");
}

EXPORTED void NAME(address)(void* location, MPI_Fint* address, MPI_Fint* ierror) {
    MPI_Aint whole = 0;
    const int outcome = C(Address)(or_bottom(location), &whole);
    answer(ierror, address_out(outcome, whole, address, "MPI_Address"));
}
ALIASES(address, ADDRESS)

#define EXTENT(x, X, XX)                                                                  \
    EXPORTED void NAME(x)(const MPI_Fint* datatype, MPI_Fint* extent, MPI_Fint* ierror) { \
        MPI_Aint whole = 0;                                                               \
        const int outcome = C(X)(type_in(*datatype), &whole);                             \
        answer(ierror, address_out(outcome, whole, extent, "MPI_" #X));                   \
    }                                                                                     \
    ALIASES(x, XX)
EXTENT(type_extent, Type_extent, TYPE_EXTENT)
EXTENT(type_lb, Type_lb, TYPE_LB)
EXTENT(type_ub, Type_ub, TYPE_UB)

static void made(int outcome, MPI_Datatype type, MPI_Fint* newtype, MPI_Fint* ierror) {
    if (outcome == MPI_SUCCESS) *newtype = type_out(type);
    answer(ierror, outcome);
}
static MPI_Aint* addresses_in(Room* room, const MPI_Fint* displacements, int count) {
    MPI_Aint* all = enter(room, count, sizeof *all);
    for (int i = 0; all != NULL && i < count; ++i) all[i] = displacements[i];
    return all;
}

EXPORTED void NAME(type_hvector)(const MPI_Fint* count, const MPI_Fint* length,
                                 const MPI_Fint* stride, const MPI_Fint* oldtype, MPI_Fint* newtype,
                                 MPI_Fint* ierror) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    made(C(Type_hvector)(*count, *length, *stride, type_in(*oldtype), &type), type, newtype,
         ierror);
}
ALIASES(type_hvector, TYPE_HVECTOR)
EXPORTED void NAME(type_hindexed)(const MPI_Fint* count, MPI_Fint* lengths,
                                  const MPI_Fint* displacements, const MPI_Fint* oldtype,
                                  MPI_Fint* newtype, MPI_Fint* ierror) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    LEAVING Room room;
    MPI_Aint* addresses = addresses_in(&room, displacements, *count);
    const int outcome = addresses == NULL
        ? no_memory("MPI_Type_hindexed")
        : C(Type_hindexed)(*count, lengths, addresses, type_in(*oldtype), &type);
    made(outcome, type, newtype, ierror);
}
ALIASES(type_hindexed, TYPE_HINDEXED)
EXPORTED void NAME(type_struct)(const MPI_Fint* count, MPI_Fint* lengths,
                                const MPI_Fint* displacements, const MPI_Fint* oldtypes,
                                MPI_Fint* newtype, MPI_Fint* ierror) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    LEAVING Room room;
    MPI_Aint* addresses = addresses_in(&room, displacements, *count);
    LEAVING Room of_types;
    MPI_Datatype* types = enter(&of_types, *count, sizeof *types);
    for (int i = 0; types != NULL && i < *count; ++i) types[i] = type_in(oldtypes[i]);
    const int outcome = addresses == NULL || types == NULL
        ? no_memory("MPI_Type_struct")
        : C(Type_struct)(*count, lengths, addresses, types, &type);
    made(outcome, type, newtype, ierror);
}
ALIASES(type_struct, TYPE_STRUCT)

EXPORTED void NAME(errhandler_create)(Procedure* procedure, MPI_Fint* errhandler,
                                      MPI_Fint* ierror) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_errhandler_function* callback = comm_errhandler_calling(procedure);
    const int outcome = callback == NULL ? no_memory("MPI_Errhandler_create")
                                         : C(Errhandler_create)(callback, &handler);
    if (outcome == MPI_SUCCESS) *errhandler = errhandler_out(handler);
    answer(ierror, outcome);
}
ALIASES(errhandler_create, ERRHANDLER_CREATE)
EXPORTED void NAME(errhandler_get)(const MPI_Fint* comm, MPI_Fint* errhandler, MPI_Fint* ierror) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    const int outcome = C(Errhandler_get)(comm_in(*comm), &handler);
    if (outcome == MPI_SUCCESS) *errhandler = errhandler_out(handler);
    answer(ierror, outcome);
}
ALIASES(errhandler_get, ERRHANDLER_GET)
EXPORTED void NAME(errhandler_set)(const MPI_Fint* comm, const MPI_Fint* errhandler,
                                   MPI_Fint* ierror) {
    answer(ierror, C(Errhandler_set)(comm_in(*comm), errhandler_in(*errhandler)));
}
ALIASES(errhandler_set, ERRHANDLER_SET)
