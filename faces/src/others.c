/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions whose arguments follow no pattern, and those that the standard ABI does not have. */

#include <stdio.h>

#include "face.h"

/* ---- Start ---- */

/* Returns true if errors are fatal. Launchers may set that errors return
 * (mpi_initial_errhandler). */
static bool is_fatal(MPI_Comm comm) {
    MPI_Errhandler handler;
    return heddle.Comm_get_errhandler(comm, &handler) == MPI_SUCCESS &&
        (handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT);
}
static void learn_whether_errors_return(void) {
    if (is_fatal(MPI_COMM_WORLD) && is_fatal(MPI_COMM_SELF)) errors_are_fatal();
}

FUNCTION(int, Init, (int* argc, char*** argv)) {
    refuse_other_libraries();
    const int error = heddle.Init(CROSS(argc), CROSS(argv));
    if (error == MPI_SUCCESS) learn_whether_errors_return();
    return error_out(error);
}
SECOND_NAME(Init)
FUNCTION(int, Init_thread, (int* argc, char*** argv, int required, int* provided)) {
    refuse_other_libraries();
    const int error =
        heddle.Init_thread(CROSS(argc), CROSS(argv), thread_level_in(required), CROSS(provided));
    if (error == MPI_SUCCESS) learn_whether_errors_return();
    if (error == MPI_SUCCESS && is_memory(provided)) *provided = thread_level_out(*provided);
    return error_out(error);
}
SECOND_NAME(Init_thread)
FUNCTION(int, Session_init, (F_Info info, F_Errhandler errhandler, F_Session* session)) {
    refuse_other_libraries();
    OUT(session, Session, session);
    return error_out(
        heddle.Session_init(info_in(info), errhandler_to_set(errhandler), PLACE_OF(session)));
}
SECOND_NAME(Session_init)
FUNCTION(int, Get_version, (int* version, int* subversion)) {
    const int error = heddle.Get_version(CROSS(version), CROSS(subversion));
    if (error != MPI_SUCCESS) return error_out(error);
    *version = 4;
    *subversion = FACE_SUBVERSION;
    return MPI_SUCCESS;
}
SECOND_NAME(Get_version)
FUNCTION(int, Pcontrol, (const int level, ...)) { return error_out(heddle.Pcontrol(level)); }
SECOND_NAME(Pcontrol)

/* ---- Errors ---- */

/* Returns true for a class that only this ABI has, such as those of faults. It is never raised. */
static bool is_foreign_class(int error) {
    enum { most_classes = 128 }; /* of either ABI */
    return error > 0 && error < most_classes && error < F_MPI_ERR_LASTCODE &&
        error_class_in(error) == no_value;
}

FUNCTION(int, Error_class, (int code, int* class)) {
    if (is_foreign_class(code) && is_memory(class)) {
        *class = code;
        return MPI_SUCCESS;
    }
    const int error = heddle.Error_class(error_in(code), CROSS(class));
    if (error == MPI_SUCCESS) *class = error_out(*class);
    return error_out(error);
}
SECOND_NAME(Error_class)
FUNCTION(int, Error_string, (int code, char* string, int* length)) {
    char text[MPI_MAX_ERROR_STRING];
    int error = MPI_SUCCESS;
    if (is_foreign_class(code) && is_memory(string)) {
        snprintf(text, sizeof text,
                 "error class %d of " FACE_LIBRARY ", which Heddle does not raise", code);
    } else {
        int used;
        error = heddle.Error_string(error_in(code), is_memory(string) ? text : CROSS(string),
                                    is_memory(length) ? &used : CROSS(length));
    }
    if (error == MPI_SUCCESS) string_out(string, text, F_MPI_MAX_ERROR_STRING, length);
    return error_out(error);
}
SECOND_NAME(Error_string)

/* ---- New processes ---- */

static void codes_out(int error, int* codes, long count) {
    for (long i = 0; error == MPI_SUCCESS && is_memory(codes) && i < count; ++i)
        codes[i] = error_out(codes[i]);
}

FUNCTION(int, Comm_spawn,
         (const char* command, char* argv[], int processes, F_Info info, int root, F_Comm comm,
          F_Comm* intercomm, int codes[])) {
    OUT(comm, Comm, intercomm);
    const int error =
        heddle.Comm_spawn(CROSS(command), CROSS(argv), processes, info_in(info), rank_in(root),
                          comm_in(comm), PLACE_OF(intercomm), CROSS(codes));
    codes_out(error, codes, processes);
    return error_out(error);
}
SECOND_NAME(Comm_spawn)
FUNCTION(int, Comm_spawn_multiple,
         (int count, char* commands[], char** argvs[], const int processes[], const F_Info infos[],
          int root, F_Comm comm, F_Comm* intercomm, int codes[])) {
    int rank = MPI_PROC_NULL;
    heddle.Comm_rank(comm_in(comm), &rank);
    ALL_IN(info, infos, rank == root ? count : 0); /* only the root's */
    long all = 0;
    for (long i = 0; is_memory(processes) && i < c_infos.count; ++i) all += processes[i];
    OUT(comm, Comm, intercomm);
    const int error = heddle.Comm_spawn_multiple(
        count, CROSS(commands), CROSS(argvs), CROSS(processes), PLACE_OF_ALL(infos), rank_in(root),
        comm_in(comm), PLACE_OF(intercomm), CROSS(codes));
    codes_out(error, codes, all);
    return error_out(error);
}
SECOND_NAME(Comm_spawn_multiple)

/* ---- What a datatype was made of ---- */

/* Converts numbers with a meaning to the face's. These are the order of a subarray, kinds and
 * arguments of a distribution. */
static void contents_out(int combiner, int* integers, int count) {
    if (combiner == MPI_COMBINER_SUBARRAY) {
        integers[count - 1] = order_out(integers[count - 1]);
    } else if (combiner == MPI_COMBINER_DARRAY) {
        const int dimensions = integers[2];
        const bool large =
            count == 3 * dimensions + 4; /* sizes are counts then, and lie elsewhere */
        int* distributions = integers + 3 + (large ? 0 : dimensions);
        for (int i = 0; i < dimensions; ++i) {
            distributions[i] = distribution_out(distributions[i]);
            distributions[dimensions + i] = darg_out(distributions[dimensions + i]);
        }
        integers[count - 1] = order_out(integers[count - 1]);
    }
}

FUNCTION(int, Type_get_contents,
         (F_Datatype datatype, int most_integers, int most_addresses, int most_datatypes,
          int integers[], MPI_Aint addresses[], F_Datatype datatypes[])) {
    const MPI_Datatype type = type_in(datatype);
    LEAVING Room room;
    const bool given = is_memory(datatypes);
    MPI_Datatype* c_datatypes = enter(&room, given ? most_datatypes : 0, sizeof *c_datatypes);
    if (c_datatypes == NULL) return no_memory();
    const int error = heddle.Type_get_contents(
        type, most_integers, most_addresses, most_datatypes, CROSS(integers), CROSS(addresses),
        given ? c_datatypes : (MPI_Datatype*)CROSS(datatypes));
    int has_integers, has_addresses, has_datatypes, combiner;
    if (error == MPI_SUCCESS &&
        heddle.Type_get_envelope(type, &has_integers, &has_addresses, &has_datatypes, &combiner) ==
            MPI_SUCCESS) {
        contents_out(combiner, integers, has_integers);
        for (int i = 0; given && i < has_datatypes; ++i) datatypes[i] = type_out(c_datatypes[i]);
    }
    return error_out(error);
}
SECOND_NAME(Type_get_contents)
FUNCTION(int, Type_get_contents_c,
         (F_Datatype datatype, MPI_Count most_integers, MPI_Count most_addresses,
          MPI_Count most_counts, MPI_Count most_datatypes, int integers[], MPI_Aint addresses[],
          MPI_Count counts[], F_Datatype datatypes[])) {
    const MPI_Datatype type = type_in(datatype);
    LEAVING Room room;
    const bool given = is_memory(datatypes);
    MPI_Datatype* c_datatypes = enter(&room, given ? most_datatypes : 0, sizeof *c_datatypes);
    if (c_datatypes == NULL) return no_memory();
    const int error = heddle.Type_get_contents_c(
        type, most_integers, most_addresses, most_counts, most_datatypes, CROSS(integers),
        CROSS(addresses), CROSS(counts), given ? c_datatypes : (MPI_Datatype*)CROSS(datatypes));
    MPI_Count has_integers, has_addresses, has_counts, has_datatypes;
    int combiner;
    if (error == MPI_SUCCESS &&
        heddle.Type_get_envelope_c(type, &has_integers, &has_addresses, &has_counts, &has_datatypes,
                                   &combiner) == MPI_SUCCESS) {
        contents_out(combiner, integers, (int)has_integers);
        for (MPI_Count i = 0; given && i < has_datatypes; ++i)
            datatypes[i] = type_out(c_datatypes[i]);
    }
    return error_out(error);
}
SECOND_NAME(Type_get_contents_c)

/* ---- Tool interface ---- */

/* Variables that belong to an object belong to a communicator here. */
FUNCTION(int, T_pvar_handle_alloc,
         (MPI_T_pvar_session session, int variable, F_Comm* object, MPI_T_pvar_handle* handle,
          int* count)) {
    MPI_Comm comm = is_memory(object) ? comm_in(*object) : MPI_COMM_NULL;
    return error_out(heddle.T_pvar_handle_alloc(session, variable,
                                                is_memory(object) ? &comm : place_in(object),
                                                CROSS(handle), CROSS(count)));
}
SECOND_NAME(T_pvar_handle_alloc)
FUNCTION(int, T_event_get_info,
         (int event, char* name, int* name_length, int* verbosity, F_Datatype datatypes[],
          MPI_Aint displacements[], int* elements, MPI_T_enum* enumeration, F_Info* info,
          char* description, int* description_length, int* bind)) {
    LEAVING Room room;
    const long room_for = is_memory(datatypes) && is_memory(elements) ? *elements : 0;
    MPI_Datatype* c_datatypes = enter(&room, room_for, sizeof *c_datatypes);
    if (c_datatypes == NULL) return error_out(MPI_T_ERR_MEMORY);
    OUT(info, Info, info);
    const int error = heddle.T_event_get_info(
        event, CROSS(name), CROSS(name_length), CROSS(verbosity),
        is_memory(datatypes) ? c_datatypes : (MPI_Datatype*)CROSS(datatypes), CROSS(displacements),
        CROSS(elements), CROSS(enumeration), PLACE_OF(info), CROSS(description),
        CROSS(description_length), CROSS(bind));
    if (error == MPI_SUCCESS) {
        for (long i = 0; i < room_for && i < *elements; ++i)
            datatypes[i] = type_out(c_datatypes[i]);
        if (is_memory(verbosity)) *verbosity = verbosity_out(*verbosity);
        if (is_memory(bind)) *bind = binding_out(*bind);
    }
    return error_out(error);
}
SECOND_NAME(T_event_get_info)

/* ---- Names that MPI 3.0 removed ---- */

FUNCTION(int, Address, (void* location, MPI_Aint* address)) {
    return error_out(heddle.Get_address(location, CROSS(address)));
}
SECOND_NAME(Address)
extern int F_Comm_create_errhandler(Procedure*,
                                    F_Errhandler*) __asm__("PMPI_Comm_create_errhandler");
FUNCTION(int, Errhandler_create, (Procedure * function, F_Errhandler* errhandler)) {
    return F_Comm_create_errhandler(function, errhandler);
}
SECOND_NAME(Errhandler_create)
FUNCTION(int, Errhandler_get, (F_Comm comm, F_Errhandler* errhandler)) {
    OUT(errhandler, Errhandler, errhandler);
    return error_out(heddle.Comm_get_errhandler(comm_in(comm), PLACE_OF(errhandler)));
}
SECOND_NAME(Errhandler_get)
FUNCTION(int, Errhandler_set, (F_Comm comm, F_Errhandler errhandler)) {
    return error_out(heddle.Comm_set_errhandler(comm_in(comm), errhandler_to_set(errhandler)));
}
SECOND_NAME(Errhandler_set)
FUNCTION(int, Type_extent, (F_Datatype datatype, MPI_Aint* extent)) {
    MPI_Aint bound;
    return error_out(heddle.Type_get_extent(type_in(datatype), &bound, CROSS(extent)));
}
SECOND_NAME(Type_extent)
FUNCTION(int, Type_lb, (F_Datatype datatype, MPI_Aint* displacement)) {
    MPI_Aint extent;
    return error_out(heddle.Type_get_extent(type_in(datatype), CROSS(displacement), &extent));
}
SECOND_NAME(Type_lb)
FUNCTION(int, Type_ub, (F_Datatype datatype, MPI_Aint* displacement)) {
    MPI_Aint bound, extent;
    const int error = heddle.Type_get_extent(type_in(datatype), &bound, &extent);
    if (error == MPI_SUCCESS && is_memory(displacement)) *displacement = bound + extent;
    return error_out(error);
}
SECOND_NAME(Type_ub)
FUNCTION(int, Type_hvector,
         (int count, int length, MPI_Aint stride, F_Datatype old, F_Datatype* datatype)) {
    OUT(type, Datatype, datatype);
    return error_out(
        heddle.Type_create_hvector(count, length, stride, type_in(old), PLACE_OF(datatype)));
}
SECOND_NAME(Type_hvector)
FUNCTION(int, Type_hindexed,
         (int count, int lengths[], MPI_Aint displacements[], F_Datatype old,
          F_Datatype* datatype)) {
    OUT(type, Datatype, datatype);
    return error_out(heddle.Type_create_hindexed(count, CROSS(lengths), CROSS(displacements),
                                                 type_in(old), PLACE_OF(datatype)));
}
SECOND_NAME(Type_hindexed)

/* The builder of a structure with MPI_LB and MPI_UB, which mark its bounds. It is made without
 * them, and then resized. */
typedef struct {
    MPI_Aint lower, upper;
    bool has_lower, has_upper;
} Marks;

/* Leaves out marks. Returns how many elements are left. */
static int without_marks(int count, const int lengths[], const MPI_Aint displacements[],
                         const F_Datatype types[], int* c_lengths, MPI_Aint* c_displacements,
                         MPI_Datatype* c_types, Marks* marks) {
    int left = 0;
    for (int i = 0; i < count; ++i) {
        if (types[i] == (F_Datatype)F_MPI_LB) {
            marks->lower = marks->has_lower && marks->lower < displacements[i] ? marks->lower
                                                                               : displacements[i];
            marks->has_lower = true;
        } else if (types[i] == (F_Datatype)F_MPI_UB) {
            marks->upper = marks->has_upper && marks->upper > displacements[i] ? marks->upper
                                                                               : displacements[i];
            marks->has_upper = true;
        } else {
            c_lengths[left] = lengths[i];
            c_displacements[left] = displacements[i];
            c_types[left++] = type_in(types[i]);
        }
    }
    return left;
}

static int resize(MPI_Datatype* datatype, const Marks* marks) {
    MPI_Aint lower, extent;
    int error = heddle.Type_get_extent(*datatype, &lower, &extent);
    if (error != MPI_SUCCESS) return error;
    const MPI_Aint first = marks->has_lower ? marks->lower : lower;
    const MPI_Aint last = marks->has_upper ? marks->upper : lower + extent;
    MPI_Datatype resized;
    error = heddle.Type_create_resized(*datatype, first, last - first, &resized);
    if (error != MPI_SUCCESS) return error;
    heddle.Type_free(datatype);
    *datatype = resized;
    return MPI_SUCCESS;
}

FUNCTION(int, Type_struct,
         (int count, int lengths[], MPI_Aint displacements[], F_Datatype types[],
          F_Datatype* datatype)) {
    const bool given = is_memory(lengths) && is_memory(displacements) && is_memory(types);
    const long room_for = given ? count : 0;
    LEAVING Room of_lengths;
    int* c_lengths = enter(&of_lengths, room_for, sizeof *c_lengths);
    LEAVING Room of_displacements;
    MPI_Aint* c_displacements = enter(&of_displacements, room_for, sizeof *c_displacements);
    LEAVING Room of_types;
    MPI_Datatype* c_types = enter(&of_types, room_for, sizeof *c_types);
    if (c_lengths == NULL || c_displacements == NULL || c_types == NULL) return no_memory();
    Marks marks = {0, 0, false, false};
    const int left = room_for > 0 ? without_marks(count, lengths, displacements, types, c_lengths,
                                                  c_displacements, c_types, &marks)
                                  : count;
    OUT(type, Datatype, datatype);
    int error = heddle.Type_create_struct(
        left, given ? c_lengths : CROSS(lengths), given ? c_displacements : CROSS(displacements),
        given ? c_types : (MPI_Datatype*)CROSS(types), PLACE_OF(datatype));
    if (error == MPI_SUCCESS && (marks.has_lower || marks.has_upper))
        error = resize(&c_datatype.standard, &marks);
    return error_out(error);
}
SECOND_NAME(Type_struct)

/* ---- Statuses and handles of Fortran ---- */

#define STATUS(name)                                                           \
    FUNCTION(int, Status_##name, (const void* from, void* to)) {               \
        if (!is_memory(from) || !is_memory(to)) return error_out(MPI_ERR_ARG); \
        memcpy(to, from, sizeof(F_Status));                                    \
        return MPI_SUCCESS;                                                    \
    }                                                                          \
    SECOND_NAME(Status_##name)
STATUS(c2f)
STATUS(f2c)
STATUS(c2f08)
STATUS(f082c)
STATUS(f2f08)
STATUS(f082f)

#ifdef FACE_MPICH
/* The integer values of handles. Only files are addresses. */
#define TO_FORTRAN(name, Handle, X)                                                 \
    FUNCTION(MPI_Fint, X##_c2f, (F_##Handle handle)) { return (MPI_Fint)handle; }   \
    SECOND_NAME(X##_c2f)                                                            \
    FUNCTION(F_##Handle, X##_f2c, (MPI_Fint number)) { return (F_##Handle)number; } \
    SECOND_NAME(X##_f2c)
FUNCTION(MPI_Fint, File_c2f, (F_File handle)) {
    return handle == NULL ? 0 : heddle.File_toint(file_in(handle));
}
FUNCTION(F_File, File_f2c, (MPI_Fint number)) {
    return number == 0 ? NULL : file_out(heddle.File_fromint(number));
}
#else
#define TO_FORTRAN(name, Handle, X)                                                              \
    FUNCTION(MPI_Fint, X##_c2f, (F_##Handle handle)) {                                           \
        const MPI_##Handle standard = name##_in(handle);                                         \
        if ((uintptr_t)standard < handle_constants && fortran_numbers[(uintptr_t)standard] != 0) \
            return fortran_numbers[(uintptr_t)standard] - 1;                                     \
        return X##_number_out(heddle.X##_toint(standard));                                       \
    }                                                                                            \
    SECOND_NAME(X##_c2f)                                                                         \
    FUNCTION(F_##Handle, X##_f2c, (MPI_Fint number)) {                                           \
        if (number >= 0 && number < numbered_##name.count &&                                     \
            numbered_##name.objects[number] != NULL)                                             \
            return (F_##Handle)numbered_##name.objects[number];                                  \
        return name##_out(heddle.X##_fromint(X##_number_in(number)));                            \
    }                                                                                            \
    SECOND_NAME(X##_f2c)
#define SAME(X)                                                               \
    static inline MPI_Fint X##_number_out(MPI_Fint number) { return number; } \
    static inline MPI_Fint X##_number_in(MPI_Fint number) { return number; }
SAME(Comm)
SAME(Type)
SAME(Errhandler)
SAME(File) SAME(Group) SAME(Info) SAME(Message) SAME(Op) SAME(Session)
    SAME(Win) static inline MPI_Fint Request_number_out(MPI_Fint number) {
    return (unsigned)number < handle_constants ? number : small_request(number);
}
static inline MPI_Fint Request_number_in(MPI_Fint number) {
    return number < handle_constants ? number : whole_request(number);
}
TO_FORTRAN(file, File, File)
#endif
TO_FORTRAN(comm, Comm, Comm)
TO_FORTRAN(type, Datatype, Type)
TO_FORTRAN(errhandler, Errhandler, Errhandler)
TO_FORTRAN(group, Group, Group)
TO_FORTRAN(info, Info, Info)
TO_FORTRAN(message, Message, Message)
TO_FORTRAN(op, Op, Op)
TO_FORTRAN(request, Request, Request)
TO_FORTRAN(session, Session, Session)
TO_FORTRAN(win, Win, Win)
#ifdef FACE_MPICH
SECOND_NAME(File_c2f)
SECOND_NAME(File_f2c)
#endif

/* ---- Extensions that programs query: there is no memory of accelerators here ---- */

#define NO_SUPPORT(name)     \
    EXPORTED int name(void); \
    int name(void) { return 0; }
NO_SUPPORT(MPIX_Query_cuda_support)
NO_SUPPORT(MPIX_Query_hip_support)
NO_SUPPORT(MPIX_Query_ze_support)
NO_SUPPORT(MPIX_Query_rocm_support)
EXPORTED int MPIX_GPU_query_support(int kind, int* supported);
int MPIX_GPU_query_support(int kind, int* supported) {
    if (kind < 0 || kind > 2 || !is_memory(supported)) return error_out(MPI_ERR_ARG);
    *supported = 0;
    return MPI_SUCCESS;
}
