/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles and data symbols of libmpi.so.12. */

#include "face.h"

/* ---- Handles ---- */

#define CODE(name, Handle, X)                                                                     \
    INTERNAL uintptr_t predefined_##name(unsigned handle);                                        \
    void* known_##name[known_objects];                                                            \
    static unsigned first_##name(void) { return 0xC0000000u | (unsigned)kind_##name << 26; }      \
    static void remember_##name(unsigned number, MPI_##Handle handle) {                           \
        const unsigned place = number - handle_constants;                                         \
        if (place < known_objects)                                                                \
            __atomic_store_n(&known_##name[place], (void*)handle, __ATOMIC_RELAXED);              \
    }                                                                                             \
    MPI_##Handle other_##name##_in(F_##Handle handle) {                                           \
        const unsigned number = (unsigned)handle - first_##name();                                \
        if (number >= handle_constants && number < 1u << 26) {                                    \
            const MPI_##Handle found = heddle.X##_fromint((int)number); /* null: there is none */ \
            return (uintptr_t)found < handle_constants ? NULL : found;                            \
        }                                                                                         \
        return (MPI_##Handle)predefined_##name((unsigned)handle);                                 \
    }                                                                                             \
    F_##Handle dynamic_##name##_out(MPI_##Handle handle) {                                        \
        const unsigned number = (unsigned)heddle.X##_toint(handle);                               \
        if (number < handle_constants) return 0;                                                  \
        remember_##name(number, handle);                                                          \
        return (F_##Handle)(first_##name() + number);                                             \
    }
CODE(comm, Comm, Comm)
CODE(type, Datatype, Type)
CODE(errhandler, Errhandler, Errhandler)
CODE(group, Group, Group)
CODE(info, Info, Info)
CODE(message, Message, Message)
CODE(op, Op, Op)
CODE(session, Session, Session)
CODE(win, Win, Win)

INTERNAL uintptr_t predefined_request(unsigned handle);
void describe_handles(HeddleFace* face) {
    face->comm_world = (unsigned)F_MPI_COMM_WORLD;
    face->request_null = (unsigned)F_MPI_REQUEST_NULL;
    face->types = types_by_last_byte;
    face->comms = (HeddleKnown){first_comm() + handle_constants, known_comm};
    face->datatypes = (HeddleKnown){first_type() + handle_constants, known_type};
    face->windows = (HeddleKnown){first_win() + handle_constants, known_win};
    face->requests =
        (HeddleRequestHalves){{HEDDLE_NO_HALF, HEDDLE_NO_HALF}, {HEDDLE_NO_WHOLE, HEDDLE_NO_WHOLE}};
}

MPI_Request other_request_in(F_Request handle) {
    if ((handle & request_bits) != other_half)
        return (MPI_Request)predefined_request((unsigned)handle);
    const MPI_Request request = heddle.Request_fromint(handle - other_half);
    const unsigned half = (unsigned)((uintptr_t)request >> 32);
    const bool has_bits = half == kept->requests.halves[0] || half == kept->requests.halves[1];
    return request == MPI_REQUEST_NULL || has_bits ? NULL : request; /* it has only one handle */
}
/* Sets a half that is still unset. Returns false if it is set to another. The table is right
 * before the half is visible. */
static bool has_half(int place, int bits, unsigned half) {
    static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
    unsigned* of = &kept->requests.halves[place];
    pthread_mutex_lock(&guard);
    if (*of == HEDDLE_NO_HALF) {
        __atomic_store_n(&kept->requests.whole_of_bit[place],
                         ((uint64_t)half << 32) - (uint64_t)bits, __ATOMIC_RELAXED);
        __atomic_store_n(of, half, __ATOMIC_RELEASE);
    }
    const bool found = *of == half;
    pthread_mutex_unlock(&guard);
    return found;
}
F_Request other_request_out(MPI_Request handle) {
    const unsigned half = (unsigned)((uintptr_t)handle >> 32), lower = (unsigned)(uintptr_t)handle;
    const int bits = has_half(0, half_0, half) ? half_0
        : has_half(1, half_1, half)            ? half_1
                                               : other_half;
    return (F_Request)(lower + (unsigned)bits);
}
int without_request(int outcome, MPI_Request standard, F_Request* request) {
    if (standard != (MPI_Request)untouched) *request = request_out(standard);
    return error_out(outcome);
}

/* ---- Data ---- */

#define DATA(type, name, value) \
    extern EXPORTED type name;  \
    type name = value;

/* The names are macros of the standard ABI's header. */
enum { unweighted_value = 10, weights_empty_value = 11, all_handles_value = 1 };
_Static_assert((intptr_t)MPI_UNWEIGHTED == unweighted_value &&
                   (intptr_t)MPI_WEIGHTS_EMPTY == weights_empty_value &&
                   (intptr_t)MPI_T_PVAR_ALL_HANDLES == all_handles_value,
               "values of the standard ABI");
#undef MPI_UNWEIGHTED
#undef MPI_WEIGHTS_EMPTY
#undef MPI_T_PVAR_ALL_HANDLES
DATA(int* const, MPI_UNWEIGHTED, (int*)unweighted_value)
DATA(int* const, MPI_WEIGHTS_EMPTY, (int*)weights_empty_value)
DATA(const MPI_T_pvar_handle, MPI_T_PVAR_ALL_HANDLES, (MPI_T_pvar_handle)all_handles_value)

static F_Status ignored[2];
DATA(MPI_Fint*, MPI_F_STATUS_IGNORE, (MPI_Fint*)&ignored[0])
DATA(MPI_Fint*, MPI_F_STATUSES_IGNORE, (MPI_Fint*)&ignored[1])
DATA(F_Status, MPIR_F08_MPI_STATUS_IGNORE_OBJ, {0})
EXPORTED F_Status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
DATA(F_Status*, MPI_F08_STATUS_IGNORE, &MPIR_F08_MPI_STATUS_IGNORE_OBJ)
DATA(F_Status*, MPI_F08_STATUSES_IGNORE, MPIR_F08_MPI_STATUSES_IGNORE_OBJ)
DATA(int, MPIR_F08_MPI_IN_PLACE, 0)
DATA(int, MPIR_F08_MPI_BOTTOM, 0)
