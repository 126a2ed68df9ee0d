// SPDX-License-Identifier: BSD-3-Clause
/// Messages of threads that synchronise arrive in order, between real processes. This holds also if
/// receives with MPI_ANY_TAG look across tags. There are millions of small messages, so that one
/// overtaking in a million shows.
///
/// Every rank sends to its right neighbour and receives from its left one. The threads of a rank
/// send under random tags, ordered by a mutex or by a flag that goes round. Each part of the test
/// has a receiver of another kind.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <mpi.h>

namespace {

constexpr int senders = 2;
int rank, ranks;
int messages;  // in this part of the test, for each rank

void send(int number, int tag) {
    MPI_Send(&number, 1, MPI_INT, (rank + 1) % ranks, tag, MPI_COMM_WORLD);
}

[[noreturn]] void wrong(const char* part, int got, int expected) {
    std::fprintf(stderr, "rank %d, %s: message %d came instead of %d\n", rank, part, got, expected);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

// --- senders ---

std::mutex mutex;
int next_by_mutex = 0;

void send_by_mutex(unsigned seed) {
    std::minstd_rand random(seed);
    for (;;) {
        std::lock_guard guard(mutex);
        if (next_by_mutex == messages) return;
        send(next_by_mutex++, static_cast<int>(random() % 300));
    }
}

std::atomic<int> turn{0};

/// Sends by turns. With `yields` a thread yields until its turn; otherwise it sees its turn at
/// once.
void send_by_flag(int thread, bool yields) {
    std::minstd_rand random(static_cast<unsigned>(thread) + 7);
    constexpr int burst = 5;
    for (int first = thread * burst; first < messages; first += senders * burst) {
        for (int spins = 0; turn.load(std::memory_order_acquire) != first;)
            if (yields || ++spins % 256 == 0) std::this_thread::yield();
        for (int i = first; i < std::min(first + burst, messages); ++i)
            send(i, static_cast<int>(random() % 300));
        turn.store(first + burst, std::memory_order_release);
    }
}

// --- receivers ---

void receive_one_by_one(const char* part) {
    for (int i = 0; i < messages; ++i) {
        int got = -1;
        MPI_Recv(&got, 1, MPI_INT, (rank + ranks - 1) % ranks, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (got != i) wrong(part, got, i);
    }
}

void receive_posted_ahead(const char* part) {
    constexpr int window = 50;
    std::array<int, 2 * window> got;
    std::array<MPI_Request, 2 * window> requests;
    const auto post = [&](int first) {
        for (int i = first; i < first + window; ++i) {
            const auto at = static_cast<std::size_t>(i % (2 * window));
            MPI_Irecv(&got[at], 1, MPI_INT, (rank + ranks - 1) % ranks, MPI_ANY_TAG, MPI_COMM_WORLD,
                      &requests[at]);
        }
    };
    post(0);
    for (int first = 0; first < messages; first += window) {
        if (first + window < messages) post(first + window);
        const auto at = static_cast<std::size_t>(first % (2 * window));
        MPI_Waitall(window, &requests[at], MPI_STATUSES_IGNORE);
        for (int i = 0; i < window; ++i)
            if (got[at + static_cast<std::size_t>(i)] != first + i)
                wrong(part, got[at + static_cast<std::size_t>(i)], first + i);
    }
}

template <class Sender, class Receiver>
void part(const char* name, int count, Sender&& sender, Receiver&& receiver) {
    messages = count;
    turn = 0;
    next_by_mutex = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < senders; ++i) threads.emplace_back([&, i] { sender(i); });
    receiver(name);
    for (std::thread& thread : threads) thread.join();
    // The neighbour may begin with the next part when this rank has received all of this one.
    int done = 0, word = 0;
    MPI_Sendrecv(&done, 1, MPI_INT, (rank + ranks - 1) % ranks, 1000, &word, 1, MPI_INT,
                 (rank + 1) % ranks, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const auto seed = [](int thread) { return static_cast<unsigned>(rank * 64 + thread + 1); };
    // order [MESSAGES]
    const int most = argc > 1 ? std::atoi(argv[1]) : 200'000;
    const int handed_over = most / 10;  // each hand-over may take a turn of the scheduler
    part("mutex", most, [&](int i) { send_by_mutex(seed(i)); }, receive_one_by_one);
    part("mutex, posted ahead", most, [&](int i) { send_by_mutex(seed(i)); }, receive_posted_ahead);
    part("flag", handed_over, [](int i) { send_by_flag(i, false); }, receive_one_by_one);
    part(
        "flag, posted ahead", handed_over, [](int i) { send_by_flag(i, false); },
        receive_posted_ahead);
    part("flag, yielding", handed_over, [](int i) { send_by_flag(i, true); }, receive_one_by_one);
    return MPI_Finalize();
}
