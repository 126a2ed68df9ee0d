/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts that the files of this test share. */
#ifndef EVERY_CALL_H
#define EVERY_CALL_H

#include "../../mpi/check.h"

extern int rank, size, left, right;
extern MPI_Comm world; /* a duplicate of MPI_COMM_WORLD */
extern MPI_Comm ring;  /* from left, to right */
extern char path[256]; /* path of a file */
extern char* program;

enum { room = 64, most_ranks = 8 };
extern int given[room], got[room];
/* Sets given[i] = 100 rank + i and got[i] = -1. */
void fill(void);
/* Returns the sum of given[i] of the first `ranks` ranks. */
int sum(int i, int ranks);
/* Completes a request. A null request stays as it is. */
void complete(MPI_Request* request);
/* Completes a receive: its source, tag, and number of MPI_INT. */
void complete_receive(MPI_Request* request, int source, int tag, int count);
void check_status(const MPI_Status* status, int source, int tag, int count);

/* Calls the functions with counts, once with int, once with MPI_Count. */
void with_counts(void);
void with_large_counts(void);

/* Looks at a group, and frees it. */
void is_group(MPI_Group* group, int wanted, int wanted_rank);

/* The other parts of the test. */
void messages_and_requests(void);
void communicators_and_groups(void);
void objects(void);
void processes(void);
void tools(void);
int be_a_child(void);

#define LENGTH(array) ((int)(sizeof(array) / sizeof *(array)))

/* Written by every_call.py: MPI_X(...) marks X as called. */
#include "every_call_marks.h"
/* Marks of the calls that the children have made. */
extern unsigned char seen_by_children[functions_of_face];

#endif
