// SPDX-License-Identifier: BSD-3-Clause
/// Every lock protocol: under simulated schedules with store buffers, and with real threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "sync/locks/all.hpp"
#include "sync/locks/path_lock_of.hpp"
#include "testing/simulation.hpp"
#include "testing/watchdog.hpp"

namespace {

using namespace heddle::sync::locks;
using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::SimulationOptions;
using heddle::testing::try_seeds;
using namespace std::chrono_literals;

/// A simulated world that tells which threads wait. A thread pauses or sleeps within lock() only
/// after it has queued.
struct Observed : SimulatedWorld {
    static inline std::array<unsigned, 16> waits{};  ///< of each thread of the simulation
    static void note() {
        if (const Simulation* s = Simulation::current())
            ++waits[static_cast<std::size_t>(s->running())];
    }
    static void pause() noexcept {
        note();
        SimulatedWorld::pause();
    }
    static void wait(Atom<std::uint32_t>& word, std::uint32_t expected) noexcept {
        note();
        SimulatedWorld::wait(word, expected);
    }
};

/// A protocol, and what it promises. Tests see the locks as PathLocks, so that they are compiled
/// once.
struct Protocol {
    std::string_view name;
    bool fifo, fifo_progress;
    std::unique_ptr<PathLock> (*make)();
};
/// Prints the name; otherwise gtest prints it byte by byte.
void PrintTo(const Protocol& protocol, std::ostream* out) { *out << protocol.name; }

template <class L>
constexpr bool fifo_on_progress_path() {
    if constexpr (PriorityLock<L>)
        return L::fifo_progress;
    else
        return L::fifo;
}

template <class... L>
std::vector<Protocol> protocols(List<L...>) {
    static_assert((Lock<L> && ...));
    return {{L::name, L::fifo, fifo_on_progress_path<L>(),
             []() -> std::unique_ptr<PathLock> { return std::make_unique<PathLockOf<L>>(); }}...};
}

std::string name_of(const ::testing::TestParamInfo<Protocol>& info) {
    std::string name(info.param.name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

/// A node in its usual place, the stack. Its memory is used otherwise as soon as the lock is done
/// with it.
class Place {
public:
    ~Place() {
        // The simulated buffer must not write to the stack after the frame has gone.
        empty_own_buffer_.exchange(0, heddle::relaxed);
        check();
    }

    PathLock::Node& fresh() {
        check();
        vacated_ = false;
        return node_;
    }
    void vacate() {
        empty_own_buffer_.exchange(0, heddle::relaxed);
        std::fill(std::begin(node_.room), std::end(node_.room), other_use);
        vacated_ = true;
    }
    void check() {
        if (vacated_ && std::any_of(std::begin(node_.room), std::end(node_.room), [](std::byte b) {
                return b != other_use;
            }))
            Simulation::fail("a node was touched after the lock was done with it");
    }

private:
    static constexpr std::byte other_use{0xa5};
    PathLock::Node node_;
    bool vacated_ = false;
    SimulatedWorld::Atom<std::uint32_t> empty_own_buffer_{0};
};

struct Section {
    std::unique_ptr<PathLock> lock;
    int inside = 0;

    void pass() {
        if (++inside != 1) Simulation::fail("two threads hold the lock");
        Simulation::point();
        --inside;
    }
};

/// Runs a thread that comes on each path by each function. `timed`: one in how many acquisitions
/// has a time limit.
void come_and_go(Section& section, Simulation& simulation, int rounds, unsigned timed) {
    PathLock& lock = *section.lock;
    Place place;
    for (int round = 0; round < rounds; ++round) {
        PathLock::Node& me = place.fresh();
        const Path path = simulation.random(2) == 0 ? Path::main : Path::progress;
        bool locked = true;
        if (simulation.random(6) == 0)
            locked = lock.try_lock(path, me);
        else if (simulation.random(timed) == 0)
            locked = lock.lock_for(path, me, std::chrono::nanoseconds{simulation.random(400)});
        else
            lock.lock(path, me);
        if (locked) {
            section.pass();
            lock.unlock(me);
        }
        place.vacate();
        for (unsigned i = simulation.random(4); i > 0; --i) SimulatedWorld::yield();
        place.check();
    }
    // Some threads come no more: a thread that waits then must not have relied on them.
    if (simulation.random(2) == 0) return;
    Place another;
    PathLock::Node &me = place.fresh(), &other = another.fresh();
    lock.lock(Path::progress, me);
    section.pass();
    if (lock.try_lock(Path::main, other)) Simulation::fail("two threads hold the lock");
    if (lock.lock_for(Path::main, other, 50ns)) Simulation::fail("a limit let two threads in");
    section.pass();
    lock.unlock(me);
}

std::string crowd(const Protocol& protocol, std::uint64_t seeds, SimulationOptions options,
                  int threads, unsigned timed) {
    return try_seeds(seeds, options, [&](Simulation& simulation) {
        auto section = std::make_unique<Section>(Section{protocol.make()});
        for (int i = 0; i < threads; ++i)
            simulation.thread(
                [s = section.get(), &simulation, timed] { come_and_go(*s, simulation, 6, timed); });
        return section;
    });
}

class SimulatedLock : public ::testing::TestWithParam<Protocol> {};
INSTANTIATE_TEST_SUITE_P(All, SimulatedLock, ::testing::ValuesIn(protocols(Locks<Observed>{})),
                         name_of);

TEST_P(SimulatedLock, excludes) {
    EXPECT_EQ(crowd(GetParam(), 200, {}, 2, 1000), "");
    EXPECT_EQ(crowd(GetParam(), 200, {}, 4, 1000), "");
}

TEST_P(SimulatedLock, excludes_and_forgets_those_whose_time_is_over) {
    EXPECT_EQ(crowd(GetParam(), 300, {}, 3, 1), "");  // all threads have a limit
    EXPECT_EQ(crowd(GetParam(), 300, {}, 5, 2), "");
}

TEST_P(SimulatedLock, excludes_where_there_is_no_heavy_fence) {
    EXPECT_EQ(crowd(GetParam(), 50, {.heavy_fences = false, .fences_available = false}, 4, 3), "");
}

/// Threads come one after another while thread 0 holds the lock, each on its path. It notes the
/// order in which they get the lock.
struct Procession {
    Section section;
    std::vector<std::pair<int, Path>> came, left;

    void hold(Path path, std::size_t others) {
        PathLock::Node me;
        section.lock->lock(path, me);
        came.emplace_back(0, path);
        for (std::size_t i = 1; i <= others; ++i) {
            while (Observed::waits[i] == 0) SimulatedWorld::yield();
            SimulatedWorld::Fence::heavy();  // it has queued, and now all threads see that
            came.emplace_back(static_cast<int>(i), path);
        }
        section.lock->unlock(me);
    }
    void follow(std::size_t number, Path path) {
        while (came.size() < number) SimulatedWorld::yield();
        PathLock::Node me;
        section.lock->lock(path, me);
        section.pass();
        left.emplace_back(static_cast<int>(number), path);
        section.lock->unlock(me);
    }
};

template <class Check>
std::string proceed(const Protocol& protocol, Path holder, const std::vector<Path>& paths,
                    Check check) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Simulation simulation(seed);
        Procession procession{{protocol.make()}, {}, {}};
        Observed::waits.fill(0);
        simulation.thread([&] { procession.hold(holder, paths.size()); });
        for (std::size_t i = 0; i < paths.size(); ++i)
            simulation.thread([&, i] { procession.follow(i + 1, paths[i]); });
        if (std::string finding = simulation.run(); !finding.empty()) return finding;
        if (!check(procession.left)) return "wrong order with seed " + std::to_string(seed);
    }
    return {};
}

constexpr auto in_order_of_arrival = [](const auto& left) {
    return left.size() == 4 && std::is_sorted(left.begin(), left.end(), [](auto& a, auto& b) {
               return a.first < b.first;
           });
};

TEST_P(SimulatedLock, is_handed_over_in_the_order_of_arrival_where_it_says_so) {
    for (const Path path : {Path::main, Path::progress}) {
        const bool fifo = path == Path::main ? GetParam().fifo : GetParam().fifo_progress;
        if (!fifo) continue;
        EXPECT_EQ(proceed(GetParam(), path, std::vector(4, path), in_order_of_arrival), "");
    }
}

class SimulatedPriorityLock : public ::testing::TestWithParam<Protocol> {};
INSTANTIATE_TEST_SUITE_P(All, SimulatedPriorityLock,
                         ::testing::ValuesIn(protocols(PriorityLocks<Observed>{})), name_of);

TEST_P(SimulatedPriorityLock, prefers_the_main_path) {
    const auto main_first = [](const auto& left) {
        return left.size() == 5 && left[0].second == Path::main && left[1].second == Path::main;
    };
    const std::vector<Path> later_but_first{Path::progress, Path::progress, Path::main,
                                            Path::progress, Path::main};
    for (const Path holder : {Path::main, Path::progress})
        EXPECT_EQ(proceed(GetParam(), holder, later_but_first, main_first), "");
}

// --- real threads ---

class RealLock : public ::testing::TestWithParam<Protocol> {};
INSTANTIATE_TEST_SUITE_P(All, RealLock, ::testing::ValuesIn(protocols(Locks<>{})), name_of);

TEST_P(RealLock, excludes) {
    heddle::testing::Watchdog watchdog("threads of a lock");
    const auto lock = GetParam().make();
    long sum = 0;
    std::array<long, 5> passed{};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < passed.size(); ++t)
        threads.emplace_back([&, t] {
            for (int round = 0; round < 2'000; ++round) {
                PathLock::Node me;
                const Path path =
                    (round + static_cast<int>(t)) % 3 == 0 ? Path::main : Path::progress;
                const std::chrono::microseconds limit{round % 50};
                if (round % 5 == 1 && !lock->try_lock(path, me)) continue;
                if (round % 5 == 2 && !lock->lock_for(path, me, limit)) continue;
                if (round % 5 != 1 && round % 5 != 2) lock->lock(path, me);
                ++sum;
                ++passed[t];
                lock->unlock(me);
                watchdog.progress();
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(sum, std::accumulate(passed.begin(), passed.end(), 0L));
    EXPECT_GE(sum, 5 * 2'000 * 3 / 5);
}

TEST_P(RealLock, gives_up_when_the_time_is_over_and_works_afterwards) {
    heddle::testing::Watchdog watchdog("a time limit");
    const auto lock = GetParam().make();
    for (const Path holder : {Path::main, Path::progress})
        for (const Path comer : {Path::main, Path::progress}) {
            PathLock::Node me;
            lock->lock(holder, me);
            std::thread([&] {
                PathLock::Node other;
                const auto start = std::chrono::steady_clock::now();
                EXPECT_FALSE(lock->lock_for(comer, other, 2ms));
                EXPECT_GE(std::chrono::steady_clock::now() - start, 2ms);
                EXPECT_FALSE(lock->lock_for(comer, other, 0ns));
                EXPECT_FALSE(lock->lock_for(comer, other, -1ns));
                EXPECT_FALSE(lock->try_lock(comer, other));
            }).join();
            lock->unlock(me);
            ASSERT_TRUE(lock->lock_for(comer, me, std::chrono::nanoseconds::max()));
            lock->unlock(me);
            ASSERT_TRUE(lock->try_lock(holder, me));
            lock->unlock(me);
        }
}

}  // namespace
