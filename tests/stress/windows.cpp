// SPDX-License-Identifier: BSD-3-Clause
/// Random operations on windows, eight times as many threads as cores, until HEDDLE_STRESS_SECONDS
/// (default 5) are over. Each rank has a thread for epochs that all ranks begin together. Its other
/// threads each have a window of locks and share one that is open all the time. The test checks all
/// that may be known of the content of a window.
///
///     mpiexec -n 4 windows [--seed 1] [--killed RANK MICROSECONDS]
///
/// fences    each rank puts into the next one, between fences, or post and start and complete and
///           wait.
/// counters  read, incremented and written back under an exclusive lock, read under shared ones.
///           All targets are read under the lock of all: the sum of all counters is the number of
///           increments.
/// numbers   drawn by MPI_Fetch_and_op from counters of all ranks. Also pairs of words that the
///           thread that has them for itself puts and gets, with flushes between.
///
/// --killed: that rank kills itself so many microseconds after all have begun, in whatever calls
/// its threads are.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
#include "check.h"
}

namespace {

using Clock = std::chrono::steady_clock;

int rank, size, threads;
unsigned seed = 1;
std::atomic<bool> over{false};

struct Window {
    explicit Window(int cells) {
        OK(MPI_Win_allocate(cells * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
        std::fill_n(memory, cells, 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    void free() { OK(MPI_Win_free(&win)); }

    MPI_Win win = MPI_WIN_NULL;
    std::int64_t* memory = nullptr;
};

// --- epochs of all ranks ---

void by_fence(Window& window, std::int64_t value, int next) {
    OK(MPI_Win_fence(0, window.win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next, 0, 1, MPI_INT64_T, window.win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win));
}

void by_groups(Window& window, std::int64_t value, int next, MPI_Group everybody) {
    OK(MPI_Win_post(everybody, 0, window.win));
    OK(MPI_Win_start(everybody, 0, window.win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next, 0, 1, MPI_INT64_T, window.win));
    OK(MPI_Win_complete(window.win));
    OK(MPI_Win_wait(window.win));
}

/// Runs epochs. Rank 0 says in each round whether it is the last one.
void epochs(Window& window, Clock::time_point end) {
    MPI_Group everybody;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &everybody));
    std::mt19937 random(seed);  // the same on all ranks
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (std::int64_t round = 1, last = 0; last == 0; ++round) {
        const std::int64_t value = round * 1000 + rank;
        if (random() % 2 == 0)
            by_fence(window, value, next);
        else
            by_groups(window, value, next, everybody);
        CHECK(window.memory[0] == round * 1000 + before);
        last = Clock::now() >= end;
        OK(MPI_Bcast(&last, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
    }
    OK(MPI_Group_free(&everybody));
    over = true;
}

// --- locks ---

void increment(Window& window, int target, int cell) {
    std::int64_t value = -1;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.win));
    OK(MPI_Get(&value, 1, MPI_INT64_T, target, cell, 1, MPI_INT64_T, window.win));
    OK(MPI_Win_flush(target, window.win));
    ++value;
    OK(MPI_Put(&value, 1, MPI_INT64_T, target, cell, 1, MPI_INT64_T, window.win));
    OK(MPI_Win_unlock(target, window.win));
}

/// Compares the cells of a target. Writers change both.
void compare(Window& window, int target) {
    std::array<std::int64_t, 2> pair{-1, -2};
    OK(MPI_Get(pair.data(), 2, MPI_INT64_T, target, 0, 2, MPI_INT64_T, window.win));
    OK(MPI_Win_flush(target, window.win));
    CHECK(pair[0] == pair[1]);
}

void increment_both(Window& window, int target) {
    std::array<std::int64_t, 2> pair{};
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.win));
    compare(window, target);
    OK(MPI_Get(pair.data(), 2, MPI_INT64_T, target, 0, 2, MPI_INT64_T, window.win));
    OK(MPI_Win_flush(target, window.win));
    for (int cell : {0, 1}) {
        ++pair[static_cast<std::size_t>(cell)];
        OK(MPI_Put(&pair[static_cast<std::size_t>(cell)], 1, MPI_INT64_T, target, cell, 1,
                   MPI_INT64_T, window.win));
    }
    OK(MPI_Win_unlock(target, window.win));
}

/// Returns how often a counter was incremented.
std::int64_t locks(Window& window, std::mt19937& random) {
    const auto target = static_cast<int>(random() % static_cast<unsigned>(size));
    switch (random() % 4) {
        case 0: increment_both(window, target); return 0;
        case 1: increment(window, target, 2); return 1;
        case 2:
            OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win));
            compare(window, target);
            OK(MPI_Win_unlock(target, window.win));
            return 0;
        default:
            OK(MPI_Win_lock_all(0, window.win));
            for (int one = 0; one < size; ++one) compare(window, one);
            OK(MPI_Win_unlock_all(window.win));
            return 0;
    }
}

// --- a window that is open all the time ---

/// The memory of each rank: a counter, and a word for each thread.
struct Open {
    static int cells() { return 1 + size * threads; }
    Window window{cells()};
    std::vector<std::int64_t> drawn = std::vector<std::int64_t>(static_cast<std::size_t>(threads));

    void step(int thread, std::mt19937& random, std::int64_t round) {
        const auto target = static_cast<int>(random() % static_cast<unsigned>(size));
        const int own = 1 + rank * threads + thread;
        const std::int64_t one = 1, value = round * 100 + thread;
        std::int64_t old = -1, back = -1;
        OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, 0, MPI_SUM, window.win));
        CHECK(old >= 0);
        ++drawn[static_cast<std::size_t>(thread)];
        OK(MPI_Put(&value, 1, MPI_INT64_T, target, own, 1, MPI_INT64_T, window.win));
        OK(MPI_Win_flush(target, window.win));
        OK(MPI_Get(&back, 1, MPI_INT64_T, target, own, 1, MPI_INT64_T, window.win));
        OK(MPI_Win_flush_all(window.win));
        CHECK(back == value);
    }
};

// --- all together ---

std::int64_t sum_of_all(std::int64_t mine) {
    std::int64_t all = 0;
    OK(MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    return all;
}

void run(Clock::time_point end) {
    Window common(1);
    Open open;
    std::vector<Window> of_locks;
    for (int thread = 1; thread < threads; ++thread) of_locks.emplace_back(3);
    std::atomic<std::int64_t> increments{0};
    OK(MPI_Win_lock_all(0, open.window.win));
    std::vector<std::thread> all;
    for (int me = 1; me < threads; ++me)
        all.emplace_back([&, me] {
            std::mt19937 random(seed * 1000 + static_cast<unsigned>(rank * threads + me));
            for (std::int64_t round = 1; !over; ++round)
                if (random() % 2 == 0)
                    open.step(me, random, round);
                else
                    increments += locks(of_locks[static_cast<std::size_t>(me - 1)], random);
        });
    epochs(common, end);
    for (std::thread& one : all) one.join();
    OK(MPI_Win_unlock_all(open.window.win));
    MPI_Barrier(MPI_COMM_WORLD);
    std::int64_t counted = 0, drawn = 0;
    for (Window& window : of_locks) counted += window.memory[2];
    for (const std::int64_t one : open.drawn) drawn += one;
    CHECK(sum_of_all(counted) == sum_of_all(increments));
    CHECK(sum_of_all(open.window.memory[0]) == sum_of_all(drawn));
    if (rank == 0) std::printf("numbers drawn: %lld\n", static_cast<long long>(drawn));
    for (Window& window : of_locks) window.free();
    open.window.free();
    common.free();
}

}  // namespace

int main(int argc, char** argv) {
    int killed = -1;
    std::chrono::microseconds after{0};
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = static_cast<unsigned>(std::atoi(argv[++i]));
        else if (std::strcmp(argv[i], "--killed") == 0 && i + 2 < argc) {
            killed = std::atoi(argv[++i]);
            after = std::chrono::microseconds(std::atoll(argv[++i]));
        } else {
            CHECK(!"an argument that is known");
        }
    }
    const char* given = std::getenv("HEDDLE_STRESS_SECONDS");
    const int seconds = given != nullptr && *given != '\0' ? std::atoi(given) : 5;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    const auto cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    threads = std::max(2, (8 * cores + size - 1) / size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == killed)
        std::thread([after] {
            std::this_thread::sleep_for(after);
            kill(getpid(), SIGKILL);
        }).detach();
    run(Clock::now() + std::chrono::seconds(seconds));
    MPI_Finalize();
}
