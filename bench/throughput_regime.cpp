// SPDX-License-Identifier: BSD-3-Clause

/// Throughput regime ("Lock Contention Management in Multithreaded MPI", section 3.4.3): messages
/// flow from the threads of a source process to those of a sink, pipelined. Thread i uses tag i.
/// Windows follow each other without waiting for an answer. The source stays at most `credit`
/// windows ahead, so that it cannot fill the memory of a slow sink. In the last window the first
/// byte of every message is 1. If the library counts what its locks do, the program tells the
/// efficiency of both paths of the sink.

#include <algorithm>
#include <barrier>
#include <thread>

#include "counters.hpp"

namespace {

constexpr const char* usage =
    "throughput_regime --threads N --size BYTES --window N --credit WINDOWS\n"
    "                  --seconds S (of one repetition) --repetitions N\n";

struct Plan {
    int threads, size, window, credit, repetitions;
    double seconds;
};

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{};
    plan.threads = static_cast<int>(options.integer("threads", 4, 1));
    plan.size = static_cast<int>(options.integer("size", 64, 1));
    plan.window = static_cast<int>(options.integer("window", 64, 1));
    plan.credit = static_cast<int>(options.integer("credit", 16, 1));
    plan.seconds = options.real("seconds", 0.3);
    plan.repetitions = static_cast<int>(options.integer("repetitions", 5, 1));
    options.done();
    return plan;
}

int credit_tag(const Plan& plan, int tag) { return plan.threads + tag; }

void take_credit(const Plan& plan, int tag) {
    char byte = 0;
    MPI_Recv(&byte, 0, MPI_CHAR, 1, credit_tag(plan, tag), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Sends windows for `seconds`. Returns their number.
long source(const Plan& plan, int tag, double seconds) {
    std::vector<char> data(plan.size);
    std::vector<MPI_Request> requests(plan.window);
    const double start = bench::now();
    long windows = 0;
    while (data[0] == 0) {
        if (windows >= plan.credit) take_credit(plan, tag);
        data[0] = bench::now() - start >= seconds;
        for (MPI_Request& r : requests)
            MPI_Isend(data.data(), plan.size, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &r);
        MPI_Waitall(plan.window, requests.data(), MPI_STATUSES_IGNORE);
        ++windows;
    }
    for (long k = std::min<long>(windows, plan.credit); k > 0; --k) take_credit(plan, tag);
    return windows;
}

void sink(const Plan& plan, int tag) {
    const std::size_t size = plan.size;
    std::vector<char> data(size * plan.window);
    std::vector<MPI_Request> requests(plan.window);
    const char byte = 0;
    do {
        for (int k = 0; k < plan.window; ++k)
            MPI_Irecv(&data[k * size], plan.size, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &requests[k]);
        MPI_Waitall(plan.window, requests.data(), MPI_STATUSES_IGNORE);
        MPI_Send(&byte, 0, MPI_CHAR, 0, credit_tag(plan, tag), MPI_COMM_WORLD);
    } while (data[0] == 0);
}

/// The amount that one repetition moved, on the source's side.
struct Moved {
    double messages = 0, seconds = 0;
};

Moved repetition(const Plan& plan, double seconds) {
    std::vector<long> windows(plan.threads);
    std::vector<std::thread> threads;
    std::barrier start(plan.threads);
    const bool sends = bench::rank() == 0;
    const double began = bench::now();
    for (int tag = 0; tag < plan.threads; ++tag)
        threads.emplace_back([&, tag] {
            start.arrive_and_wait();
            if (sends)
                windows[tag] = source(plan, tag, seconds);
            else
                sink(plan, tag);
        });
    for (std::thread& thread : threads) thread.join();
    double all = 0;
    for (const long one : windows) all += static_cast<double>(one);
    return {all * plan.window, bench::now() - began};
}

struct Summary {
    std::vector<double> rates;
    double messages = 0;
    bench::LockCounts counts_of_sink;
};

void report(const Plan& plan, const Summary& summary, const bench::LockCounters& counters) {
    const double rate = bench::median(summary.rates) / 1e6;
    const std::string paths = bench::path_words(counters, summary.counts_of_sink, summary.messages);
    std::printf("throughput regime: %d threads, %d B, window %d: %.3f M messages/s\n", plan.threads,
                plan.size, plan.window, rate);
    std::printf("result bench=throughput_regime threads=%d size=%d window=%d rate=%.4f%s\n",
                plan.threads, plan.size, plan.window, rate, paths.c_str());
}

void measure(const Plan& plan) {
    const bench::LockCounters counters;
    const bool sink_here = bench::rank() == 1;
    Summary summary;
    for (int k = 0; k <= plan.repetitions; ++k) {
        MPI_Barrier(MPI_COMM_WORLD);
        const bench::LockCounts before = counters.read();
        const Moved moved = repetition(plan, k ? plan.seconds : plan.seconds / 4);
        if (k == 0) continue;  // the first repetition warms up
        if (sink_here) summary.counts_of_sink.add(before, counters.read());
        summary.messages += moved.messages;
        summary.rates.push_back(moved.messages / moved.seconds);
    }
    summary.counts_of_sink.sum_over_ranks();
    if (bench::rank() == 0) report(plan, summary, counters);
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    bench::initialise(&argc, &argv, "multiple");
    bench::require_ranks(2);
    measure(plan);
    MPI_Finalize();
}
