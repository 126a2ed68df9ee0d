// SPDX-License-Identifier: BSD-3-Clause
/// Every lock protocol: under simulated schedules with store buffers, and with real threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "sync/locks/all.hpp"
#include "testing/simulation.hpp"
#include "testing/watchdog.hpp"

namespace {

using namespace heddle::sync::locks;
using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::SimulationOptions;
using heddle::testing::try_seeds;
using namespace std::chrono_literals;

/// A simulated world that tells who waits. A thread pauses or sleeps within lock() only after it has queued.
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

/// A node where it usually lies, whose memory is somebody else's as soon as the lock is done with it.
template <class L>
class Place {
public:
    using Node = typename L::Node;
    ~Place() { check(); }

    Node& fresh() {
        check();
        vacated_ = false;
        return *::new (room_) Node;
    }
    void vacate() {
        empty_own_buffer_.exchange(0, heddle::relaxed);
        std::memset(room_, other_use, sizeof room_);
        vacated_ = true;
    }
    void check() {
        if (vacated_ &&
            std::any_of(room_, room_ + sizeof room_, [](auto b) { return b != other_use; }))
            Simulation::fail("a node was touched after the lock was done with it");
    }

private:
    static constexpr unsigned char other_use = 0xa5;
    alignas(Node) unsigned char room_[sizeof(Node)];
    bool vacated_ = false;
    SimulatedWorld::Atom<std::uint32_t> empty_own_buffer_{0};
};

template <class L>
struct Section {
    L lock;
    int inside = 0;

    void pass() {
        if (++inside != 1) Simulation::fail("two threads hold the lock");
        Simulation::point();
        --inside;
    }
};

/// A thread that comes in every way there is. `timed`: one in how many acquisitions has a time limit.
template <class L>
void come_and_go(Section<L>& section, Simulation& simulation, int rounds, unsigned timed) {
    Place<L> place;
    for (int round = 0; round < rounds; ++round) {
        auto& me = place.fresh();
        const Path path = simulation.random(2) == 0 ? Path::main : Path::progress;
        bool locked = true;
        if (simulation.random(6) == 0)
            locked = try_lock_on(section.lock, path, me);
        else if (simulation.random(timed) == 0)
            locked = lock_on_for(section.lock, path, me,
                                 std::chrono::nanoseconds{simulation.random(400)});
        else
            lock_on(section.lock, path, me);
        if (locked) {
            section.pass();
            section.lock.unlock(me);
        }
        place.vacate();
        for (unsigned i = simulation.random(4); i > 0; --i) SimulatedWorld::yield();
        place.check();
    }
    // Some come no more: whoever waits then must not have relied on them.
    if (simulation.random(2) == 0) return;
    typename L::Node me, other;
    lock_on(section.lock, Path::progress, me);
    section.pass();
    if (try_lock_on(section.lock, Path::main, other)) Simulation::fail("two threads hold the lock");
    if (lock_on_for(section.lock, Path::main, other, 50ns))
        Simulation::fail("a limit let two threads in");
    section.pass();
    section.lock.unlock(me);
}

template <class L>
std::string crowd(std::uint64_t seeds, SimulationOptions options, int threads, unsigned timed) {
    return try_seeds(seeds, options, [&](Simulation& simulation) {
        auto section = std::make_unique<Section<L>>();
        for (int i = 0; i < threads; ++i)
            simulation.thread(
                [s = section.get(), &simulation, timed] { come_and_go(*s, simulation, 6, timed); });
        return section;
    });
}

template <class>
struct TypesOf;
template <class... L>
struct TypesOf<List<L...>> {
    using type = ::testing::Types<L...>;
};
struct Names {
    template <class L>
    static std::string GetName(int) {
        std::string name(L::name);
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    }
};

template <class L>
class SimulatedLock : public ::testing::Test {};
TYPED_TEST_SUITE(SimulatedLock, TypesOf<Locks<Observed>>::type, Names);

TYPED_TEST(SimulatedLock, excludes) {
    EXPECT_EQ(crowd<TypeParam>(200, {}, 2, 1000), "");
    EXPECT_EQ(crowd<TypeParam>(200, {}, 4, 1000), "");
}

TYPED_TEST(SimulatedLock, excludes_and_forgets_those_whose_time_is_over) {
    EXPECT_EQ(crowd<TypeParam>(300, {}, 3, 1), "");  // all have a limit
    EXPECT_EQ(crowd<TypeParam>(300, {}, 5, 2), "");
}

TYPED_TEST(SimulatedLock, excludes_where_there_is_no_heavy_fence) {
    EXPECT_EQ(crowd<TypeParam>(50, {.heavy_fences = false, .fences_available = false}, 4, 3), "");
}

/// Threads come one after another while thread 0 holds the lock, each on its path; who got it in which order.
template <class L>
struct Procession {
    Section<L> section;
    std::vector<std::pair<int, Path>> came, left;

    void hold(Path path, std::size_t others) {
        typename L::Node me;
        lock_on(section.lock, path, me);
        came.emplace_back(0, path);
        for (std::size_t i = 1; i <= others; ++i) {
            while (Observed::waits[i] == 0) SimulatedWorld::yield();
            SimulatedWorld::Fence::heavy();  // it has queued, and now everybody sees that
            came.emplace_back(static_cast<int>(i), path);
        }
        section.lock.unlock(me);
    }
    void follow(std::size_t number, Path path) {
        while (came.size() < number) SimulatedWorld::yield();
        typename L::Node me;
        lock_on(section.lock, path, me);
        section.pass();
        left.emplace_back(static_cast<int>(number), path);
        section.lock.unlock(me);
    }
};

template <class L, class Check>
std::string proceed(Path holder, std::vector<Path> paths, Check check) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Simulation simulation(seed);
        Procession<L> procession;
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

TYPED_TEST(SimulatedLock, is_handed_over_in_the_order_of_arrival_where_it_says_so) {
    if constexpr (TypeParam::fifo) {
        EXPECT_EQ(proceed<TypeParam>(Path::main, std::vector(4, Path::main), in_order_of_arrival),
                  "");
    }
    if constexpr (PriorityLock<TypeParam>) {
        if constexpr (TypeParam::fifo_progress) {
            EXPECT_EQ(proceed<TypeParam>(Path::progress, std::vector(4, Path::progress),
                                         in_order_of_arrival),
                      "");
        }
    }
}

TYPED_TEST(SimulatedLock, prefers_the_main_path_where_it_has_priorities) {
    if constexpr (PriorityLock<TypeParam>) {
        const auto main_first = [](const auto& left) {
            return left.size() == 5 && left[0].second == Path::main && left[1].second == Path::main;
        };
        const std::vector<Path> later_but_first{Path::progress, Path::progress, Path::main,
                                                Path::progress, Path::main};
        EXPECT_EQ(proceed<TypeParam>(Path::main, later_but_first, main_first), "");
        EXPECT_EQ(proceed<TypeParam>(Path::progress, later_but_first, main_first), "");
    }
}

// --- real threads ---

template <class L>
class RealLock : public ::testing::Test {};
TYPED_TEST_SUITE(RealLock, TypesOf<Locks<>>::type, Names);

TYPED_TEST(RealLock, excludes) {
    heddle::testing::Watchdog watchdog("threads of a lock");
    TypeParam lock;
    long sum = 0;
    std::array<long, 5> passed{};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < passed.size(); ++t)
        threads.emplace_back([&, t] {
            for (int round = 0; round < 2'000; ++round) {
                typename TypeParam::Node me;
                const Path path =
                    (round + static_cast<int>(t)) % 3 == 0 ? Path::main : Path::progress;
                if (round % 5 == 1 && !try_lock_on(lock, path, me)) continue;
                if (round % 5 == 2 &&
                    !lock_on_for(lock, path, me, std::chrono::microseconds{round % 50}))
                    continue;
                if (round % 5 != 1 && round % 5 != 2) lock_on(lock, path, me);
                ++sum;
                ++passed[t];
                lock.unlock(me);
                watchdog.progress();
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(sum, std::accumulate(passed.begin(), passed.end(), 0L));
    EXPECT_GE(sum, 5 * 2'000 * 3 / 5);
}

TYPED_TEST(RealLock, gives_up_when_the_time_is_over_and_works_afterwards) {
    heddle::testing::Watchdog watchdog("a time limit");
    TypeParam lock;
    for (const Path holder : {Path::main, Path::progress})
        for (const Path comer : {Path::main, Path::progress}) {
            typename TypeParam::Node me;
            lock_on(lock, holder, me);
            std::thread([&] {
                typename TypeParam::Node other;
                const auto start = std::chrono::steady_clock::now();
                EXPECT_FALSE(lock_on_for(lock, comer, other, 2ms));
                EXPECT_GE(std::chrono::steady_clock::now() - start, 2ms);
                EXPECT_FALSE(lock_on_for(lock, comer, other, 0ns));
                EXPECT_FALSE(lock_on_for(lock, comer, other, -1ns));
                EXPECT_FALSE(try_lock_on(lock, comer, other));
            }).join();
            lock.unlock(me);
            ASSERT_TRUE(lock_on_for(lock, comer, me, std::chrono::nanoseconds::max()));
            lock.unlock(me);
            ASSERT_TRUE(try_lock_on(lock, holder, me));
            lock.unlock(me);
        }
}

}  // namespace
