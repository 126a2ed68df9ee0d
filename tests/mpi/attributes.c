/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of communicators (MPI 5.0, 7.7). */
#include "check.h"

static int copies, deletions, deleted[8];
static int refuse_deletion, refuse_copy;

static int copy_double(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
    (void)comm, (void)keyval;
    ++copies;
    if (refuse_copy) return MPI_ERR_OTHER;
    CHECK(extra == (void*)77);
    *(void**)out = (void*)(2 * (long)in);
    *flag = (long)in != 13; /* value 13 is not copied */
    return MPI_SUCCESS;
}
static int note_deletion(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)extra;
    if (refuse_deletion) return MPI_ERR_OTHER;
    deleted[deletions++ % 8] = (int)(long)value;
    return MPI_SUCCESS;
}

static long value_of(MPI_Comm comm, int keyval) {
    void* value = (void*)-1;
    int flag = 0;
    OK(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    return flag ? (long)value : -1;
}

static void predefined(MPI_Comm comm) {
    int* value = NULL;
    int flag = 0, size;
    OK(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value == 0x7fffffff);
    OK(MPI_Comm_get_attr(comm, MPI_WTIME_IS_GLOBAL, &value, &flag));
    CHECK(flag && *value == 1);
    OK(MPI_Comm_get_attr(comm, MPI_IO, &value, &flag));
    CHECK(flag && *value == MPI_ANY_SOURCE);
    OK(MPI_Comm_get_attr(comm, MPI_HOST, &value, &flag));
    CHECK(flag && *value == MPI_PROC_NULL);
    OK(MPI_Comm_get_attr(comm, MPI_UNIVERSE_SIZE, &value, &flag));
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(!flag || *value >= size);
    FAILS(MPI_Comm_set_attr(comm, MPI_TAG_UB, &size), MPI_ERR_KEYVAL);
    FAILS(MPI_Comm_delete_attr(comm, MPI_TAG_UB), MPI_ERR_KEYVAL);
    size = MPI_TAG_UB;
    FAILS(MPI_Comm_free_keyval(&size), MPI_ERR_KEYVAL);
}

static void copying_and_deleting(void) {
    int doubled, same, private, freed;
    MPI_Comm comm, copy;
    OK(MPI_Comm_create_keyval(copy_double, note_deletion, &doubled, (void*)77));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &same, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_deletion, &private, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK(value_of(comm, doubled) == -1);
    OK(MPI_Comm_set_attr(comm, doubled, (void*)5));
    OK(MPI_Comm_set_attr(comm, same, (void*)6));
    OK(MPI_Comm_set_attr(comm, private, (void*)7));
    CHECK(value_of(comm, doubled) == 5 && value_of(comm, same) == 6 &&
          value_of(comm, private) == 7);
    OK(MPI_Comm_dup(comm, &copy));
    CHECK(copies == 1);
    CHECK(value_of(copy, doubled) == 10 && value_of(copy, same) == 6 &&
          value_of(copy, private) == -1);
    OK(MPI_Comm_set_attr(copy, doubled, (void*)13)); /* deletes 10 */
    CHECK(deletions == 1 && deleted[0] == 10);
    MPI_Comm grandchild;
    OK(MPI_Comm_dup(copy, &grandchild));
    CHECK(value_of(grandchild, doubled) == -1 && value_of(grandchild, same) == 6);
    OK(MPI_Comm_free(&grandchild));

    refuse_copy = 1;
    FAILS(MPI_Comm_dup(comm, &grandchild), MPI_ERR_OTHER);
    CHECK(grandchild == MPI_COMM_NULL);
    refuse_copy = 0;
    refuse_deletion = 1;
    FAILS(MPI_Comm_delete_attr(copy, doubled), MPI_ERR_OTHER);
    FAILS(MPI_Comm_free(&copy), MPI_ERR_OTHER);
    CHECK(value_of(copy, doubled) == 13);
    refuse_deletion = 0;

    freed = doubled;
    OK(MPI_Comm_free_keyval(&freed));
    CHECK(freed == MPI_KEYVAL_INVALID);
    FAILS(MPI_Comm_set_attr(comm, MPI_KEYVAL_INVALID, (void*)1), MPI_ERR_KEYVAL);
    deletions = 0;
    OK(MPI_Comm_free(&copy)); /* a freed key still deletes */
    CHECK(deletions == 1 && deleted[0] == 13);
    OK(MPI_Comm_delete_attr(comm, private));
    CHECK(deletions == 2 && deleted[1] == 7);
    OK(MPI_Comm_free(&comm));
    CHECK(deletions == 3 && deleted[2] == 5);
    OK(MPI_Comm_free_keyval(&same));
    OK(MPI_Comm_free_keyval(&private));
}

/* The number of a key that was freed is valid while an attribute refers to it. */
static void freed_key(void) {
    int key, saved, copy;
    MPI_Comm comm, other;
    void* value;
    int flag;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_deletion, &key, NULL));
    OK(MPI_Comm_set_attr(comm, key, (void*)1));
    saved = copy = key;
    OK(MPI_Comm_free_keyval(&key));
    deletions = 0;
    CHECK(value_of(comm, saved) == 1 && value_of(other, saved) == -1);
    OK(MPI_Comm_set_attr(comm, saved, (void*)2));
    OK(MPI_Comm_set_attr(other, saved, (void*)3));
    CHECK(deletions == 1 && deleted[0] == 1);
    OK(MPI_Comm_free_keyval(&copy)); /* freeing a copy, too, is allowed */
    CHECK(copy == MPI_KEYVAL_INVALID);
    OK(MPI_Comm_delete_attr(comm, saved));
    CHECK(deletions == 2 && deleted[1] == 2 && value_of(other, saved) == 3);
    FAILS(MPI_Type_free_keyval(&(int){saved}), MPI_ERR_KEYVAL);
    OK(MPI_Comm_free(&other));
    CHECK(deletions == 3 && deleted[2] == 3);
    /* The deletion of the last attribute has freed the key. */
    FAILS(MPI_Comm_get_attr(comm, saved, &value, &flag), MPI_ERR_KEYVAL);
    FAILS(MPI_Comm_set_attr(comm, saved, NULL), MPI_ERR_KEYVAL);
    FAILS(MPI_Comm_delete_attr(comm, saved), MPI_ERR_KEYVAL);
    copy = saved;
    OK(MPI_Comm_free_keyval(&copy));
    copy = saved + 1000; /* this was never a key */
    FAILS(MPI_Comm_free_keyval(&copy), MPI_ERR_KEYVAL);
    OK(MPI_Comm_free(&comm));
}

static void old_names(void) {
    int keyval, flag;
    void* value;
    OK(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &keyval, NULL));
    OK(MPI_Attr_put(MPI_COMM_WORLD, keyval, (void*)9));
    OK(MPI_Attr_get(MPI_COMM_WORLD, keyval, &value, &flag));
    CHECK(flag && value == (void*)9);
    OK(MPI_Attr_delete(MPI_COMM_WORLD, keyval));
    OK(MPI_Attr_get(MPI_COMM_WORLD, keyval, &value, &flag));
    CHECK(!flag);
    OK(MPI_Keyval_free(&keyval));
}

/* MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the latest first. MPI still works
 * then. */
static int at_finalize(MPI_Comm comm, int keyval, void* value, void* extra) {
    int rank, finalized;
    (void)extra;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Finalized(&finalized));
    CHECK(!finalized);
    return note_deletion(comm, keyval, value, extra);
}

int main(void) {
    int rank, size, keys[3];
    start(&rank, &size, MPI_THREAD_SINGLE);
    predefined(MPI_COMM_WORLD);
    predefined(MPI_COMM_SELF);
    copying_and_deleting();
    freed_key();
    old_names();
    for (int i = 0; i < 3; ++i) {
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &keys[i], NULL));
        OK(MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void*)(long)(i + 1)));
    }
    deletions = 0;
    MPI_Finalize();
    if (deletions != 3 || deleted[0] != 3 || deleted[1] != 2 || deleted[2] != 1) {
        fprintf(stderr, "attributes of MPI_COMM_SELF were deleted in a wrong order\n");
        return 1;
    }
    return 0;
}
