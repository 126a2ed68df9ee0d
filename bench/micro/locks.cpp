// SPDX-License-Identifier: BSD-3-Clause
/// Measures the mutex and the biased lock: alone, with several threads at once, and with a thread
/// that now and then takes the bias away. std::mutex is measured for comparison.

#include <benchmark/benchmark.h>

#include <array>
#include <mutex>

#include "sync/biased_lock.hpp"
#include "sync/mutex.hpp"

namespace {

using heddle::sync::BiasedLock;

/// The data that a section changes.
struct alignas(heddle::cache_line) Guarded {
    std::uint64_t sum = 0;
};

template <class Mutex>
struct Plain {
    Mutex mutex;
    Guarded guarded;
    void pass(int) {
        mutex.lock();
        benchmark::DoNotOptimize(++guarded.sum);
        mutex.unlock();
    }
};

struct Biased {
    BiasedLock lock;
    std::array<BiasedLock::Token, 64> tokens;
    Guarded guarded;
    void pass(int thread) {
        auto& token = tokens[static_cast<std::size_t>(thread)];
        const auto way = lock.lock(token);
        benchmark::DoNotOptimize(++guarded.sum);
        lock.unlock(token, way);
    }
};

template <class Section>
void pass(benchmark::State& state) {
    static Section section;
    for (auto _ : state) section.pass(state.thread_index());
    state.SetItemsProcessed(state.iterations());
}

/// Runs two threads. Thread 0 passes all the time; the other waits as long, and passes once in
/// `range(0)`.
template <class Section>
void visitors(benchmark::State& state) {
    static Section section;
    std::int64_t left = 0;
    for (auto _ : state) {
        if (state.thread_index() == 0) {
            section.pass(0);
        } else if (--left < 0) {
            section.pass(state.thread_index());
            left = state.range(0);
        } else {
            heddle::sync::Native::pause();
        }
    }
    state.SetItemsProcessed(state.iterations() / 2);
}

using Mutex = Plain<heddle::sync::Mutex>;
using StandardMutex = Plain<std::mutex>;

BENCHMARK(pass<Mutex>)->Threads(1)->Threads(2)->Threads(4)->Threads(8)->UseRealTime();
BENCHMARK(pass<Biased>)->Threads(1)->Threads(2)->Threads(4)->Threads(8)->UseRealTime();
BENCHMARK(pass<StandardMutex>)->Threads(1)->Threads(2)->Threads(4)->Threads(8)->UseRealTime();
BENCHMARK(visitors<Mutex>)->Arg(1000)->Threads(2)->UseRealTime();
BENCHMARK(visitors<Biased>)->Arg(1000)->Threads(2)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
