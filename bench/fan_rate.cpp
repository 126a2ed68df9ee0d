// SPDX-License-Identifier: BSD-3-Clause

/// Message rate of n senders, each with a receiver of its own. It is section 5 of "Fine-Grained
/// Multithreading Support for Hybrid Threaded MPI Programming". The senders are the threads of one
/// process, or processes. A receiver is always a process with a single thread.
///
/// In an iteration, the receiver posts its window of receives, acknowledges (0 bytes) and waits for
/// them. The sender waits for the acknowledgement and sends the window. So no message is
/// unexpected. The rate is n messages in the time of one, averaged over the senders, as in the
/// paper. With --operation null everything goes to MPI_PROC_NULL and no receivers are needed; if
/// there are any, they idle.
///
/// If the library counts what its locks do, the program tells how long each sending thread waits
/// for them. It also counts the acquisitions of a send alone (table 1). That takes a run with one
/// sender per process.

#include <barrier>
#include <functional>
#include <limits>
#include <thread>

#include "counters.hpp"

namespace {

constexpr const char* usage =
    "fan_rate --senders N --mode threads|processes --operation null|blocking|nonblocking\n"
    "         --size BYTES --window N --tag one|own (the same for all senders, or one each)\n"
    "         --seconds S (of one repetition) --iterations N (instead) --repetitions N\n"
    "threads: 1 + N ranks; processes: 2 N; with --operation null at least 1 and N\n";

struct Plan {
    int senders, size, window, repetitions;
    long iterations;
    double seconds;
    bool threads, null, blocking, own_tag;

    int sending_ranks() const { return threads ? 1 : senders; }
    int senders_here() const { return threads ? senders : 1; }
};

/// One end of a fan's rib: a sender, or its receiver.
struct Rib {
    int peer, tag;
};

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{};
    plan.senders = static_cast<int>(options.integer("senders", 1, 1));
    plan.threads = options.choice("mode", "threads", {"threads", "processes"}) == "threads";
    const std::string operation =
        options.choice("operation", "blocking", {"null", "blocking", "nonblocking"});
    plan.null = operation == "null";
    plan.blocking = operation != "nonblocking";
    plan.size = static_cast<int>(options.integer("size", 0));
    plan.window = static_cast<int>(options.integer("window", 128, 1));
    plan.own_tag = options.choice("tag", "one", {"one", "own"}) == "own";
    plan.seconds = options.real("seconds", 0.3);
    plan.iterations = options.integer("iterations", 0);
    plan.repetitions = static_cast<int>(options.integer("repetitions", 5, 1));
    options.done();
    return plan;
}

void require_ranks(const Plan& plan) {
    const int sending = plan.sending_ranks();
    if (plan.null && bench::ranks() >= sending) return;
    bench::require_ranks(plan.null ? sending : sending + plan.senders);
}

bool sends(const Plan& plan) { return bench::rank() < plan.sending_ranks(); }

Rib sender_rib(const Plan& plan, int thread) {
    const int sender = plan.threads ? thread : bench::rank();
    return {plan.null ? MPI_PROC_NULL : plan.sending_ranks() + sender, plan.own_tag ? sender : 0};
}

Rib receiver_rib(const Plan& plan) {
    const int sender = bench::rank() - plan.sending_ranks();
    return {plan.threads ? 0 : sender, plan.own_tag ? sender : 0};
}

class Sender {
public:
    Sender(const Plan& plan, int thread)
        : plan_(plan),
          rib_(sender_rib(plan, thread)),
          data_(plan.size + 1),
          requests_(plan.window) {}

    /// Runs the loop and returns its seconds.
    double run(long iterations) {
        const double start = bench::now();
        for (long i = 0; i < iterations; ++i) {
            wait_for_receiver();
            send_window();
        }
        return bench::now() - start;
    }

    void wait_for_receiver() {
        char byte = 0;
        MPI_Recv(&byte, 0, MPI_CHAR, rib_.peer, rib_.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    void send_window() {
        if (plan_.blocking) {
            for (int k = 0; k < plan_.window; ++k)
                MPI_Send(data_.data(), plan_.size, MPI_CHAR, rib_.peer, rib_.tag, MPI_COMM_WORLD);
            return;
        }
        for (MPI_Request& r : requests_)
            MPI_Isend(data_.data(), plan_.size, MPI_CHAR, rib_.peer, rib_.tag, MPI_COMM_WORLD, &r);
        MPI_Waitall(plan_.window, requests_.data(), MPI_STATUSES_IGNORE);
    }

private:
    const Plan& plan_;
    Rib rib_;
    std::vector<char> data_;
    std::vector<MPI_Request> requests_;
};

void receive(const Plan& plan, long iterations) {
    const Rib rib = receiver_rib(plan);
    const std::size_t size = plan.size;
    std::vector<char> data(size * plan.window + 1);
    std::vector<MPI_Request> requests(plan.window);
    const char byte = 0;
    for (long i = 0; i < iterations; ++i) {
        for (int k = 0; k < plan.window; ++k)
            MPI_Irecv(&data[k * size], plan.size, MPI_CHAR, rib.peer, rib.tag, MPI_COMM_WORLD,
                      &requests[k]);
        MPI_Send(&byte, 0, MPI_CHAR, rib.peer, rib.tag, MPI_COMM_WORLD);
        MPI_Waitall(plan.window, requests.data(), MPI_STATUSES_IGNORE);
    }
}

/// Returns the seconds of the loops of all senders of this process, added up.
double send(const Plan& plan, long iterations) {
    const int here = plan.senders_here();
    std::vector<double> seconds(here);
    std::barrier start(here);
    const auto work = [&](int thread) {
        Sender sender(plan, thread);
        start.arrive_and_wait();
        seconds[thread] = sender.run(iterations);
    };
    std::vector<std::thread> others;
    for (int thread = 1; thread < here; ++thread) others.emplace_back(work, thread);
    work(0);
    for (std::thread& thread : others) thread.join();
    double sum = 0;
    for (const double one : seconds) sum += one;
    return sum;
}

/// Returns the seconds of the loop, averaged over all senders; the same number on all ranks.
double repetition(const Plan& plan, long iterations) {
    MPI_Barrier(MPI_COMM_WORLD);
    double mine = 0, all = 0;
    if (sends(plan))
        mine = send(plan, iterations);
    else if (!plan.null)
        receive(plan, iterations);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all / plan.senders;
}

/// Returns the iterations that a repetition of the wanted time takes. The search warms up.
long find_iterations(const Plan& plan) {
    if (plan.iterations > 0) {
        repetition(plan, std::max(plan.iterations / 4, 1l));
        return plan.iterations;
    }
    const double enough = plan.seconds / 4;
    long iterations = 1;
    double took = repetition(plan, iterations);
    while (took < enough) took = repetition(plan, iterations *= 2);
    return std::max(1l, static_cast<long>(static_cast<double>(iterations) * plan.seconds / took));
}

/// Returns the counts of one sender of each sending process in its sends alone, without
/// acknowledgements.
bench::LockCounts count_sends(const Plan& plan, const bench::LockCounters& counters,
                              long iterations) {
    MPI_Barrier(MPI_COMM_WORLD);
    bench::LockCounts counts;
    const bool receives = !plan.null && (!plan.threads || bench::rank() == 1);
    if (sends(plan)) {
        Sender sender(plan, 0);
        for (long i = 0; i < iterations; ++i) {
            sender.wait_for_receiver();
            const bench::LockCounts before = counters.read();
            sender.send_window();
            counts.add(before, counters.read());
        }
    } else if (receives) {
        receive(plan, iterations);
    }
    counts.sum_over_ranks();
    return counts;
}

/// The extremes of the waiting of single threads, ns.
struct Extremes {
    double most = 0, least = 0;

    /// Adds the sending thread that waited most between two readings, and the one that waited
    /// least. Threads that do not send do not wait.
    void add(const std::vector<unsigned long long>& before, std::vector<unsigned long long> after,
             int senders) {
        for (std::size_t thread = 0; thread < before.size(); ++thread)
            after[thread] -= before[thread];
        std::sort(after.begin(), after.end(), std::greater<>());
        if (after.size() < static_cast<std::size_t>(senders)) return;
        most += static_cast<double>(after.front());
        least += static_cast<double>(after[static_cast<std::size_t>(senders) - 1]);
    }
    /// Combines the extremes of all sending processes, in all of them.
    void over_ranks(bool sends) {
        if (!sends) least = std::numeric_limits<double>::max();
        MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    }
};

struct Outcome {
    std::vector<double> rates;
    Extremes waits;
    bench::LockCounts counts, counts_of_sends;
    double iterations = 0, seconds = 0;  // of one sender, all repetitions
    double counted_sends = 0;
};

Outcome measure(const Plan& plan, const bench::LockCounters& counters) {
    Outcome outcome;
    const long iterations = find_iterations(plan);
    const double messages = static_cast<double>(iterations) * plan.window * plan.senders;
    for (int k = 0; k < plan.repetitions; ++k) {
        const bench::LockCounts before = counters.read();
        const auto waits_before = bench::lock_waits();
        const double seconds = repetition(plan, iterations);
        if (sends(plan)) {
            outcome.counts.add(before, counters.read());
            outcome.waits.add(waits_before, bench::lock_waits(), plan.senders_here());
        }
        outcome.rates.push_back(messages / seconds);
        outcome.iterations += static_cast<double>(iterations);
        outcome.seconds += seconds;
    }
    outcome.counts.sum_over_ranks();
    outcome.waits.over_ranks(sends(plan));
    if (counters.known()) {
        const long counted = 100;
        outcome.counts_of_sends = count_sends(plan, counters, counted);
        outcome.counted_sends = static_cast<double>(counted) * plan.window * plan.sending_ranks();
    }
    return outcome;
}

/// Returns the words about locks: the time that a sending thread waits for locks in an iteration,
/// and the acquisitions for a send. The time has three values: the average, the thread that waits
/// most, and the one that waits least (in each repetition).
std::string lock_words(const Plan& plan, const bench::LockCounters& counters,
                       const Outcome& outcome) {
    if (!counters.known()) return {};
    const double wait_us = outcome.counts[bench::wait_ns] / 1e3 / plan.senders;
    return bench::ratio_word("lock_wait_us", wait_us, outcome.iterations) +
        bench::ratio_word("lock_wait_most_us", outcome.waits.most / 1e3, outcome.iterations) +
        bench::ratio_word("lock_wait_least_us", outcome.waits.least / 1e3, outcome.iterations) +
        bench::ratio_word("lock_wait_share", wait_us / 1e6, outcome.seconds) +
        bench::ratio_word("acquisitions", outcome.counts_of_sends.acquisitions(),
                          outcome.counted_sends);
}

void report(const Plan& plan, const bench::LockCounters& counters, const Outcome& outcome) {
    const double rate = bench::median(outcome.rates) / 1e6;
    const char* mode = plan.threads ? "threads" : "processes";
    const char* operation = plan.null ? "null" : plan.blocking ? "blocking" : "nonblocking";
    std::printf("fan rate: %d sending %s, %s, %d B: %.3f M messages/s\n", plan.senders, mode,
                operation, plan.size, rate);
    std::printf(
        "result bench=fan_rate senders=%d mode=%s operation=%s size=%d window=%d tag=%s "
        "rate=%.4f%s\n",
        plan.senders, mode, operation, plan.size, plan.window, plan.own_tag ? "own" : "one", rate,
        lock_words(plan, counters, outcome).c_str());
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    bench::initialise(&argc, &argv, plan.threads ? "multiple" : "single");
    require_ranks(plan);
    {
        const bench::LockCounters counters;
        const Outcome outcome = measure(plan, counters);
        if (bench::rank() == 0) report(plan, counters, outcome);
    }
    MPI_Finalize();
}
