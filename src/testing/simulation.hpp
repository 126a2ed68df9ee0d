// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A deterministic world for the primitives of sync/: threads are fibers, and a seed decides which
/// of them runs.
///
/// Scheduling     every access to an Atom, every fence, pause and yield is a point at which another
///                fiber may go on. Seeds differ in how often that happens. Some of them let a
///                thread run far ahead and others interleave finely.
/// Memory         that of x86 (total store order). A store goes into the store buffer of its fiber.
///                From there it goes to memory, in order, at random later points. A
///                read-modify-write, a sequentially consistent store and a system call empty the
///                fiber's own buffer. A heavy fence empties all buffers. Plain variables are not
///                buffered: locks must guard them.
/// Sleeping       a wait compares and falls asleep in one step, as in the kernel. No thread wakes
///                without a reason, unless Options::spurious_wakeups is set.
/// Findings       run() returns an empty string, or the error: all threads asleep, too many steps,
///                or a message of fail(), with the seed and the last steps.
/// Thread safety  none: one simulation at a time in a thread, and never one inside another.

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "platform/hierarchy.hpp"
#include "sync/orders.hpp"
#include "testing/rounds.hpp"

namespace heddle::testing {

class Fiber;

struct SimulationOptions {
    bool heavy_fences = true;      ///< false: a heavy fence does nothing (an error to be found)
    bool fences_available = true;  ///< the result of Fence::available(); if false, waits time out
    bool spurious_wakeups = false;
    /// The number of a thread that runs whenever it can, as with real-time priority on a single
    /// core. -1: none.
    int urgent_thread = -1;
    std::uint64_t most_steps = 2'000'000;
};

class Simulation {
public:
    using Options = SimulationOptions;

    explicit Simulation(std::uint64_t seed, Options options = {});
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// Adds a thread of the simulated world.
    void thread(std::function<void()> body);
    /// Runs all threads to their ends.
    [[nodiscard]] std::string run();
    std::uint64_t steps() const noexcept { return steps_; }
    int running() const noexcept;  ///< number of the thread that runs, in the order of thread()

    // --- for the threads inside ---

    /// Returns the simulation of the calling thread, or nullptr outside of one.
    static Simulation* current() noexcept;
    static void fail(const char* what);  ///< holds no resources, since its caller never returns.
    /// Marks a point, outside of the primitives, at which other threads may run.
    static void point() {
        if (Simulation* s = current()) s->schedule();
    }
    unsigned random(unsigned below) noexcept { return static_cast<unsigned>(random_() % below); }

    std::uint64_t load(const void* word, std::size_t bytes, const char* what);
    void store(void* word, std::size_t bytes, std::uint64_t value, bool at_once, const char* what);
    /// Reads memory for a read-modify-write in one step.
    void before_update(const void* word, const char* what);
    void after_update(const void* word, std::uint64_t value);
    void light();
    void heavy();
    void wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, bool limited);
    void wake_one(const std::atomic<std::uint32_t>& word);
    void wake_all(const std::atomic<std::uint32_t>& word);
    void yield();
    const Options& options() const noexcept { return options_; }

private:
    friend class Fiber;
    struct Event {
        int fiber;
        const char* what;
        const void* word;
        std::uint64_t value;
    };

    void note(const char* what, const void* word = nullptr, std::uint64_t value = 0);
    void schedule(bool must_leave = false);
    Fiber* choose(bool not_me);
    void drain_one();
    void switch_to(Fiber* fiber);
    void leave_for_good();
    std::string report(const std::string& what);
    int number_of(const void* word);

    const std::uint64_t seed_;
    const Options options_;
    std::mt19937_64 random_;
    unsigned switch_one_in_, drain_one_in_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::unique_ptr<Fiber> home_;
    Fiber* running_ = nullptr;
    std::uint64_t steps_ = 0;
    std::string finding_;
    std::deque<Event> trace_;
    std::vector<const void*> words_;
};

/// The simulated std::atomic. It lies in memory as a std::atomic, so that addresses serve as words.
template <class T>
class SimulatedAtom {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);

public:
    SimulatedAtom() noexcept : SimulatedAtom(T{}) {}
    SimulatedAtom(T value) noexcept : value_(value) {}
    SimulatedAtom(const SimulatedAtom&) = delete;
    SimulatedAtom& operator=(const SimulatedAtom&) = delete;

    T load(std::memory_order = seq_cst) const {
        Simulation* s = Simulation::current();
        return s == nullptr ? memory() : from_bits(s->load(&value_, sizeof(T), "load"));
    }
    void store(T value, std::memory_order order = seq_cst) {
        if (Simulation* s = Simulation::current())
            s->store(&value_, sizeof(T), to_bits(value), order == seq_cst,
                     order == seq_cst ? "store!" : "store");
        else
            value_.store(value, relaxed);
    }
    T exchange(T value, std::memory_order = seq_cst) {
        return update("exchange", [&](T) { return value; });
    }
    T fetch_add(T by, std::memory_order = seq_cst) {
        return update("add", [&](T old) { return static_cast<T>(old + by); });
    }
    T fetch_sub(T by, std::memory_order = seq_cst) {
        return update("sub", [&](T old) { return static_cast<T>(old - by); });
    }
    T fetch_or(T bits, std::memory_order = seq_cst) {
        return update("or", [&](T old) { return static_cast<T>(old | bits); });
    }
    T fetch_and(T bits, std::memory_order = seq_cst) {
        return update("and", [&](T old) { return static_cast<T>(old & bits); });
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order,
                                 std::memory_order = relaxed) {
        const T old =
            update("compare-exchange", [&](T was) { return was == expected ? value : was; });
        if (old == expected) return true;
        expected = old;
        return false;
    }

    std::atomic<T>& word() noexcept { return value_; }
    /// Returns the value in memory, whatever buffers hold.
    T memory() const noexcept { return value_.load(relaxed); }

private:
    template <class Change>
    T update(const char* what, Change&& change) {
        Simulation* s = Simulation::current();
        if (s != nullptr) s->before_update(&value_, what);
        const T old = memory();
        value_.store(change(old), relaxed);
        if (s != nullptr) s->after_update(&value_, to_bits(memory()));
        return old;
    }
    static std::uint64_t to_bits(T value) noexcept {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof value);
        return bits;
    }
    static T from_bits(std::uint64_t bits) noexcept {
        T value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

    std::atomic<T> value_;
};

/// A world for the templates of sync/ (see sync/native.hpp for its members).
struct SimulatedWorld {
    template <class T>
    using Atom = SimulatedAtom<T>;

    struct Fence {
        static bool available() noexcept {
            const Simulation* s = Simulation::current();
            return s == nullptr || s->options().fences_available;
        }
        static void light() noexcept {
            if (Simulation* s = Simulation::current()) s->light();
        }
        static void heavy() noexcept {
            if (Simulation* s = Simulation::current()) s->heavy();
        }
        static bool heavy_before_sleep() noexcept {
            heavy();
            return available();
        }
    };

    static void wait(Atom<std::uint32_t>& word, std::uint32_t expected) noexcept {
        if (Simulation* s = Simulation::current())
            s->wait(word.word(), expected, !Fence::available());
    }
    template <class Duration>
    static void wait_for(Atom<std::uint32_t>& word, std::uint32_t expected, Duration) noexcept {
        if (Simulation* s = Simulation::current()) s->wait(word.word(), expected, true);
    }
    static void wake_one(Atom<std::uint32_t>& word) noexcept {
        if (Simulation* s = Simulation::current()) s->wake_one(word.word());
    }
    static void wake_all(Atom<std::uint32_t>& word) noexcept {
        if (Simulation* s = Simulation::current()) s->wake_all(word.word());
    }
    static void pause() noexcept { Simulation::point(); }
    static constexpr int pauses_before_offer = 8;
    static void yield() noexcept {
        if (Simulation* s = Simulation::current()) s->yield();
    }
    /// Returns the time, a nanosecond for each step.
    static std::chrono::nanoseconds now() noexcept {
        Simulation::point();
        const Simulation* s = Simulation::current();
        return std::chrono::nanoseconds{s == nullptr ? 0 : s->steps()};
    }
    /// Returns processor n of 8 for thread n: two on a core, two cores in a socket.
    static unsigned processor() noexcept {
        const Simulation* s = Simulation::current();
        return s == nullptr ? 0 : static_cast<unsigned>(s->running()) % 8;
    }
    static const platform::Hierarchy& hierarchy() {
        static const platform::Hierarchy two_levels{
            {{0, 0, 1, 1, 2, 2, 3, 3}, {0, 0, 0, 0, 1, 1, 1, 1}}};
        return two_levels;
    }
};

/// Tries seeds from 1 on. Returns the first finding, or an empty string. `set_up(simulation)` adds
/// threads and returns an object that lives as long as they do.
template <class SetUp>
std::string try_seeds(std::uint64_t seeds, SimulationOptions options, SetUp&& set_up) {
    for (std::uint64_t seed = 1; seed <= rounds_in_one_thread(seeds); ++seed) {
        SimulationOptions mine = options;
        mine.spurious_wakeups = mine.spurious_wakeups || (mine.heavy_fences && seed % 16 == 0);
        Simulation simulation(seed, mine);
        [[maybe_unused]] const auto world = set_up(simulation);
        if (std::string finding = simulation.run(); !finding.empty()) return finding;
    }
    return {};
}

}  // namespace heddle::testing
