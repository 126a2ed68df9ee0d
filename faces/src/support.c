/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the face's library, and has conversions that are off the short path. */

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <unistd.h>

#include "face.h"

/* ---- The library ---- */

struct HeddleFunctions heddle;

static char own_path[PATH_MAX], library_path[PATH_MAX];

static __attribute__((noreturn)) void give_up(const char* what, const char* why) {
    fprintf(stderr, "Heddle: " FACE_LIBRARY ": %s: %s\n", what, why);
    _exit(1);
}

/* Opens libmpi_abi.so.1, two folders above the faces (lib/heddle/faces). Its functions are
 * looked up by name in it alone, since those of this face have the same names. */
static void* open_library(void) {
    Dl_info own;
    if (dladdr((const void*)&heddle, &own) == 0 || realpath(own.dli_fname, own_path) == NULL)
        give_up("this library is not found", "its path is unknown");
    snprintf(library_path, sizeof library_path, "%s", own_path);
    for (int i = 0; i < 3; ++i) {
        char* slash = strrchr(library_path, '/');
        if (slash != NULL) *slash = '\0';
    }
    strncat(library_path, "/libmpi_abi.so.1", sizeof library_path - strlen(library_path) - 1);
    void* library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) give_up("the library below it is not found", dlerror());
    return library;
}

/* ---- Data that the library needs to take unconverted arguments (decision 68) ---- */

#define CONVERTED(name, Handle) \
    static MPI_##Handle name##_of(uintptr_t handle) { return name##_in((F_##Handle)handle); }
CONVERTED(comm, Comm)
CONVERTED(type, Datatype)
CONVERTED(win, Win)
CONVERTED(request, Request)
static uintptr_t raw_request(MPI_Request handle) { return (uintptr_t)request_out(handle); }
static int any_rank_in(int rank) { return rank_in(rank); }
static int any_tag_in(int tag) { return tag_in(tag); }
static int any_tag_out(int tag) { return tag_out(tag); }
static void any_status_out(const MPI_Status* from, void* to) { written_out(from, to); }

static HeddleFace described = {
    .comm_in = comm_of,
    .type_in = type_of,
    .win_in = win_of,
    .request_in = request_of,
    .request_out = raw_request,
    .rank_in = any_rank_in,
    .rank_out = special_rank_out,
    .tag_in = any_tag_in,
    .tag_out = any_tag_out,
    .buffer_in = place_in,
    .error_out = other_error_out,
    .status_out = any_status_out,
};
HeddleFace* kept = &described;

/* Lets the library take unconverted arguments, unless the checker is loaded. The checker needs
 * calls of the standard ABI. */
static void use_direct_calls(void* library, bool checked) {
    described.proc_null = special_rank_out(MPI_PROC_NULL);
    describe_handles(&described);
    set_long_calls(&described);
    HeddleDirectCallsOf* calls_of = (HeddleDirectCallsOf*)dlsym(library, DIRECT_CALLS);
    if (calls_of != NULL && !checked) set_direct_functions(calls_of(&described, &kept));
}

__attribute__((constructor(101))) static void load_library(void) {
    void* library = open_library();
    /* mpiexec --check: the checker's functions take the place of the library's. */
    void* (*checked)(const char*) =
        (void* (*)(const char*))dlsym(RTLD_DEFAULT, "heddle_check_function");
#define LOAD(X)                                                            \
    *(void**)&heddle.X = checked != NULL ? checked(#X) : NULL;             \
    if (heddle.X == NULL) *(void**)&heddle.X = dlsym(library, "PMPI_" #X); \
    if (heddle.X == NULL) give_up(library_path, dlerror());
    HEDDLE_FUNCTIONS(LOAD)
    use_direct_calls(library, checked != NULL);
}

/* ---- Whether errors return ---- */

/* Once an error handler has been set, this stays true. */
static bool errors_returned;
static pthread_mutex_t errors_guard = PTHREAD_MUTEX_INITIALIZER;

void errors_are_fatal(void) {
    pthread_mutex_lock(&errors_guard);
    if (!errors_returned) set_last_functions(true);
    pthread_mutex_unlock(&errors_guard);
}
void let_errors_return(void) {
    pthread_mutex_lock(&errors_guard);
    errors_returned = true;
    set_last_functions(false);
    pthread_mutex_unlock(&errors_guard);
}

/* ---- Other MPI libraries ---- */

static const char* name_of(const char* path) {
    const char* slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}
static bool is_mpi(const char* name) {
    static const char* const libraries[] = {"libmpi.so", "libmpich.so", "libmpi_abi.so"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; ++i)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0) return true;
    return false;
}
static int look_at(struct dl_phdr_info* info, size_t size, void* found) {
    (void)size;
    char path[PATH_MAX];
    if (!is_mpi(name_of(info->dlpi_name)) || realpath(info->dlpi_name, path) == NULL) return 0;
    char library[PATH_MAX];
    if (realpath(library_path, library) == NULL || strcmp(path, library) == 0 ||
        strcmp(path, own_path) == 0)
        return 0;
    memcpy(found, path, sizeof path);
    return 1;
}
void refuse_other_libraries(void) {
    char other[PATH_MAX];
    if (dl_iterate_phdr(look_at, other) == 0) return;
    fprintf(stderr,
            "Heddle: this process has two MPI libraries: %s and %s. A program and its libraries "
            "must be built for one "
            "MPI. `heddle check PROGRAM` says which of them needs which.\n",
            own_path, other);
    _exit(1);
}

/* ---- Numbers ---- */

enum { first_code = MPI_ERR_LASTCODE + 1 }; /* the first that programs add */

/* Converts a code. Codes that programs add lie above the last one of either ABI. */
int other_error_out(int error) {
    if (error > MPI_ERR_LASTCODE)
        return F_MPI_ERR_LASTCODE > error ? F_MPI_ERR_LASTCODE + 1 + (error - first_code) : error;
    return error == MPI_ERR_LASTCODE ? F_MPI_ERR_LASTCODE : error_class_out(error);
}
int error_in(int error) {
    if (error == MPI_SUCCESS) return MPI_SUCCESS;
    if (error == F_MPI_ERR_LASTCODE) return MPI_ERR_LASTCODE;
    if (error > F_MPI_ERR_LASTCODE)
        return F_MPI_ERR_LASTCODE > first_code ? error - F_MPI_ERR_LASTCODE - 1 + first_code
                                               : error;
    const int known = error_class_in(error);
    return known != no_value || error_class_out(error) != error
        ? known
        : error; /* a value unknown to both ABIs stays unchanged */
}

enum {
    first_keyval = 1000
}; /* key values of programs are above the predefined ones of every ABI here */
int keyval_in(int keyval) {
    if (keyval > first_keyval && keyval < (1 << 24)) return keyval;
    const int predefined = predefined_keyval_in(keyval);
    return predefined == no_value ? MPI_KEYVAL_INVALID : predefined;
}
int keyval_out(int keyval) { return predefined_keyval_out(keyval); }

int darg_in(int argument) {
    return argument == F_MPI_DISTRIBUTE_DFLT_DARG ? MPI_DISTRIBUTE_DFLT_DARG : argument;
}
int darg_out(int argument) {
    return argument == MPI_DISTRIBUTE_DFLT_DARG ? F_MPI_DISTRIBUTE_DFLT_DARG : argument;
}

/* ---- Statuses ---- */

void status_in(const F_Status* from, MPI_Status* to) {
    memset(to, 0, sizeof *to);
    to->MPI_SOURCE = rank_in(from->MPI_SOURCE);
    to->MPI_TAG = tag_in(from->MPI_TAG);
    to->MPI_ERROR = error_in(from->MPI_ERROR);
    const uint64_t bytes = bytes_in(from);
    memcpy(to->MPI_internal, &bytes, sizeof bytes);
    to->MPI_internal[2] = cancelled_in(from);
}
void status_out(const MPI_Status* from, F_Status* to) { written_out(from, to); }

/* ---- Arrays and strings ---- */

int no_memory(void) {
    heddle.Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
    return error_out(MPI_ERR_NO_MEM);
}

long peers(MPI_Comm comm) { return peers_of(comm); }
long neighbours(MPI_Comm comm, enum Side side) { return neighbours_of(comm, side); }

void string_out(char* to, const char* from, int bound, int* length) {
    const size_t used = strnlen(from, (size_t)bound - 1);
    memcpy(to, from, used);
    to[used] = '\0';
    if (is_memory(length)) *length = (int)used;
}
