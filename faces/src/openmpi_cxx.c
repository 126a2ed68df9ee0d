/* SPDX-License-Identifier: BSD-3-Clause */
/* libmpi_cxx.so.40: MPI's old C++ bindings, except parts in which the library calls functions of
 * the program.
 *
 * Open MPI 4's mpi.h for C++ has the classes. Each program that includes it contains their
 * inline functions and their tables. It needs the library, even if it calls only functions of C.
 * The inline functions call those of C.
 *
 * Objects  of the classes are a pointer to the class's table and a handle of C. MPI's own
 *          objects lie here (MPI::COMM_WORLD). The program's tables are found by name when the
 *          library is loaded.
 * Refused  are functions of classes that take functions of the program. The message has the name
 *          in C++.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const void* table;
    union {
        const void* any;
        MPI_Comm comm;
        MPI_Datatype datatype;
        MPI_File file;
        MPI_Win win;
    };
} Object;

#define EXPORTED __attribute__((visibility("default")))
#define NAMED(function, symbol, ...)                     \
    EXPORTED void function(__VA_ARGS__) __asm__(symbol); \
    void function(__VA_ARGS__)

/* ---- Served ---- */

/* Comm is abstract: derived classes set the table afterwards. */
NAMED(comm_base, "_ZN3MPI4CommC2Ev", Object* object) { object->comm = MPI_COMM_NULL; }
NAMED(comm_whole, "_ZN3MPI4CommC1Ev", Object* object) { object->comm = MPI_COMM_NULL; }
NAMED(comm_base_of, "_ZN3MPI4CommC2ERKNS_9Comm_NullE", Object* object, const Object* other) {
    object->comm = other->comm;
}
NAMED(comm_whole_of, "_ZN3MPI4CommC1ERKNS_9Comm_NullE", Object* object, const Object* other) {
    object->comm = other->comm;
}
NAMED(datatype_free, "_ZN3MPI8Datatype4FreeEv", Object* object) {
    (void)MPI_Type_free(&object->datatype);
}
NAMED(win_free, "_ZN3MPI3Win4FreeEv", Object* object) { (void)MPI_Win_free(&object->win); }
NAMED(file_close, "_ZN3MPI4File5CloseEv", Object* object) { (void)MPI_File_close(&object->file); }
/* MPI::Init calls it, and has nothing else to prepare. */
NAMED(initialize_intercepts, "_ZN3MPI20InitializeInterceptsEv", void) {}

/* ---- Refused ---- */

__attribute__((noreturn)) static void refuse(const char* function) {
    fprintf(stderr,
            "Heddle: libmpi_cxx.so.40: %s: Heddle does not have this function of MPI's C++ "
            "bindings, which MPI 3.0 "
            "removed. Call the function of C (docs/faces.md).\n",
            function);
    int started = 0, ended = 0;
    (void)MPI_Initialized(&started);
    (void)MPI_Finalized(&ended);
    if (started && !ended) (void)MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}
#define REFUSED(function, symbol, name) \
    NAMED(function, symbol, void) { refuse(name); }

REFUSED(comm_errhandler, "_ZN3MPI4Comm17Create_errhandlerEPFvRS0_PizE",
        "MPI::Comm::Create_errhandler")
REFUSED(file_errhandler, "_ZN3MPI4File17Create_errhandlerEPFvRS0_PizE",
        "MPI::File::Create_errhandler")
REFUSED(win_errhandler, "_ZN3MPI3Win17Create_errhandlerEPFvRS0_PizE", "MPI::Win::Create_errhandler")
REFUSED(comm_keyval,
        "_ZN3MPI4Comm16do_create_keyvalEPFiP19ompi_communicator_tiPvS3_S3_PiEPFiS2_iS3_S3_EPFiRKS0_"
        "iS3_S3_S3_RbEPFiRS0_"
        "iS3_S3_ES3_Ri",
        "MPI::Comm::Create_keyval")
REFUSED(datatype_keyval,
        "_ZN3MPI8Datatype16do_create_keyvalEPFiP15ompi_datatype_tiPvS3_S3_PiEPFiS2_iS3_S3_EPFiRKS0_"
        "iS3_PKvS3_RbEPFiRS0_"
        "iS3_S3_ES3_Ri",
        "MPI::Datatype::Create_keyval")
REFUSED(win_keyval,
        "_ZN3MPI3Win16do_create_keyvalEPFiP10ompi_win_tiPvS3_S3_PiEPFiS2_iS3_S3_EPFiRKS0_iS3_S3_S3_"
        "RbEPFiRS0_iS3_S3_ES3_"
        "Ri",
        "MPI::Win::Create_keyval")
REFUSED(
    datarep_both_c,
    "_ZN3MPI16Register_datarepEPKcPFiPvP15ompi_datatype_tiS2_xS2_ES6_PFvRKNS_8DatatypeERlS2_ES2_",
    "MPI::Register_datarep")
REFUSED(datarep_read_c,
        "_ZN3MPI16Register_datarepEPKcPFiPvP15ompi_datatype_tiS2_xS2_EPFvS2_RNS_8DatatypeEiS2_xS2_"
        "EPFvRKS7_RlS2_ES2_",
        "MPI::Register_datarep")
REFUSED(datarep_write_c,
        "_ZN3MPI16Register_datarepEPKcPFvPvRNS_8DatatypeEiS2_xS2_EPFiS2_P15ompi_datatype_tiS2_xS2_"
        "EPFvRKS3_RlS2_ES2_",
        "MPI::Register_datarep")
REFUSED(datarep_neither_c,
        "_ZN3MPI16Register_datarepEPKcPFvPvRNS_8DatatypeEiS2_xS2_ES6_PFvRKS3_RlS2_ES2_",
        "MPI::Register_datarep")
REFUSED(operation, "ompi_mpi_cxx_op_intercept", "an operation of MPI::Op::Init")
REFUSED(request_query, "ompi_mpi_cxx_grequest_query_fn_intercept", "MPI::Grequest::Start")
REFUSED(request_free, "ompi_mpi_cxx_grequest_free_fn_intercept", "MPI::Grequest::Start")
REFUSED(request_cancel, "ompi_mpi_cxx_grequest_cancel_fn_intercept", "MPI::Grequest::Start")

/* ---- MPI's own objects ---- */

#define OBJECT(symbol, name, class, value)                \
    EXPORTED extern Object object_##name __asm__(symbol); \
    Object object_##name = {NULL, {.any = (const void*)value}};
#include "cxx_objects.h"
#undef OBJECT

/* A class's table begins with two words that are no functions. */
enum { words_before_functions = 2, functions_at_most = 128 };
static void without_table(void) { refuse("a virtual function (no table of its class is found)"); }

static const void* table_of(const char* symbol) {
    static void (*none[functions_at_most])(void);
    const void* const* table = dlsym(RTLD_DEFAULT, symbol);
    if (table != NULL) return table + words_before_functions;
    for (int i = 0; i < functions_at_most; ++i) none[i] = without_table;
    return (const void*)none;
}

/* A program that is not position-independent holds copies of the objects. The loader knows their
 * addresses. */
__attribute__((constructor)) static void set_tables(void) {
#define OBJECT(symbol, name, class, value) object_##name.table = table_of(class);
#include "cxx_objects.h"
#undef OBJECT
}

#define CONSTANT(type, name, symbol, value)               \
    EXPORTED extern type constant_##name __asm__(symbol); \
    type constant_##name = value;
CONSTANT(void* const, BOTTOM, "_ZN3MPI6BOTTOME", MPI_BOTTOM)
CONSTANT(void* const, IN_PLACE, "_ZN3MPI8IN_PLACEE", MPI_IN_PLACE)
CONSTANT(char**, ARGV_NULL, "_ZN3MPI9ARGV_NULLE", MPI_ARGV_NULL)
CONSTANT(char***, ARGVS_NULL, "_ZN3MPI10ARGVS_NULLE", MPI_ARGVS_NULL)
CONSTANT(int, mpi_errno, "_ZN3MPI9mpi_errnoE", MPI_SUCCESS)
