/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects (MPI 5.0, 10), before MPI_Init, between, and after MPI_Finalize. */
#include "check.h"

static void set_and_get(void) {
    MPI_Info info, copy;
    char value[MPI_MAX_INFO_VAL], key[MPI_MAX_INFO_KEY];
    int flag, length, count;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "loom", "heddle"));
    OK(MPI_Info_set(info, "weft", "thread"));
    OK(MPI_Info_set(info, "loom", "shuttle"));
    OK(MPI_Info_get_nkeys(info, &count));
    CHECK(count == 2);
    OK(MPI_Info_get_nthkey(info, 0, key));
    CHECK(strcmp(key, "loom") == 0);
    OK(MPI_Info_get_nthkey(info, 1, key));
    CHECK(strcmp(key, "weft") == 0);
    OK(MPI_Info_get(info, "loom", MPI_MAX_INFO_VAL - 1, value, &flag));
    CHECK(flag && strcmp(value, "shuttle") == 0);
    OK(MPI_Info_get(info, "loom", 3, value, &flag)); /* cut */
    CHECK(flag && strcmp(value, "shu") == 0);
    OK(MPI_Info_get_valuelen(info, "weft", &length, &flag));
    CHECK(flag && length == 6);
    length = 0;
    OK(MPI_Info_get_string(info, "weft", &length, NULL, &flag));
    CHECK(flag && length == 7);
    length = 4;
    OK(MPI_Info_get_string(info, "weft", &length, value, &flag));
    CHECK(flag && length == 7 && strcmp(value, "thr") == 0);
    length = 4;
    OK(MPI_Info_get_string(info, "warp", &length, value, &flag));
    CHECK(!flag && length == 4);
    OK(MPI_Info_dup(info, &copy));
    OK(MPI_Info_delete(info, "loom"));
    OK(MPI_Info_get(info, "loom", 10, value, &flag));
    CHECK(!flag);
    OK(MPI_Info_get(copy, "loom", 10, value, &flag));
    CHECK(flag);
    OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL);
    OK(MPI_Info_free(&copy));
}

static void environment(void) {
    int flag, count;
    char value[MPI_MAX_INFO_VAL];
    OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &count));
    CHECK(count > 0);
    OK(MPI_Info_get(MPI_INFO_ENV, "command", MPI_MAX_INFO_VAL - 1, value, &flag));
    CHECK(flag && strstr(value, "info") != NULL);
    MPI_Info info;
    char* arguments[] = {(char*)"weave", (char*)"-n", (char*)"3", NULL};
    OK(MPI_Info_create_env(3, arguments, &info));
    OK(MPI_Info_get(info, "command", MPI_MAX_INFO_VAL - 1, value, &flag));
    CHECK(flag && strcmp(value, "weave") == 0);
    OK(MPI_Info_get(info, "argv", MPI_MAX_INFO_VAL - 1, value, &flag));
    CHECK(flag && strcmp(value, "-n 3") == 0);
    OK(MPI_Info_free(&info));
}

static void wrong(void) {
    MPI_Info info, stale, null = MPI_INFO_NULL, env = MPI_INFO_ENV;
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
    int flag;
    memset(value, 'v', sizeof value);
    memset(key, 'k', sizeof key);
    value[MPI_MAX_INFO_VAL] = key[MPI_MAX_INFO_KEY] = '\0';
    OK(MPI_Info_create(&info));
    FAILS(MPI_Info_set(info, key, "x"), MPI_ERR_INFO_KEY);
    FAILS(MPI_Info_set(info, "", "x"), MPI_ERR_INFO_KEY);
    FAILS(MPI_Info_set(info, NULL, "x"), MPI_ERR_INFO_KEY);
    FAILS(MPI_Info_set(info, "x", value), MPI_ERR_INFO_VALUE);
    FAILS(MPI_Info_set(info, "x", NULL), MPI_ERR_INFO_VALUE);
    key[MPI_MAX_INFO_KEY - 1] = value[MPI_MAX_INFO_VAL - 1] = '\0';
    OK(MPI_Info_set(info, key, value)); /* as long as may be */
    FAILS(MPI_Info_delete(info, "x"), MPI_ERR_INFO_NOKEY);
    FAILS(MPI_Info_get(MPI_INFO_NULL, "x", 1, value, &flag), MPI_ERR_INFO);
    FAILS(MPI_Info_get(info, "x", 1, NULL, &flag), MPI_ERR_ARG);
    FAILS(MPI_Info_get_nthkey(info, 1, key), MPI_ERR_ARG);
    FAILS(MPI_Info_get_nthkey(info, -1, key), MPI_ERR_ARG);
    int negative = -1;
    FAILS(MPI_Info_get_string(info, "weft", &negative, key, &flag), MPI_ERR_ARG);
    FAILS(MPI_Info_set(MPI_INFO_ENV, "x", "y"), MPI_ERR_INFO);
    FAILS(MPI_Info_free(&env), MPI_ERR_INFO);
    FAILS(MPI_Info_free(&null), MPI_ERR_INFO);
    stale = info;
    OK(MPI_Info_free(&info));
    FAILS(MPI_Info_free(&stale), MPI_ERR_INFO);
}

int main(void) {
    set_and_get();
    environment();
    int rank, size;
    start(&rank, &size, MPI_THREAD_SINGLE);
    set_and_get();
    environment();
    wrong();
    MPI_Finalize();
    set_and_get();
    return 0;
}
