// SPDX-License-Identifier: BSD-3-Clause
/* Children of MPI_Comm_spawn: this program starts itself. */
#include "check.h"

static int child(MPI_Comm parent, char* argument) {
    int rank, size, remote, *appnum, found;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_remote_size(parent, &remote);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &found);
    CHECK(found && *appnum == atoi(argument));
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm_get_name(parent, name, &length);
    CHECK(strcmp(name, "MPI_COMM_PARENT") == 0);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, parent);
    CHECK(sum == remote * (remote - 1) / 2);
    MPI_Comm all;
    MPI_Intercomm_merge(parent, 1, &all);
    int place;
    MPI_Comm_rank(all, &place);
    CHECK(place == rank + remote);
    MPI_Send(&size, 1, MPI_INT, 0, 5, all);
    MPI_Comm_disconnect(&all);
    MPI_Comm_disconnect(&parent);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    MPI_Finalize();
    return 0;
}

static void talk(MPI_Comm children, int expected, int codes[]) {
    int rank, size, remote;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_remote_size(children, &remote);
    CHECK(remote == expected);
    for (int i = 0; i < remote; ++i) CHECK(codes[i] == MPI_SUCCESS);
    int sum = -1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, children);
    CHECK(sum == remote * (remote - 1) / 2);
    MPI_Comm all;
    MPI_Intercomm_merge(children, 0, &all);
    for (int i = 0; rank == 0 && i < remote; ++i) {
        int of_child = 0;
        MPI_Recv(&of_child, 1, MPI_INT, size + i, 5, all, MPI_STATUS_IGNORE);
        CHECK(of_child == remote);
    }
    MPI_Comm_disconnect(&all);
    MPI_Comm_disconnect(&children);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) return child(parent, argv[1]);

    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm children;
    int codes[3];
    for (int round = 0; round < 3; ++round) {
        char* arguments[] = {"0", NULL};
        MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &children,
                       codes);
        talk(children, 2, codes);
    }
    char* commands[] = {argv[0], argv[0]};
    char *first[] = {"0", NULL}, *second[] = {"1", NULL};
    char** arguments[] = {first, second};
    const int numbers[] = {1, 2};
    const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm_spawn_multiple(2, commands, arguments, numbers, infos, 0, MPI_COMM_WORLD, &children,
                            codes);
    talk(children, 3, codes);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    codes[0] = codes[1] = MPI_SUCCESS;
    int error = MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0,
                               MPI_COMM_WORLD, &children, codes);
    int class;
    MPI_Error_class(error, &class);
    CHECK(class == MPI_ERR_SPAWN && children == MPI_COMM_NULL);
    CHECK(codes[0] == MPI_ERR_SPAWN && codes[1] == MPI_ERR_SPAWN);
    error = MPI_Comm_spawn("true", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                           MPI_ERRCODES_IGNORE);
    MPI_Error_class(error, &class);
    CHECK(class == MPI_ERR_SPAWN);
    if (rank == 0) {
        char text[MPI_MAX_ERROR_STRING];
        MPI_Error_string(error, text, &size);
        CHECK(strstr(text, "MPI_Comm_spawn") != NULL);
        CHECK(strstr(text, "'true' process ") != NULL);
        puts("spawn: fine");
    }
    MPI_Finalize();
    return 0;
}
