/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions and new processes. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "every_call.h"

/* ---- Sessions ---- */

static void sessions(void) {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group group;
    MPI_Info info;
    MPI_Comm comm;
    int number = -1, length = 0, flag = 0;
    char name[MPI_MAX_PSET_NAME_LEN] = "", value[16] = "";
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(MPI_Session_f2c(MPI_Session_c2f(session)) == session);
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &number));
    CHECK(number >= 2);
    length = sizeof name;
    OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name));
    CHECK(length == (int)strlen(name) + 1);
    OK(MPI_Session_get_pset_info(session, "mpi://WORLD", &info));
    OK(MPI_Info_get(info, "mpi_size", sizeof value - 1, value, &flag));
    CHECK(flag && atoi(value) == size);
    OK(MPI_Info_free(&info));
    OK(MPI_Session_get_info(session, &info));
    OK(MPI_Info_free(&info));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "every_call", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Comm_size(comm, &number));
    CHECK(number == size);
    OK(MPI_Comm_free(&comm));
    if (size == 2) {
        MPI_Group mine, its;
        OK(MPI_Group_incl(group, 1, &rank, &mine));
        OK(MPI_Group_incl(group, 1, &right, &its));
        OK(MPI_Intercomm_create_from_groups(mine, 0, its, 0, "two of them", MPI_INFO_NULL,
                                            MPI_ERRORS_RETURN, &comm));
        OK(MPI_Comm_remote_size(comm, &number));
        CHECK(number == 1);
        OK(MPI_Comm_free(&comm));
        OK(MPI_Group_free(&mine));
        OK(MPI_Group_free(&its));
    }
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
}

/* ---- Processes ---- */

static void ports(void) {
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "", service[64];
    MPI_Comm other;
    int is = -1;
    snprintf(service, sizeof service, "every_call %d", rank == 0 ? (int)getpid() : 0);
    OK(MPI_Bcast(service, sizeof service, MPI_CHAR, 0, world));
    if (rank == 0) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        OK(MPI_Publish_name(service, MPI_INFO_NULL, port));
    }
    OK(MPI_Barrier(world));
    if (rank == 0) {
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other));
    } else {
        OK(MPI_Lookup_name(service, MPI_INFO_NULL, found));
        OK(MPI_Comm_connect(found, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other));
    }
    OK(MPI_Comm_remote_size(other, &is));
    CHECK(is == 1);
    OK(MPI_Comm_disconnect(&other));
    if (rank == 0) {
        OK(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
        OK(MPI_Close_port(port));
    }
    OK(MPI_Barrier(world));
}

static void sockets(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int own = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(own >= 0);
    int fd = own;
    if (rank == 0) {
        CHECK(bind(own, (struct sockaddr*)&address, length) == 0 && listen(own, 1) == 0);
        CHECK(getsockname(own, (struct sockaddr*)&address, &length) == 0);
    }
    OK(MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, world));
    if (rank == 0) {
        fd = accept(own, NULL, NULL);
        CHECK(fd >= 0);
        close(own);
    } else {
        CHECK(connect(own, (struct sockaddr*)&address, sizeof address) == 0);
    }
    MPI_Comm other = MPI_COMM_NULL;
    int is = -1;
    OK(MPI_Comm_join(fd, &other));
    CHECK(other != MPI_COMM_NULL);
    OK(MPI_Comm_remote_size(other, &is));
    CHECK(is == 1);
    OK(MPI_Comm_disconnect(&other));
    close(fd);
}

unsigned char seen_by_children[functions_of_face];
static void meet(MPI_Comm child, int children) {
    const int root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    unsigned char seen[functions_of_face];
    int number = -1;
    OK(MPI_Bcast(&size, 1, MPI_INT, root, child));
    OK(MPI_Reduce(NULL, &number, 1, MPI_INT, MPI_SUM, root, child));
    CHECK(rank != 0 || number == children * (10 + size));
    OK(MPI_Reduce(NULL, seen, functions_of_face, MPI_UNSIGNED_CHAR, MPI_MAX, root, child));
    for (int i = 0; rank == 0 && i < functions_of_face; ++i) seen_by_children[i] |= seen[i];
    OK(MPI_Comm_disconnect(&child));
}
static void children(void) {
    MPI_Comm child = MPI_COMM_NULL;
    int codes[2] = {-1, -1};
    char* words[] = {"child", NULL};
    OK(MPI_Comm_get_parent(&child));
    CHECK(child == MPI_COMM_NULL);
    OK(MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, world, &child, codes));
    CHECK(codes[0] == MPI_SUCCESS);
    meet(child, 1);

    codes[0] = codes[1] = -1;
    OK(MPI_Comm_spawn_multiple(2, (char*[]){program, program}, (char**[]){words, words},
                               (int[]){1, 1}, (MPI_Info[]){MPI_INFO_NULL, MPI_INFO_NULL}, 0, world,
                               &child, codes));
    CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    meet(child, 2);
}
int be_a_child(void) {
    MPI_Comm parent = MPI_COMM_NULL;
    int number = -1;
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_get_parent(&parent));
    CHECK(parent != MPI_COMM_NULL);
    OK(MPI_Bcast(&number, 1, MPI_INT, 0, parent));
    number += 10;
    OK(MPI_Reduce(&number, NULL, 1, MPI_INT, MPI_SUM, 0, parent));
    OK(MPI_Reduce(seen_functions, NULL, functions_of_face, MPI_UNSIGNED_CHAR, MPI_MAX, 0, parent));
    OK(MPI_Comm_disconnect(&parent));
    OK(MPI_Finalize());
    return 0;
}

void processes(void) {
    sessions();
    if (size == 2) {
        ports();
        sockets();
    }
    children();
}
