/* SPDX-License-Identifier: BSD-3-Clause */
/* C functions that stand for functions of a program: operations and error handlers.
 *
 * Such a function has no argument to identify the program's function. So there are 256 of each
 * kind, each for one function of the program. They are never given back: a pending call may
 * still use an operation that was freed. A function that is passed again gets the same one.
 *
 * CALLBACKS(name, Function, DEFINITION, NAMES) makes NAME_calling(procedure). It returns one of
 * 256 functions of the type Function, or NULL if all are in use. DEFINITION(n) defines NAME_n,
 * which finds the program's function in NAME_table.procedures[0xn]. NAMES(n) is `NAME_n,`.
 */
#ifndef HEDDLE_FOREIGN_CALLBACKS_H
#define HEDDLE_FOREIGN_CALLBACKS_H

#include <pthread.h>
#include <stddef.h>

enum { callbacks_of_a_kind = 256 };

typedef void Procedure(void); /* a function of the program before its arguments are known */

typedef struct {
    Procedure* _Atomic procedures[callbacks_of_a_kind];
} CallbackTable;

/* Returns the index of a procedure, or -1. */
static inline int place_for(CallbackTable* table, Procedure* procedure) {
    static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
    int place = 0;
    pthread_mutex_lock(&guard);
    while (place < callbacks_of_a_kind && table->procedures[place] != NULL &&
           table->procedures[place] != procedure)
        ++place;
    if (place < callbacks_of_a_kind) table->procedures[place] = procedure;
    pthread_mutex_unlock(&guard);
    return place < callbacks_of_a_kind ? place : -1;
}

/* Numbers of two hexadecimal digits, 00 to ff. */
/* clang-format off */
#define SIXTEEN_CALLBACKS(X, digit)                                                                \
    X(digit##0) X(digit##1) X(digit##2) X(digit##3) X(digit##4) X(digit##5) X(digit##6) X(digit##7)\
    X(digit##8) X(digit##9) X(digit##a) X(digit##b) X(digit##c) X(digit##d) X(digit##e) X(digit##f)
#define ALL_CALLBACKS(X)                                                                           \
    SIXTEEN_CALLBACKS(X, 0) SIXTEEN_CALLBACKS(X, 1) SIXTEEN_CALLBACKS(X, 2) SIXTEEN_CALLBACKS(X, 3)\
    SIXTEEN_CALLBACKS(X, 4) SIXTEEN_CALLBACKS(X, 5) SIXTEEN_CALLBACKS(X, 6) SIXTEEN_CALLBACKS(X, 7)\
    SIXTEEN_CALLBACKS(X, 8) SIXTEEN_CALLBACKS(X, 9) SIXTEEN_CALLBACKS(X, a) SIXTEEN_CALLBACKS(X, b)\
    SIXTEEN_CALLBACKS(X, c) SIXTEEN_CALLBACKS(X, d) SIXTEEN_CALLBACKS(X, e) SIXTEEN_CALLBACKS(X, f)
/* clang-format on */

#define CALLBACKS(name, Function, DEFINITION, NAMES)                 \
    static CallbackTable name##_table;                               \
    ALL_CALLBACKS(DEFINITION)                                        \
    Function* name##_calling(Procedure* procedure) {                 \
        static Function* const callbacks[] = {ALL_CALLBACKS(NAMES)}; \
        const int place = place_for(&name##_table, procedure);       \
        return place < 0 ? NULL : callbacks[place];                  \
    }

#endif
