/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls every MPI function with every argument wrong in every manner, one at a time
   (generate_bad_calls.py). A call gives an error code, or ends the process with a message. No call
   gives a signal, and each one returns. Afterwards the library still works.

   Each function is called in a process of its own, forked before MPI_Init. If a call ends the
   process, the next process goes on with the call behind it. */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    patience = 60, /* seconds: a watchdog */
    /* exit codes */
    taken_for_memory = 98,
    does_not_work = 99
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

struct function {
    const char* name;
    int (*call)(int argument, unsigned way); /* of the argument that is wrong */
    const unsigned* ways;                    /* of each argument */
    const unsigned char* refused; /* of each argument: bit i: bad_addresses[i] must not succeed */
    int arguments;
    int takes_type;
};

static char memory[32 * 65536];
static long long zeros[512], minus[512];
static char place[65536];
static uintptr_t garbage[512];

static MPI_Comm good_comm = MPI_COMM_NULL;
static MPI_Group good_group;
static MPI_Info good_info;
static MPI_Request good_request;
static MPI_Session good_session;
static MPI_Datatype good_type;
static MPI_File good_file = MPI_FILE_NULL; /* set for functions that take one */
static int wants_file;
#define PLACE(Handle) static Handle place_of_##Handle[64]
PLACE(MPI_Comm);
PLACE(MPI_Datatype);
PLACE(MPI_Group);
PLACE(MPI_Info);
PLACE(MPI_Op);
PLACE(MPI_Request);
PLACE(MPI_Errhandler);
PLACE(MPI_Message);
PLACE(MPI_Session);
PLACE(MPI_Win);
PLACE(MPI_File);

static const int bad_numbers[] = {-1, -2, -3, -1000000, INT_MIN};
static const int bad_ranks[] = {-1, -2, -3, -1000000, INT_MIN, 1, INT_MAX};
#ifndef MPI_BUFFER_AUTOMATIC
#define MPI_BUFFER_AUTOMATIC ((void*)2)
#endif
#define BAD_ADDRESSES \
    NULL, (void*)MPI_IN_PLACE, (void*)MPI_BUFFER_AUTOMATIC, (void*)10, (void*)11, (void*)4095
static void* const bad_addresses[] = {BAD_ADDRESSES};
static void* const any_addresses[] = {NULL, (void*)1};
static void* const bad_arrays[] = {BAD_ADDRESSES, minus};
static void* const bad_handle_addresses[] = {BAD_ADDRESSES, zeros, garbage};
static void* const bad_handles[] = {NULL,        (void*)1, (void*)255,        (void*)1023,
                                    (void*)4095, garbage,  (void*)UINTPTR_MAX};
static void* const no_handles[] = {NULL};
static void* const bad_functions[] = {NULL};

#include "bad_calls_generated.h"

/* Makes the good arguments anew, since calls free and change them. */
static void make_good(void) {
    static int in, out;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_SELF, &good_comm);
    MPI_Comm_set_errhandler(good_comm, MPI_ERRORS_RETURN);
    MPI_Comm_group(good_comm, &good_group);
    MPI_Info_create(&good_info);
    MPI_Irecv(&in, 1, MPI_INT, 0, 5, good_comm, &request);
    MPI_Isend(&out, 1, MPI_INT, 0, 6, good_comm, &request);
    MPI_Irecv(&in, 1, MPI_INT, 0, 7, good_comm, &good_request);
    MPI_Isend(&out, 1, MPI_INT, 0, 7, good_comm, &request);
    if (wants_file) {
        char path[64];
        snprintf(path, sizeof path, "/tmp/heddle-bad-calls-%d", (int)getpid());
        MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &good_file);
        unlink(path);
    }
    for (unsigned i = 0; i < COUNT(place_of_MPI_Comm); ++i) {
        place_of_MPI_Comm[i] = i == 0 ? good_comm : MPI_COMM_NULL;
        place_of_MPI_Datatype[i] = MPI_INT;
        place_of_MPI_Group[i] = i == 0 ? good_group : MPI_GROUP_NULL;
        place_of_MPI_Info[i] = i == 0 ? good_info : MPI_INFO_NULL;
        place_of_MPI_Op[i] = MPI_OP_NULL;
        place_of_MPI_Request[i] = i == 0 ? good_request : MPI_REQUEST_NULL;
        place_of_MPI_Errhandler[i] = MPI_ERRORS_RETURN;
        place_of_MPI_Message[i] = MPI_MESSAGE_NO_PROC;
        place_of_MPI_Session[i] = MPI_SESSION_NULL;
        place_of_MPI_Win[i] = MPI_WIN_NULL;
        place_of_MPI_File[i] = i == 0 ? good_file : MPI_FILE_NULL;
    }
    memset(zeros, 0, sizeof zeros);
    memset(minus, -1, sizeof minus);
    for (unsigned i = 0; i < COUNT(garbage); ++i) garbage[i] = (uintptr_t)&garbage[i];
}

static int still_works(void) {
    int one = 1, sum = 0, got = 0;
    MPI_Comm copy;
    return MPI_Comm_dup(MPI_COMM_SELF, &copy) == MPI_SUCCESS &&
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy) == MPI_SUCCESS && sum == 1 &&
        MPI_Sendrecv(&one, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE) ==
        MPI_SUCCESS &&
        got == 1 && MPI_Comm_free(&copy) == MPI_SUCCESS;
}

/* Calls one function in all ways from number `first` on, as the child. The parent reads the
 * progress in `at`. */
static void call_all(const struct function* function, int gaps, unsigned first,
                     volatile unsigned* at) {
    unsigned number = 0;
    alarm(patience);
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &good_session);
    good_type = MPI_INT;
    wants_file = strncmp(function->name, "MPI_File_", 9) == 0;
    if (gaps) MPI_Type_vector(2, 1, 2, MPI_INT, &good_type);
    MPI_Type_commit(&good_type);
    if (strncmp(function->name, "MPI_T_", 6) == 0) {
        int level;
        MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    }
    for (int argument = 0; argument < function->arguments; ++argument)
        for (unsigned way = 0; way < function->ways[argument]; ++way, ++number) {
            if (number < first) continue;
            make_good();
            *at = number;
            /* A null pointer is MPI_BOTTOM, to which displacements of the type may be relative. */
            if (gaps && function->refused[argument] && bad_addresses[way] == NULL) continue;
            const int error = function->call(argument, way);
            if (error == MPI_SUCCESS && (function->refused[argument] >> way & 1))
                _exit(taken_for_memory);
        }
    *at = UINT_MAX;
    _exit(still_works() ? 0 : does_not_work);
}

static int has_said_something(FILE* errors) {
    return fseek(errors, 0, SEEK_END) == 0 && ftell(errors) > 0;
}

/* Tries a function. Its datatypes are MPI_INT, or a vector with gaps. */
static void try(const struct function* function, int gaps, int quiet, volatile unsigned* at,
                unsigned* ended, unsigned* failures) {
    for (unsigned first = 0;; first = *at + 1) {
        FILE* errors = tmpfile();
        *at = first;
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            if (quiet) dup2(fileno(errors), STDERR_FILENO);
            call_all(function, gaps, first, at);
        }
        int status = 0;
        waitpid(child, &status, 0);
        const int said = has_said_something(errors);
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        fclose(errors);
        if (code == 0) return;
        if (code == does_not_work) {
            printf("%s: afterwards the library does not work\n", function->name);
            ++*failures;
            return;
        }
        if (code > 0 && code != taken_for_memory && said) {
            ++*ended;
            continue;
        }
        ++*failures;
        printf("%s%s, wrong call number %u: ", function->name, gaps ? " with gaps" : "", *at);
        if (code == taken_for_memory)
            printf("a constant was taken for an address\n");
        else if (code < 0)
            printf("signal %d\n", WTERMSIG(status));
        else
            printf("exit code %d without a message\n", code);
    }
}

int main(int argc, char** argv) {
    const char* only = argc > 1 ? argv[1] : NULL;
    volatile unsigned* at =
        mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned failures = 0, ended = 0;
    for (unsigned i = 0; i < COUNT(functions); ++i) {
        const struct function* function = &functions[i];
        if (only != NULL && strcmp(only, function->name) != 0) continue;
        for (int gaps = 0; gaps <= (function->takes_type); ++gaps)
            try(function, gaps, only == NULL, at, &ended, &failures);
    }
    printf("%zu functions, %u calls ended the process with a message, %u failures\n",
           COUNT(functions), ended, failures);
    return failures != 0;
}
