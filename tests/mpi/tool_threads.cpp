// SPDX-License-Identifier: BSD-3-Clause
// Threads use the tool interface at once while messages are under way: each with sessions of its
// own.
#include <atomic>
#include <thread>
#include <vector>

#include "check.h"
#include "counter.h"

namespace {

constexpr int threads = 4;
constexpr int rounds = 100;

std::atomic<long> heard{0};

void hear(MPI_T_event_instance instance, MPI_T_event_registration, MPI_T_cb_safety, void*) {
    MPI_Count data[3];
    OK(MPI_T_event_copy(instance, data));
    ++heard;
}

// Sends messages of one thread to itself, and reads its own handle.
void count_and_send(int rank, int tag) {
    int provided = -1, index = -1, event = -1, count = 0;
    unsigned long long before = 0, after = 0;
    char data[8] = {};
    for (int round = 0; round < rounds; ++round) {
        MPI_T_pvar_session session;
        MPI_T_pvar_handle handle;
        MPI_T_event_registration registration;
        OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
        OK(MPI_T_pvar_session_create(&session));
        OK(MPI_T_pvar_get_index("self_messages", MPI_T_PVAR_CLASS_COUNTER, &index));
        OK(MPI_T_pvar_handle_alloc(session, index, nullptr, &handle, &count));
        MPI_T_pvar_handle waiting;
        MPI_Comm world = MPI_COMM_WORLD;
        unsigned long long bytes = 0;
        OK(MPI_T_pvar_get_index("comm_unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL, &index));
        OK(MPI_T_pvar_handle_alloc(session, index, &world, &waiting, &count));
        OK(MPI_T_event_get_index("unexpected_message", &event));
        OK(MPI_T_event_handle_alloc(event, nullptr, MPI_INFO_NULL, &registration));
        OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL,
                                         nullptr, hear));
        OK(MPI_T_pvar_read(session, handle, &before));
        OK(MPI_Send(data, sizeof data, MPI_CHAR, rank, tag, MPI_COMM_WORLD));
        OK(MPI_T_pvar_read(session, handle, &after));
        CHECK(after > before);  // other threads count, too
        OK(MPI_T_pvar_read(session, waiting, &bytes));
        CHECK(bytes >= sizeof data);
        OK(MPI_Recv(data, sizeof data, MPI_CHAR, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_T_event_handle_free(registration, nullptr, nullptr));
        OK(MPI_T_pvar_session_free(&session));
        OK(MPI_T_finalize());
    }
}

}  // namespace

int main() {
    int rank = 0, size = 0, provided = -1;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    std::vector<std::thread> others;
    for (int i = 0; i < threads; ++i) others.emplace_back(count_and_send, rank, i);
    for (std::thread& other : others) other.join();
    CHECK(heard.load() >= threads * rounds);

    CHECK(counter("self_messages") == threads * rounds);  // no message was lost
    OK(MPI_T_finalize());
    MPI_Finalize();
    return 0;
}
