/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes with sessions and no world start children, and their first half accepts the second. */
#include "check.h"

static MPI_Comm communicator_of(MPI_Session session, const char* set) {
    MPI_Group group;
    MPI_Comm communicator;
    OK(MPI_Group_from_session_pset(session, set, &group));
    OK(MPI_Comm_create_from_group(group, "meet", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                  &communicator));
    OK(MPI_Group_free(&group));
    return communicator;
}

static void add_up(MPI_Comm other, int of_others) {
    const int one = 1;
    int sum = 0;
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other));
    CHECK(sum == of_others);
    OK(MPI_Comm_disconnect(&other));
}

static int child(MPI_Comm parent) {
    int size = 0;
    OK(MPI_Comm_remote_size(parent, &size));
    add_up(parent, size);
    OK(MPI_Finalize());
    return 0;
}

static void spawn(const char* program, MPI_Comm all, int size) {
    char* arguments[] = {"child", NULL};
    int codes[2];
    MPI_Comm children;
    OK(MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, size - 1, all, &children, codes));
    CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    add_up(children, 2);
}

static void meet(MPI_Comm all, int rank, int size) {
    const int accepts = rank < size / 2;
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0) OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, all));
    MPI_Comm half, other;
    OK(MPI_Comm_split(all, accepts, rank, &half));
    if (accepts)
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other));
    else
        OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other));
    add_up(other, accepts ? size - size / 2 : size / 2);
    OK(MPI_Comm_free(&half));
    if (rank == 0) OK(MPI_Close_port(port));
}

int main(int argc, char** argv) {
    if (argc > 1) {
        MPI_Comm parent;
        OK(MPI_Init(&argc, &argv));
        OK(MPI_Comm_get_parent(&parent));
        return child(parent);
    }
    MPI_Session session;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    MPI_Comm all = communicator_of(session, "mpi://WORLD");
    int rank = -1, size = -1;
    OK(MPI_Comm_rank(all, &rank));
    OK(MPI_Comm_size(all, &size));
    for (int round = 0; round < 3; ++round) {
        spawn(argv[0], all, size);
        if (size > 1) meet(all, rank, size);
    }
    OK(MPI_Comm_free(&all));
    OK(MPI_Session_finalize(&session));
    return 0;
}
