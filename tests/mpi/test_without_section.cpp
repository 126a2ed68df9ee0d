// SPDX-License-Identifier: BSD-3-Clause
// Each call has one critical section, with a limit for tests. While another thread stays in the
// section, MPI_Test and its like come back and say that nothing is complete.
#include <atomic>
#include <thread>

#include "check.h"
#include "counter.h"

namespace {

enum Stage { outside, inside, tested };
std::atomic<int> stage{outside};

void wait_for(Stage wanted) {
    for (int now = stage; now != wanted; now = stage) stage.wait(now);
}
void go_to(Stage next) {
    stage = next;
    stage.notify_all();
}

/// Stays inside of MPI_Comm_delete_attr, which calls it in its section.
int stay(MPI_Comm, int, void*, void*) {
    go_to(inside);
    wait_for(tested);
    return MPI_SUCCESS;
}

}  // namespace

int main() {
    int rank = 0, size = 0, in = -1, out = 7, flag = -1, index = 0, keyval = MPI_KEYVAL_INVALID;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Irecv(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, stay, &keyval, nullptr));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &out));

    std::thread other([keyval] { OK(MPI_Comm_delete_attr(MPI_COMM_SELF, keyval)); });
    wait_for(inside);
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK(flag == 0 && request != MPI_REQUEST_NULL);
    OK(MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag == 0);
    OK(MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(flag == 0 && index == MPI_UNDEFINED);
    OK(MPI_Testsome(1, &request, &index, &flag, MPI_STATUSES_IGNORE));
    CHECK(index == 0);
    OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    CHECK(flag == 0);
    OK(MPI_Iprobe(rank, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(flag == 0);
    go_to(tested);
    other.join();
    CHECK(counter("lock_given_up") >= 6);

    OK(MPI_Send(&out, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
    for (flag = 0; flag == 0;) OK(MPI_Test(&request, &flag, &status));
    CHECK(in == out && status.MPI_TAG == 1 && request == MPI_REQUEST_NULL);
    OK(MPI_Comm_free_keyval(&keyval));
    MPI_Finalize();
    return 0;
}
