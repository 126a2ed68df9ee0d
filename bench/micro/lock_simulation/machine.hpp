// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A machine of many cores in virtual time: its threads pay for the transfers of cache lines.
///
/// Threads        fibers; thread n runs on processor n, alone. The thread whose time is least goes
///                on. So the costs determine the order of everything, and a run repeats exactly.
/// Lines          a processor has a line, alone or with others, or has to get it. Reading fetches
///                it from the nearest processor that has it. Writing takes it from all of them, as
///                long as the farthest one needs. A line serves one request at a time; later
///                requests wait in order.
/// Simplified     a thread waits for its own stores (no store buffer); loads and stores of the lock
///                are sequentially consistent; a line that is in no cache comes from near; caches
///                never overflow; processors of one core do not slow each other down.
/// Spinning       costs nothing while the line does not change. A waiting thread goes on when
///                another thread writes a line that it has looked at since its last wait.
/// Thread safety  none: one machine at a time.

#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <unordered_map>
#include <vector>

#include "platform/hierarchy.hpp"

namespace heddle::bench {

using Time = std::int64_t;  ///< picoseconds
constexpr Time nanoseconds(double ns) { return static_cast<Time>(ns * 1000); }

struct Costs {
    Time hit = nanoseconds(1.5);     ///< an access to a line that the processor has
    Time locked = nanoseconds(7);    ///< added by a read-modify-write
    Time sibling = nanoseconds(15);  ///< a line from the other processor of the core
    Time near = nanoseconds(60);     ///< a line from another core of the socket
    Time far = nanoseconds(140);     ///< a line from another socket
    Time pause = nanoseconds(20);    ///< of a spin loop; a waiter sees a change half of it late
    Time system_call = nanoseconds(300);
    Time heavy_fence = nanoseconds(400);
    Time wake_up = nanoseconds(3000);  ///< from the futex call until the sleeper runs
    unsigned overlap = 1;              ///< lines that a core fetches at once
};

struct Topology {
    unsigned sockets = 4, cores = 11, threads = 2;  ///< cores of a socket, processors of a core
    unsigned processors() const { return sockets * cores * threads; }
    unsigned core(unsigned processor) const { return processor / threads; }
    unsigned socket(unsigned processor) const { return core(processor) / cores; }
    platform::Hierarchy hierarchy() const;  ///< the levels that tell processors apart
};

class Machine {
public:
    static constexpr std::size_t most_processors = 512;

    Machine(const Topology& topology, const Costs& costs);
    ~Machine();
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    void thread(std::function<void()> body);
    /// Runs until that time, and leaves threads that are not over then where they are. Throws
    /// std::runtime_error if all wait for each other.
    void run(Time until);

    // --- for the threads ---

    static Machine& here() { return *current_; }
    Time now() const { return now_; }
    unsigned processor() const;
    const platform::Hierarchy& hierarchy() const { return hierarchy_; }

    void work(Time time) { go_on_at(now_ + time); }
    void read(const void* word);
    /// Waits for the moment at which the word can be written. The write follows at once, then
    /// wrote().
    void before_write(const void* word, bool locked);
    void wrote(const void* word);
    /// Makes the value just read, or not changed, one to wait for.
    void look_at(const void* word);
    /// Reads and writes one line after the other, several at once.
    void touch(std::span<const void* const> words);
    /// Pays for a look that was in vain.
    void pause() { work(costs_.pause); }
    void wait_for_change();
    void heavy_fence() { work(costs_.heavy_fence); }
    void sleep(const std::uint32_t& word, std::uint32_t expected);
    void wake_one(const std::uint32_t& word);

private:
    struct Fiber;
    struct Watcher {
        Fiber* fiber;
        std::uint64_t wait;  ///< number of its wait
    };
    struct Line {
        std::bitset<most_processors> holders;
        bool alone = false;  ///< its one holder may write it
        Time busy_until = 0;
        std::uint64_t version = 0;
        std::vector<Watcher> watchers;
    };
    struct Event {
        Time at;
        std::uint64_t number;  ///< of events at one time the smallest is the first
        Fiber* fiber;
        bool operator>(const Event& other) const {
            return at != other.at ? at > other.at : number > other.number;
        }
    };

    Line& line_of(const void* word) { return lines_[reinterpret_cast<std::uintptr_t>(word) / 64]; }
    Time distance(unsigned from, unsigned to) const;
    /// Returns the time at which the running thread's request, made at `at`, is served.
    Time fetch(Line& line, bool to_write, Time at);
    void wake(Fiber& fiber, Time at);
    void go_on_at(Time time);
    void leave();  ///< hands the processor to the next fiber
    static void begin(unsigned high, unsigned low);

    static inline Machine* current_ = nullptr;

    const Topology topology_;
    const Costs costs_;
    const platform::Hierarchy hierarchy_;
    std::unordered_map<std::uintptr_t, Line> lines_;
    std::unordered_map<const std::uint32_t*, std::vector<Fiber*>> sleepers_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::unique_ptr<Fiber> home_;
    Fiber* running_ = nullptr;
    Time now_ = 0, until_ = 0;
    std::uint64_t numbers_ = 0;
    std::size_t over_ = 0;
};

}  // namespace heddle::bench
