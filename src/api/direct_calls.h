/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of libmpi_abi.so.1 that take handles and statuses of another ABI unconverted: those that
 * programs make most.
 *
 * A face gives the library a HeddleFace: what the library must know of the ABI, and functions that
 * convert unusual values. The face gets a table of functions, by the numbers below. They have the
 * parameters of the ABI's own functions, and return the ABI's error codes.
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
/* The same for a handle that is an address. An element lies at the lower bits of its address. So no
 * two elements overlap. */
typedef struct {
    const void* address;
    uintptr_t standard;
} __attribute__((may_alias, aligned(1))) HeddleAddress;

/* The conversion of requests' integers to addresses. An integer is a lower half, and its six lowest
 * bits tell the upper half. A half is set when the first request with it is given out. It stays. */
enum { heddle_half_0 = 1, heddle_half_1 = 9, heddle_other_half = 2 };
#define HEDDLE_NO_HALF 0xFFFFFFFFu
#define HEDDLE_NO_WHOLE ((uint64_t)1 << 63) /* no address is near */
typedef struct {
    unsigned halves[2]; /* of addresses; HEDDLE_NO_HALF until set */
    /* The number to add to a handle to get the address, by the bit in which half_0 and half_1
     * differ. HEDDLE_NO_WHOLE until set. */
    uint64_t whole_of_bit[2];
} HeddleRequestHalves;

/* Objects with consecutive integers: the addresses of those that were handed out, by integer. */
enum { heddle_known_objects = 1024 };
typedef struct {
    unsigned first;
    void* const* objects;
} HeddleKnown;

typedef struct {
    /* Handles as programs pass them. */
    uintptr_t comm_world, request_null;
    int proc_null;
    /* Datatypes: HeddleInteger by the last byte, or HeddleAddress by the lower 16 bits. */
    const void* types;
    HeddleKnown comms, datatypes, windows; /* of integers */
    HeddleRequestHalves requests;          /* of integers */

    /* These convert any value, like the face's own functions. */
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
    void (*status_out)(const MPI_Status* from, void* to); /* fields that are not heddle_unwritten */
    HeddleDirectCall* long_calls[heddle_direct_calls_end]; /* the face's own */
} HeddleFace;

/* Marks the fields of a status that the library may write to. */
enum { heddle_unwritten = -2147483646 };
static inline MPI_Status* heddle_blank(MPI_Status* status) {
    status->MPI_ERROR = heddle_unwritten;
    status->MPI_internal[2] = heddle_unwritten;
    return status;
}

/* The type of heddle_integer_calls() and heddle_address_calls(). They keep a copy of the face. From
 * then on both sides use the requests in the copy. */
typedef HeddleDirectCall* const* HeddleDirectCallsOf(const HeddleFace* face, HeddleFace** kept);

#endif
