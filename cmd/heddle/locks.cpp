// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "subcommands.hpp"
#include "sync/locks/any_lock.hpp"
#include "sync/orders.hpp"

namespace heddle::cmd {
namespace {

using namespace sync::locks;

struct alignas(cache_line) Line {
    std::uint64_t value = 0;
};

/// A lock and the data that it guards.
struct Section {
    std::unique_ptr<PathLock> lock;
    std::array<Line, 1024> lines;

    void pass(std::minstd_rand& random, int touched, LockStatistics& statistics) {
        const PathGuard guard(*lock, Path::main, statistics);
        for (int i = 0; i < touched; ++i) ++lines[random() % lines.size()].value;
    }
};

/// The result of one repetition: the time of a passage, and the passages of the slowest thread over
/// the mean.
struct Passing {
    double nanoseconds;
    double slowest;
};

Passing pass_around(Section& section, const LocksOptions& options) {
    using Clock = std::chrono::steady_clock;
    struct alignas(cache_line) Count {
        std::uint64_t passages = 0;
    };
    std::vector<Count> counts(static_cast<std::size_t>(options.threads));
    std::vector<std::jthread> threads;
    std::atomic<bool> over{false};
    std::barrier start(options.threads + 1);
    const auto live = [&](std::size_t i) {
        std::minstd_rand random(static_cast<unsigned>(i) + 1);
        LockStatistics statistics;
        std::uint64_t passages = 0;
        start.arrive_and_wait();
        for (; !over.load(relaxed); ++passages) section.pass(random, options.lines, statistics);
        counts[i].passages = passages;
    };
    try {
        for (std::size_t i = 0; i < counts.size(); ++i) threads.emplace_back(live, i);
    } catch (const std::system_error&) {
        over.store(true, relaxed);
        (void)start.arrive(options.threads + 1 - static_cast<std::ptrdiff_t>(threads.size()));
        throw;
    }
    start.arrive_and_wait();
    const auto begin = Clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
    over.store(true, relaxed);
    const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
    threads.clear();  // joins them
    double sum = 0, least = static_cast<double>(counts[0].passages);
    for (const Count& count : counts) {
        sum += static_cast<double>(count.passages);
        least = std::min(least, static_cast<double>(count.passages));
    }
    const double mean = sum / options.threads;
    return {took.count() / std::max(sum, 1.0), mean > 0 ? least / mean : 0};
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void measure(const std::string& name, const LocksOptions& options) {
    const auto section = std::make_unique<Section>();
    section->lock = make_path_lock(name);
    std::vector<double> times, slowest;
    for (int i = 0; i <= options.repetitions; ++i) {
        const Passing passing = pass_around(*section, options);
        if (i == 0) continue;  // the first repetition warms up
        times.push_back(passing.nanoseconds);
        slowest.push_back(passing.slowest);
    }
    fmt::print("{:<14} {:>4} threads: passed on in {:.1f} ns, slowest thread {:.2f} of the mean\n",
               name, options.threads, median(times), median(slowest));
    fmt::print("result bench=locks lock={} threads={} lines={} passing_ns={:.2f} slowest={:.3f}\n",
               name, options.threads, options.lines, median(times), median(slowest));
}

}  // namespace

std::vector<std::string> known_locks() {
    return {path_lock_names().begin(), path_lock_names().end()};
}

void measure_locks(LocksOptions options) {
    if (options.names.empty()) options.names = known_locks();
    try {
        for (const std::string& name : options.names) measure(name, options);
    } catch (const std::system_error& error) {
        fmt::print(stderr, "heddle: cannot start {} threads: {}\n", options.threads, error.what());
        throw Failed{2};
    }
}

}  // namespace heddle::cmd
