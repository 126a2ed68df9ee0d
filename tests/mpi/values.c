/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses, predefined and contiguous datatypes, memory, handles as integers, the ABI's own
 * queries. */
#include "check.h"

static int rank, size;

static void statuses(void) {
    MPI_Status status;
    int value, flag;
    memset(&status, 0, sizeof status);
    OK(MPI_Status_set_source(&status, 3));
    OK(MPI_Status_set_tag(&status, 4));
    OK(MPI_Status_set_error(&status, MPI_ERR_IO));
    CHECK(status.MPI_SOURCE == 3 && status.MPI_TAG == 4 && status.MPI_ERROR == MPI_ERR_IO);
    OK(MPI_Status_get_source(&status, &value));
    CHECK(value == 3);
    OK(MPI_Status_get_tag(&status, &value));
    CHECK(value == 4);
    OK(MPI_Status_get_error(&status, &value));
    CHECK(value == MPI_ERR_IO);
    OK(MPI_Status_set_cancelled(&status, 1));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    OK(MPI_Status_set_cancelled(&status, 0));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(!flag);
    OK(MPI_Status_set_elements(&status, MPI_DOUBLE, 6));
    OK(MPI_Get_count(&status, MPI_DOUBLE, &value));
    CHECK(value == 6);
    OK(MPI_Get_count(&status, MPI_INT, &value));
    CHECK(value == 12);
    OK(MPI_Get_elements(&status, MPI_DOUBLE, &value));
    CHECK(value == 6);
    OK(MPI_Status_set_elements(&status, MPI_CHAR, 7));
    OK(MPI_Get_count(&status, MPI_INT, &value));
    CHECK(value == MPI_UNDEFINED);
    MPI_Count large;
    OK(MPI_Status_set_elements_c(&status, MPI_CHAR, (MPI_Count)1 << 40));
    OK(MPI_Get_count_c(&status, MPI_CHAR, &large));
    CHECK(large == (MPI_Count)1 << 40);
    OK(MPI_Get_count(&status, MPI_CHAR, &value));
    CHECK(value == MPI_UNDEFINED);
    FAILS(MPI_Get_count(MPI_STATUS_IGNORE, MPI_CHAR, &value), MPI_ERR_ARG);
    FAILS(MPI_Get_count(&status, MPI_DATATYPE_NULL, &value), MPI_ERR_TYPE);
}

static void datatypes(void) {
    int bytes, length;
    MPI_Aint lower, extent;
    MPI_Count large;
    char name[MPI_MAX_OBJECT_NAME];
    OK(MPI_Type_size(MPI_DOUBLE, &bytes));
    CHECK(bytes == 8);
    OK(MPI_Type_size(MPI_DOUBLE_INT, &bytes));
    CHECK(bytes == 12);
    OK(MPI_Type_get_extent(MPI_DOUBLE_INT, &lower, &extent));
    CHECK(lower == 0 && extent == 16);
    OK(MPI_Type_get_true_extent(MPI_DOUBLE_INT, &lower, &extent));
    CHECK(lower == 0 && extent == 12);
    OK(MPI_Type_get_name(MPI_INT32_T, name, &length));
    CHECK(strcmp(name, "MPI_INT32_T") == 0);
    OK(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length));
    CHECK(strcmp(name, "MPI_DATATYPE_NULL") == 0);

    MPI_Datatype three, six, copy, stale, fixed = MPI_INT;
    OK(MPI_Type_contiguous(3, MPI_INT, &three));
    OK(MPI_Type_contiguous(2, three, &six));
    int data[12], got[12] = {0}, count;
    MPI_Status status;
    for (int i = 0; i < 12; ++i) data[i] = 100 * rank + i;
    /* The type is not committed. */
    FAILS(MPI_Send(data, 2, six, rank, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    OK(MPI_Type_commit(&six));
    OK(MPI_Type_size_x(six, &large));
    CHECK(large == 24);
    OK(MPI_Type_free(&three)); /* six does not need it */
    OK(MPI_Type_dup(six, &copy));
    OK(MPI_Sendrecv(data, 2, six, (rank + 1) % size, 0, got, 2, copy, (rank + size - 1) % size, 0,
                    MPI_COMM_WORLD, &status));
    for (int i = 0; i < 12; ++i) CHECK(got[i] == 100 * ((rank + size - 1) % size) + i);
    OK(MPI_Get_count(&status, six, &count));
    CHECK(count == 2);
    OK(MPI_Get_elements(&status, six, &count));
    CHECK(count == 12);
    OK(MPI_Sendrecv(data, 9, MPI_INT, rank, 0, got, 2, six, rank, 0, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, six, &count));
    CHECK(count == MPI_UNDEFINED);
    OK(MPI_Get_elements(&status, six, &count));
    CHECK(count == 9);
    OK(MPI_Type_set_name(six, "half a dozen"));
    OK(MPI_Type_get_name(six, name, &length));
    CHECK(strcmp(name, "half a dozen") == 0);
    stale = six;
    OK(MPI_Type_free(&six));
    CHECK(six == MPI_DATATYPE_NULL);
    FAILS(MPI_Type_size(stale, &bytes), MPI_ERR_TYPE);
    FAILS(MPI_Type_free(&fixed), MPI_ERR_TYPE);
    FAILS(MPI_Type_contiguous(-1, MPI_INT, &six), MPI_ERR_COUNT);
    OK(MPI_Type_free(&copy));

    OK(MPI_Status_set_elements(&status, MPI_FLOAT_INT, 2)); /* basic elements: one pair */
    OK(MPI_Get_elements(&status, MPI_FLOAT_INT, &count));
    CHECK(count == 2);
    OK(MPI_Get_count(&status, MPI_FLOAT_INT, &count));
    CHECK(count == 1);
    OK(MPI_Status_set_elements(&status, MPI_BYTE, 12));
    OK(MPI_Get_elements(&status, MPI_FLOAT_INT, &count));
    CHECK(count == 3);
}

static void memory(void) {
    void* memory = NULL;
    MPI_Info info;
    MPI_Aint a, b;
    int data[10];
    OK(MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory));
    memset(memory, 1, 1000);
    OK(MPI_Free_mem(memory));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
    OK(MPI_Alloc_mem(10, info, &memory));
    CHECK((uintptr_t)memory % 4096 == 0);
    OK(MPI_Free_mem(memory));
    OK(MPI_Info_free(&info));
    FAILS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory), MPI_ERR_ARG);
    FAILS(MPI_Alloc_mem((MPI_Aint)1 << 62, MPI_INFO_NULL, &memory), MPI_ERR_NO_MEM);
    OK(MPI_Get_address(&data[2], &a));
    OK(MPI_Get_address(&data[7], &b));
    CHECK(MPI_Aint_diff(b, a) == 5 * (MPI_Aint)sizeof(int));
    CHECK(MPI_Aint_add(a, 5 * (MPI_Aint)sizeof(int)) == b);
    OK(MPI_Pcontrol(1, "anything"));
}

/* The integers of requests match MPI_Abi_get_info, and lead back; for very many requests, too. */
static void integers_of_requests(void) {
    enum { many = 20000 };
    static MPI_Request requests[many + 1];
    MPI_Info info;
    char value[64];
    int flag = 0, data = 0;
    OK(MPI_Abi_get_info(&info));
    OK(MPI_Info_get(info, "heddle_request_toint", 63, value, &flag));
    CHECK(flag && strcmp(value, "lower half of the address") == 0);
    OK(MPI_Info_free(&info));
    for (int i = 0; i < many; ++i)
        OK(MPI_Irecv(&data, 0, MPI_INT, rank, 5, MPI_COMM_WORLD, &requests[i]));
    OK(MPI_Isend(&data, 0, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[many]));
    for (int i = 0; i <= many; ++i) {
        CHECK(MPI_Request_toint(requests[i]) == (int)(uintptr_t)requests[i]);
        CHECK(MPI_Request_fromint((int)(uintptr_t)requests[i]) == requests[i]);
    }
    CHECK(MPI_Request_fromint((int)(uintptr_t)requests[0] + 8) == MPI_REQUEST_NULL);
    CHECK(MPI_Request_toint((MPI_Request)((uintptr_t)requests[0] + 8)) == 0);
    for (int i = 0; i < many; ++i) OK(MPI_Send(&data, 0, MPI_INT, rank, 5, MPI_COMM_WORLD));
    OK(MPI_Waitall(many + 1, requests, MPI_STATUSES_IGNORE));
}

static void integers(void) {
    MPI_Comm comm;
    MPI_Group group;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Datatype type;
    MPI_Request requests[2];
    int number, in, out = 1;
    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == (int)(intptr_t)MPI_COMM_WORLD);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_SELF)) == MPI_COMM_SELF);
    CHECK(MPI_Type_fromint(MPI_Type_toint(MPI_INT)) == MPI_INT);
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    CHECK(MPI_Request_fromint(MPI_Request_toint(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    number = MPI_Comm_toint(comm);
    CHECK(number >= 4096 && MPI_Comm_fromint(number) == comm);
    CHECK(MPI_Comm_fromint(number + 100000) == MPI_COMM_NULL &&
          MPI_Comm_fromint(-7) == MPI_COMM_NULL);
    CHECK(MPI_Comm_toint((MPI_Comm)&number) == 0);
    OK(MPI_Comm_group(comm, &group));
    CHECK(MPI_Group_fromint(MPI_Group_toint(group)) == group);
    OK(MPI_Info_create(&info));
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info);
    OK(MPI_Comm_get_errhandler(comm, &handler));
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(handler)) == MPI_ERRORS_RETURN);
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    CHECK(MPI_Type_fromint(MPI_Type_toint(type)) == type);
    OK(MPI_Irecv(&in, 1, MPI_INT, rank, 0, comm, &requests[0]));
    OK(MPI_Isend(&out, 1, MPI_INT, rank, 0, comm, &requests[1]));
    for (int i = 0; i < 2; ++i) {
        MPI_Request back = MPI_Request_fromint(MPI_Request_toint(requests[i]));
        CHECK(back == requests[i]);
        OK(MPI_Wait(&back, MPI_STATUS_IGNORE));
    }
    MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &requests[0]);
    CHECK(MPI_Request_fromint(MPI_Request_toint(requests[0])) == requests[0]);
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&type));
    OK(MPI_Info_free(&info));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_free(&comm));
}

static void abi(void) {
    MPI_Info info;
    char value[16];
    int flag, yes = 0, no = 0;
    const int fortran_yes = 1, fortran_no = 0;
    OK(MPI_Abi_get_info(&info));
    OK(MPI_Info_get(info, "mpi_count_size", 15, value, &flag));
    CHECK(flag && strcmp(value, "8") == 0);
    OK(MPI_Info_free(&info));
    OK(MPI_Abi_get_fortran_info(&info));
    CHECK(info == MPI_INFO_NULL);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_integer_size", "4"));
    OK(MPI_Abi_set_fortran_info(info));
    FAILS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
    OK(MPI_Info_free(&info));
    OK(MPI_Abi_get_fortran_info(&info));
    OK(MPI_Info_get(info, "mpi_integer_size", 15, value, &flag));
    CHECK(flag && strcmp(value, "4") == 0);
    OK(MPI_Info_free(&info));
    OK(MPI_Abi_get_fortran_booleans(4, &yes, &no, &flag));
    CHECK(!flag);
    OK(MPI_Abi_set_fortran_booleans(4, (void*)&fortran_yes, (void*)&fortran_no));
    OK(MPI_Abi_get_fortran_booleans(4, &yes, &no, &flag));
    CHECK(flag && yes == 1 && no == 0);
    FAILS(MPI_Abi_get_fortran_booleans(3, &yes, &no, &flag), MPI_ERR_ARG);
}

int main(void) {
    start(&rank, &size, MPI_THREAD_SINGLE);
    statuses();
    datatypes();
    memory();
    integers();
    integers_of_requests();
    abi();
    MPI_Finalize();
    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == (int)(intptr_t)MPI_COMM_WORLD);
    return 0;
}
