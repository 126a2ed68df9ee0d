/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of datatypes (MPI 5.0, 7.7.4). */
#include "check.h"

static int copies, deletions, refuse_copy, refuse_deletion;
static MPI_Datatype last_type;

static int copy_double(MPI_Datatype type, int keyval, void* extra, void* in, void* out, int* flag) {
    (void)keyval;
    ++copies;
    last_type = type;
    if (refuse_copy) return MPI_ERR_OTHER;
    CHECK(extra == (void*)7);
    *(void**)out = (void*)(2 * (long)in);
    *flag = (long)in != 13;
    return MPI_SUCCESS;
}
static int note_deletion(MPI_Datatype type, int keyval, void* value, void* extra) {
    (void)keyval, (void)value, (void)extra;
    last_type = type;
    if (refuse_deletion) return MPI_ERR_OTHER;
    ++deletions;
    return MPI_SUCCESS;
}

static long value_of(MPI_Datatype type, int keyval) {
    void* value = NULL;
    int flag = 0;
    OK(MPI_Type_get_attr(type, keyval, &value, &flag));
    return flag ? (long)value : -1;
}

int main(void) {
    int rank, size, doubled, same, none, of_comm;
    MPI_Datatype type, copy;
    start(&rank, &size, MPI_THREAD_SINGLE);
    OK(MPI_Type_create_keyval(copy_double, note_deletion, &doubled, (void*)7));
    OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &same, NULL));
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, note_deletion, &none, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &of_comm, NULL));
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK(value_of(type, doubled) == -1);
    OK(MPI_Type_set_attr(type, doubled, (void*)5));
    OK(MPI_Type_set_attr(type, same, (void*)6));
    OK(MPI_Type_set_attr(type, none, (void*)8));
    OK(MPI_Type_set_attr(MPI_INT, same, (void*)9)); /* predefined types have attributes, too */
    CHECK(value_of(MPI_INT, same) == 9 && value_of(MPI_LONG, same) == -1);

    OK(MPI_Type_dup(type, &copy));
    CHECK(copies == 1 && last_type == type);
    CHECK(value_of(copy, doubled) == 10 && value_of(copy, same) == 6 && value_of(copy, none) == -1);
    OK(MPI_Type_set_attr(copy, doubled, (void*)13));
    CHECK(deletions == 1 && last_type == copy);
    OK(MPI_Type_free(&copy));
    CHECK(deletions == 2);

    refuse_copy = 1;
    CHECK(MPI_Type_dup(type, &copy) != MPI_SUCCESS);
    CHECK(copy == MPI_DATATYPE_NULL);
    refuse_copy = 0;
    refuse_deletion = 1;
    CHECK(MPI_Type_delete_attr(type, doubled) != MPI_SUCCESS);
    CHECK(value_of(type, doubled) == 5);
    refuse_deletion = 0;
    OK(MPI_Type_delete_attr(type, doubled));
    CHECK(value_of(type, doubled) == -1 && deletions == 3);

    /* Keys of another kind, of no kind, and freed ones are refused. */
    FAILS(MPI_Type_set_attr(type, of_comm, NULL), MPI_ERR_KEYVAL);
    FAILS(MPI_Comm_set_attr(MPI_COMM_SELF, same, NULL), MPI_ERR_KEYVAL);
    FAILS(MPI_Comm_free_keyval(&same), MPI_ERR_KEYVAL);
    FAILS(MPI_Type_set_attr(type, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL);
    FAILS(MPI_Type_set_attr(type, MPI_TAG_UB, NULL), MPI_ERR_KEYVAL);
    FAILS(MPI_Type_set_attr(MPI_DATATYPE_NULL, same, NULL), MPI_ERR_TYPE);
    FAILS(MPI_Type_get_attr(type, same, NULL, &size), MPI_ERR_ARG);
    FAILS(MPI_Type_delete_attr(type, 4711), MPI_ERR_KEYVAL);
    int freed = same;
    OK(MPI_Type_free_keyval(&same));
    CHECK(same == MPI_KEYVAL_INVALID);
    OK(MPI_Type_set_attr(type, freed, (void*)8)); /* in use, and therefore still valid */
    CHECK(value_of(type, freed) == 8);
    OK(MPI_Type_free(&type));
    CHECK(deletions == 4);
    OK(MPI_Type_free_keyval(&doubled));
    OK(MPI_Type_free_keyval(&none));
    OK(MPI_Comm_free_keyval(&of_comm));
    MPI_Finalize();
    return 0;
}
