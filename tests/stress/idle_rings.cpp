// SPDX-License-Identifier: BSD-3-Clause
/// Rings that give their pages back while others are used. Two threads of each rank send random
/// messages by many tags. In the rests between them all threads wait for one. The rounds end when
/// HEDDLE_STRESS_SECONDS (default
/// 5) are over and rings of each rank have given pages back.

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "counter.h"

namespace {

constexpr int threads = 2, tags = 64, rest_tag = 1000, most_messages = 24, most_bytes = 3000;

/// The messages of one rank to another with one tag in a round. Both know them.
struct Batch {
    std::mt19937 random;
    int messages;

    Batch(int round, int from, int to, int tag)
        : random(static_cast<unsigned>(((round * 64 + from) * 64 + to) * 1024 + tag)),
          messages(random() % 3 == 0 ? static_cast<int>(random() % most_messages) : 0) {}
    std::vector<unsigned char> next() {
        std::vector<unsigned char> data(random() % 4 == 0 ? random() % most_bytes : random() % 32);
        for (unsigned char& byte : data) byte = static_cast<unsigned char>(random());
        return data;
    }
};

void exchange(int me, int ranks, int thread, int round) {
    for (int k = 1; k < ranks; ++k) {
        const int to = (me + k) % ranks, from = (me + ranks - k) % ranks;
        for (int tag = thread; tag < tags; tag += threads) {
            Batch out(round, me, to, tag), in(round, from, me, tag);
            std::vector<std::vector<unsigned char>> sent;
            std::vector<MPI_Request> requests(static_cast<std::size_t>(out.messages));
            for (MPI_Request& request : requests) {
                sent.push_back(out.next());
                OK(MPI_Isend(sent.back().data(), static_cast<int>(sent.back().size()), MPI_BYTE, to,
                             tag, MPI_COMM_WORLD, &request));
            }
            for (int i = 0; i < in.messages; ++i) {
                const std::vector<unsigned char> expected = in.next();
                std::vector<unsigned char> got(most_bytes);
                MPI_Status status;
                int bytes = -1;
                OK(MPI_Recv(got.data(), most_bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &status));
                OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
                got.resize(static_cast<std::size_t>(bytes));
                CHECK(got == expected);
            }
            OK(MPI_Waitall(out.messages, requests.data(), MPI_STATUSES_IGNORE));
        }
    }
}

/// Waits for `root`, which waits for the time to pass. Returns true if `root` has said that it is
/// over.
bool rest(int me, int ranks, int thread, int root, std::mt19937& random, bool over) {
    const int tag = rest_tag + thread;
    int word = over ? 1 : 0;
    if (me != root) {
        OK(MPI_Recv(&word, 1, MPI_INT, root, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        return word != 0;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 12000));
    for (int to = 0; to < ranks; ++to)
        if (to != me) OK(MPI_Send(&word, 1, MPI_INT, to, tag, MPI_COMM_WORLD));
    return over;
}

/// Returns, on rank 0, whether rings of all ranks have given pages back.
bool all_have_dropped(int me, int ranks, int thread) {
    unsigned long long mine = counter("rings_dropped");
    const int tag = rest_tag + thread;
    if (me != 0) {
        OK(MPI_Send(&mine, 1, MPI_UNSIGNED_LONG_LONG, 0, tag, MPI_COMM_WORLD));
        return false;
    }
    bool all = mine != 0;
    for (int from = 1; from < ranks; ++from) {
        OK(MPI_Recv(&mine, 1, MPI_UNSIGNED_LONG_LONG, from, tag, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
        all = all && mine != 0;
    }
    return all;
}

void work(int me, int ranks, int thread, std::chrono::seconds time) {
    std::mt19937 random(static_cast<unsigned>(me * threads + thread));
    const auto end = std::chrono::steady_clock::now() + time;
    for (int round = 0;; ++round) {
        exchange(me, ranks, thread, round);
        const int root = round % ranks;
        const bool over = root == 0 && all_have_dropped(me, ranks, thread) &&
            std::chrono::steady_clock::now() > end;
        if (rest(me, ranks, thread, root, random, over)) return;
    }
}

}  // namespace

int main() {
    int me = -1, ranks = -1;
    start(&me, &ranks, MPI_THREAD_MULTIPLE);
    const char* given = std::getenv("HEDDLE_STRESS_SECONDS");
    const std::chrono::seconds time(given == nullptr ? 5 : std::atoi(given));
    std::thread other(work, me, ranks, 1, time);
    work(me, ranks, 0, time);
    other.join();
    MPI_Finalize();
    return 0;
}
