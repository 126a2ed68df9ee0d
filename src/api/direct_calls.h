/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of libmpi_abi.so.1 that take handles and statuses of another ABI as they are: those that programs make most.
 *
 * A face gives the library a Face: what it must know of the ABI, and functions that convert what is not usual. It gets
 * a table of functions, by the numbers below, with the parameters that the ABI's own functions have. They return the
 * ABI's error codes.
 */
#ifndef HEDDLE_FOREIGN_DIRECT_CALLS_H
#define HEDDLE_FOREIGN_DIRECT_CALLS_H

#include <mpi.h>
#include <stdint.h>

#define HEDDLE_DIRECT_CALLS(X) X(Send) X(Recv) X(Isend) X(Irecv) X(Wait) X(Test) X(Put) X(Get)
#define HEDDLE_DIRECT_NUMBER(name) heddle_direct_##name,
enum { HEDDLE_DIRECT_CALLS(HEDDLE_DIRECT_NUMBER) heddle_direct_calls_end };
typedef void HeddleDirectCall(void); /* before its parameters are known */

/* A predefined handle that is an integer, and the constant of the standard ABI. */
typedef struct {
    unsigned face;
    unsigned standard;
} HeddleInteger;
/* The same of an address. Elements lie at the lower bits of addresses, so that they overlap nobody but themselves. */
typedef struct {
    const void* address;
    uintptr_t standard;
} __attribute__((may_alias, aligned(1))) HeddleAddress;

/* What makes the integers of requests addresses: lower halves, of which the six lowest bits say what the upper half is.
 * A half is set when the first request with it is given out, and stays. */
enum { heddle_half_0 = 1, heddle_half_1 = 9, heddle_other_half = 2 };
#define HEDDLE_NO_HALF 0xFFFFFFFFu
#define HEDDLE_NO_WHOLE ((uint64_t)1 << 63) /* no address is near */
typedef struct {
    unsigned halves[2]; /* of addresses; HEDDLE_NO_HALF before */
    /* What makes a handle the address, by the bit that half_0 and half_1 differ in; HEDDLE_NO_WHOLE before. */
    uint64_t whole_of_bit[2];
} HeddleRequestHalves;

/* Objects whose integers follow each other: addresses of those that were given out, by integer. */
enum { heddle_known_objects = 1024 };
typedef struct {
    unsigned first;
    void* const* objects;
} HeddleKnown;

typedef struct {
    /* Handles as they are passed. */
    uintptr_t comm_world, request_null;
    int proc_null;
    /* Datatypes: HeddleInteger by the last byte, or HeddleAddress by the lower 16 bits. */
    const void* types;
    HeddleKnown comms, datatypes, windows; /* of integers */
    HeddleRequestHalves requests;          /* of integers */

    /* Convert anything, as the face's own functions do. */
    MPI_Comm (*comm_in)(uintptr_t handle);
    MPI_Datatype (*type_in)(uintptr_t handle);
    MPI_Win (*win_in)(uintptr_t handle);
    MPI_Request (*request_in)(uintptr_t handle);
    uintptr_t (*request_out)(MPI_Request handle);
    int (*rank_in)(int rank);
    int (*rank_out)(int rank);
    int (*tag_in)(int tag);
    int (*tag_out)(int tag);
    void* (*buffer_in)(const void* buffer);
    int (*error_out)(int error);
    void (*status_out)(const MPI_Status* from, void* to);  /* what is not heddle_unwritten */
    HeddleDirectCall* long_calls[heddle_direct_calls_end]; /* the face's own */
} HeddleFace;

/* Marks of a status that the library may write to. */
enum { heddle_unwritten = -2147483646 };
static inline MPI_Status* heddle_blank(MPI_Status* status) {
    status->MPI_ERROR = heddle_unwritten;
    status->MPI_internal[2] = heddle_unwritten;
    return status;
}

/* heddle_integer_calls(), heddle_address_calls(): keeps a copy of the face, whose requests both sides use from then on. */
typedef HeddleDirectCall* const* HeddleDirectCallsOf(const HeddleFace* face, HeddleFace** kept);

#endif
