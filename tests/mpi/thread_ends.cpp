// SPDX-License-Identifier: BSD-3-Clause
/// Threads that end go on calling MPI, again and again. They do so in destructors of thread_locals
/// made before their first call, and of thread-specific data. Other threads come meanwhile, and the
/// library must not confuse them.
///
/// Each thread has a tag of its own, under which it sends to itself and checks the data received.

#include <mpi.h>

#include <pthread.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

std::atomic<int> next_tag{1}, exchanges{0};

/// Sends this rank a message and receives it. It is large enough that it is not over at once.
void exchange(int tag) {
    std::array<int, 3000> out, in;
    out.fill(tag);
    in.fill(-1);
    MPI_Request requests[2];
    MPI_Irecv(in.data(), in.size(), MPI_INT, 0, tag, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(out.data(), out.size(), MPI_INT, 0, tag, MPI_COMM_SELF, &requests[1]);
    std::this_thread::yield();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (const int value : in)
        if (value != tag) {
            std::fprintf(stderr, "tag %d received %d\n", tag, value);
            std::_Exit(1);
        }
    exchanges.fetch_add(1);
}

/// An object that is destroyed after those that its thread has made later.
struct Early {
    int tag = next_tag.fetch_add(1);
    ~Early() {
        for (int i = 0; i < 3; ++i) exchange(tag);
    }
};
thread_local Early early;

/// A key whose destructor sets it again, until the system has had enough.
pthread_key_t key;
void at_end(void* tag) {
    exchange(static_cast<int>(reinterpret_cast<std::intptr_t>(tag)));
    pthread_setspecific(key, tag);
}

void live() {
    const int tag = early.tag;
    pthread_setspecific(key, reinterpret_cast<void*>(static_cast<std::intptr_t>(tag)));
    exchange(tag);
}

}  // namespace

int main() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    pthread_key_create(&key, at_end);
    constexpr int at_once = 4, lives = 200;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < at_once; ++thread)
        threads.emplace_back([] {
            for (int i = 0; i < lives; ++i) std::thread(live).join();
        });
    for (std::thread& thread : threads) thread.join();
    MPI_Finalize();
    const int least = at_once * lives * (1 + 3 + PTHREAD_DESTRUCTOR_ITERATIONS);
    if (exchanges.load() < least) {
        std::fprintf(stderr, "%d exchanges instead of %d\n", exchanges.load(), least);
        return 1;
    }
    return 0;
}
