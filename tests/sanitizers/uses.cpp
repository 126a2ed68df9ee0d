// SPDX-License-Identifier: BSD-3-Clause
/// A program that gives back what it takes. No use of MPI loses memory. Objects that live until the
/// end are not lost either.

#include <thread>
#include <vector>

extern "C" {
#include "../mpi/check.h"
}

namespace {

int rank, ranks;

int copy(MPI_Comm, int, void*, void*, void*, int* flag) { return *flag = 0, MPI_SUCCESS; }
int remove(MPI_Comm, int, void* value, void* state) {
    delete static_cast<int*>(value);
    return state == nullptr ? MPI_SUCCESS : MPI_ERR_OTHER;
}
void add(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

void use_objects(MPI_Comm parent) {
    MPI_Comm comm, half, grid;
    OK(MPI_Comm_dup(parent, &comm));
    OK(MPI_Comm_split(comm, rank % 2, 0, &half));
    const int extents[] = {ranks}, periods[] = {1};
    OK(MPI_Cart_create(comm, 1, extents, periods, 0, &grid));
    OK(MPI_Comm_set_name(comm, "a name that is too long to be kept within the object"));
    int key;
    OK(MPI_Comm_create_keyval(copy, remove, &key, nullptr));
    OK(MPI_Comm_set_attr(comm, key, new int(1)));

    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "a key", "a value that is too long to be kept within the object"));
    MPI_Datatype vector, record;
    OK(MPI_Type_vector(5, 2, 3, MPI_INT, &vector));
    const int lengths[] = {1, 2};
    const MPI_Aint places[] = {0, 128};
    const MPI_Datatype types[] = {vector, MPI_DOUBLE};
    OK(MPI_Type_create_struct(2, lengths, places, types, &record));
    OK(MPI_Type_commit(&record));
    MPI_Group group, others;
    OK(MPI_Comm_group(comm, &group));
    OK(MPI_Group_excl(group, 1, &rank, &others));
    MPI_Op sum;
    OK(MPI_Op_create(add, 1, &sum));

    std::vector<char> out(1000), in(1000);
    MPI_Request requests[2];
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    OK(MPI_Irecv(in.data(), 1, record, left, 0, comm, &requests[0]));
    OK(MPI_Isend(out.data(), 1, record, right, 0, comm, &requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Bsend_init(out.data(), 10, MPI_CHAR, right, 1, comm, &requests[0]));
    OK(MPI_Request_free(&requests[0]));
    std::vector<int> mine(5000, 1), all(5000);
    OK(MPI_Iallreduce(mine.data(), all.data(), 5000, MPI_INT, sum, comm, &requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Allreduce(mine.data(), all.data(), 5000, MPI_INT, sum, grid));

    OK(MPI_Op_free(&sum));
    if (others != MPI_GROUP_EMPTY) OK(MPI_Group_free(&others));
    OK(MPI_Group_free(&group));
    OK(MPI_Type_free(&record));
    OK(MPI_Type_free(&vector));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&grid));
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free_keyval(&key));
}

void use_session() {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "uses", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
}

}  // namespace

int main() {
    use_session();
    start(&rank, &ranks, MPI_THREAD_MULTIPLE);
    for (int i = 0; i < 20; ++i) use_objects(MPI_COMM_WORLD);
    for (int i = 0; i < 20; ++i)
        std::thread([] {
            MPI_Datatype type;
            OK(MPI_Type_contiguous(3, MPI_INT, &type));
            OK(MPI_Type_commit(&type));
            int data[3] = {};
            OK(MPI_Sendrecv_replace(data, 1, type, 0, 3, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
            OK(MPI_Type_free(&type));
        }).join();
    MPI_Comm kept;
    MPI_Datatype vector;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &kept));
    OK(MPI_Comm_set_name(kept, "this communicator and the datatype are never freed"));
    OK(MPI_Type_vector(5, 2, 3, MPI_INT, &vector));
    OK(MPI_Finalize());
    use_session();
    return 0;
}
