// SPDX-License-Identifier: BSD-3-Clause
/// Measures the lock protocols of sync/locks, all on the main path. A lock is used alone, or
/// threads pass it on. They touch 10 random cache lines inside (P2, section 3.4.1, figure 2a).
/// There may be more threads than cores.

#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <random>
#include <string>

#include "sync/locks/all.hpp"
#include "sync/locks/any_lock.hpp"

namespace {

using namespace heddle::sync::locks;

constexpr int lines_touched = 10;

struct alignas(heddle::cache_line) Line {
    std::uint64_t value = 0;
};

template <class L>
struct Shared {
    L lock;
    std::array<Line, 1024> lines;
};

template <class L>
void uncontended(benchmark::State& state) {
    const auto lock = std::make_unique<L>();
    for (auto _ : state) {
        typename L::Node me;
        lock_on(*lock, Path::main, me);
        lock->unlock(me);
    }
}

void uncontended_by_name(benchmark::State& state, const char* name) {
    const auto lock = make_path_lock(name);
    LockStatistics statistics;
    for (auto _ : state) const PathGuard guard(*lock, Path::main, statistics);
}

template <class L>
void passed(benchmark::State& state) {
    static Shared<L> shared;
    std::minstd_rand random(static_cast<unsigned>(state.thread_index()) + 1);
    for (auto _ : state) {
        typename L::Node me;
        lock_on(shared.lock, Path::main, me);
        for (int i = 0; i < lines_touched; ++i)
            ++shared.lines[random() % shared.lines.size()].value;
        shared.lock.unlock(me);
    }
    state.SetItemsProcessed(state.iterations());
}

template <class... L>
void add_all(List<L...>) {
    const auto named = [](const char* what, std::string_view lock) {
        return std::string(what).append("/").append(lock);
    };
    (benchmark::RegisterBenchmark(named("uncontended", L::name).c_str(), uncontended<L>), ...);
    for (const char* name : path_lock_names())
        benchmark::RegisterBenchmark(named("uncontended_by_name", name).c_str(),
                                     uncontended_by_name, name);
    for (const int threads : {1, 2, 4, 8})
        (benchmark::RegisterBenchmark(named("passed", L::name).c_str(), passed<L>)
             ->Threads(threads)
             ->UseRealTime(),
         ...);
}

}  // namespace

int main(int argc, char** argv) {
    add_all(Locks<>{});
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
