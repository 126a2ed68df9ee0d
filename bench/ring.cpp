// SPDX-License-Identifier: BSD-3-Clause

/// Yardstick: the rate that the hardware allows to Multirate's protocol with nothing of MPI around
/// it.
///
/// Two processes have n threads each. There is a private ring for every (sending process,
/// instance): one producer, one consumer, cells of one cache line, so that a message is one line
/// that changes owner. The instance is the tag. The receiver keeps a request per receive in a queue
/// per instance, and takes its requests from a free list. Any thread may poll an instance by
/// try-lock, as a library must. Every cell carries a time stamp. The program checks nothing and
/// keeps no order across tags.
///
/// It prints `pairs N rate X M/s` and, for one pair, half the round trip of an empty message.

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace {

constexpr int instances = 64, window = 128;
constexpr std::uint32_t cells = 1024, report_every = 64;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

double now() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

std::uint64_t stamp() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

void relax() {
#if defined(__x86_64__)
    _mm_pause();
#endif
}

/// A message. `turn` is the position in the stream plus one once the cell is full.
struct alignas(64) Cell {
    std::atomic<std::uint32_t> turn;
    std::int32_t tag;
    std::uint64_t stamp;
    std::uint32_t length;
    char payload[40];
};

/// Shared memory between one producer and one consumer.
struct Ring {
    alignas(64) std::atomic<std::uint32_t> consumed;
    Cell cell[cells];
};

struct Shared {
    Ring ring[2][instances];  // [receiving process][instance]
    std::atomic<int> ready;
};

struct alignas(64) Request {
    std::atomic<std::uint32_t> done;
    std::uint32_t length;
    Request* next;
    char* buffer;
};

/// The receiving half of an instance.
struct alignas(64) Inbox {
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    std::uint32_t taken = 0;
    Request *free = nullptr, *first = nullptr, *last = nullptr;

    bool try_lock() { return !busy.test_and_set(memory_order_acquire); }
    void lock() {
        while (!try_lock()) relax();
    }
    void unlock() { busy.clear(memory_order_release); }
};

/// The sending half of an instance; one thread only.
struct alignas(64) Outbox {
    std::uint32_t sent = 0, consumed = 0;
};

class Process {
public:
    Process(Shared& shared, int me)
        : shared_(shared), me_(me), inbox_(instances), outbox_(instances) {}

    void send(int tag, char byte, std::uint32_t length) {
        Outbox& out = outbox_[tag];
        Ring& ring = shared_.ring[1 - me_][tag];
        for (int k = 1; out.sent - out.consumed == cells; ++k) {
            out.consumed = ring.consumed.load(memory_order_acquire);
            if (k % 64 == 0) sched_yield();
        }
        Cell& cell = ring.cell[out.sent % cells];
        cell.tag = tag;
        cell.stamp = stamp();
        cell.length = length;
        if (length) cell.payload[0] = byte;
        cell.turn.store(++out.sent, memory_order_release);
    }

    Request* receive(int tag, char* buffer) {
        Inbox& in = inbox_[tag];
        in.lock();
        Request* request = in.free;
        if (request)
            in.free = request->next;
        else
            request = new Request;
        request->done.store(0, memory_order_relaxed);
        request->next = nullptr;
        request->buffer = buffer;
        (in.first ? in.last->next : in.first) = request;
        in.last = request;
        in.unlock();
        return request;
    }

    /// Spins a little, then yields the core: the other side may need it.
    void wait(Request* request, int tag) {
        for (int k = 1; !request->done.load(memory_order_acquire); ++k) {
            poll(tag);
            if (k % 64 == 0) sched_yield();
        }
        Inbox& in = inbox_[tag];
        in.lock();
        request->next = in.free;
        in.free = request;
        in.unlock();
    }

private:
    void poll(int tag) {
        Inbox& in = inbox_[tag];
        if (!in.try_lock()) return;
        Ring& ring = shared_.ring[me_][tag];
        while (in.first) {
            Cell& cell = ring.cell[in.taken % cells];
            if (cell.turn.load(memory_order_acquire) != in.taken + 1) break;
            Request* request = in.first;
            in.first = request->next;
            request->length = cell.length;
            if (cell.length) *request->buffer = cell.payload[0];
            request->done.store(1, memory_order_release);
            if (++in.taken % report_every == 0) ring.consumed.store(in.taken, memory_order_release);
        }
        in.unlock();
    }

    Shared& shared_;
    const int me_;
    std::vector<Inbox> inbox_;
    std::vector<Outbox> outbox_;
};

int control_of(int tag) { return instances / 2 + tag; }

char control(Process& process, int tag) {
    char byte = 0;
    process.wait(process.receive(control_of(tag), &byte), control_of(tag));
    return byte;
}

void send_windows(Process& process, int tag) {
    while (control(process, tag) == 0) {
        for (int k = 0; k < window; ++k) process.send(tag, 0, 0);
        control(process, tag);
    }
}

double receive_windows(Process& process, int tag, double seconds) {
    Request* requests[window];
    char buffer = 0;
    const double start = now();
    double windows = 0;
    for (; now() - start < seconds; ++windows) {
        for (Request*& r : requests) r = process.receive(tag, &buffer);
        process.send(control_of(tag), 0, 1);
        for (Request* r : requests) process.wait(r, tag);
        process.send(control_of(tag), 0, 1);
    }
    const double rate = windows * window / (now() - start);
    process.send(control_of(tag), 1, 1);
    return rate;
}

void half_round_trip(Process& process, int me) {
    const int trips = 100000, tag = 0;
    char byte = 0;
    const double start = now();
    for (int k = 0; k < trips; ++k) {
        if (me) process.send(tag, 0, 0);
        process.wait(process.receive(tag, &byte), tag);
        if (!me) process.send(tag, 0, 0);
    }
    if (me) std::printf("half round trip %.1f ns\n", (now() - start) / trips / 2 * 1e9);
}

/// Moves this process to the n-th of the cores that it may use.
void pin(int n) {
    cpu_set_t allowed, one;
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed) || n-- > 0) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

void meet(Shared& shared) {
    shared.ready.fetch_add(1);
    while (shared.ready.load() < 2) sched_yield();
}

void run(Shared& shared, int me, int pairs, double seconds) {
    pin(me);
    Process process(shared, me);
    std::vector<double> rates(pairs);
    std::vector<std::thread> threads;
    meet(shared);
    for (int tag = 0; tag < pairs; ++tag)
        threads.emplace_back([&, tag] {
            if (me)
                rates[tag] = receive_windows(process, tag, seconds);
            else
                send_windows(process, tag);
        });
    for (std::thread& thread : threads) thread.join();
    double sum = 0;
    for (const double rate : rates) sum += rate;
    if (me) std::printf("pairs %d rate %.2f M/s\n", pairs, sum / 1e6);
    if (pairs == 1) half_round_trip(process, me);
}

}  // namespace

int main(int argc, char** argv) {
    const int pairs = argc > 1 ? std::atoi(argv[1]) : 1;
    const double seconds = argc > 2 ? std::atof(argv[2]) : 0.5;
    if (pairs < 1 || pairs > instances / 2 || seconds <= 0) {
        std::fprintf(stderr, "ring PAIRS (1 to %d) [SECONDS]\n", instances / 2);
        return 2;
    }
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    Shared& shared = *static_cast<Shared*>(memory);
    const pid_t other = fork();
    if (other < 0) return 1;
    run(shared, other != 0, pairs, seconds);
    std::fflush(stdout);
    if (other == 0) _exit(0);
    int status = 0;
    waitpid(other, &status, 0);
    return status != 0;
}
