// SPDX-License-Identifier: BSD-3-Clause

/// Latency regime ("Lock Contention Management in Multithreaded MPI", section 3.4.2). Rank 0 is a
/// single-threaded server, and rank 1 has n client threads. Each thread sends one message, waits
/// for its acknowledgement of the same size and goes on. The server serves one request at a time.
/// Clients call MPI_Send and MPI_Recv. With --calls nonblocking, as in the paper, they call
/// MPI_Isend, MPI_Irecv, and MPI_Wait for each. The paper leaves open how the server looks for the
/// next request, so there are three methods:
///   any      MPI_Recv from MPI_ANY_SOURCE with MPI_ANY_TAG; the answer carries the tag (default)
///   in-turn  MPI_Recv for thread 0, 1, 2, ... in this order
///   posted   one MPI_Irecv per thread kept posted, MPI_Waitany
///
/// A request whose first byte is 1 is a thread's last one.
///
/// round_trip_us is the time for which one thread waits. one_way_us is half the time between
/// successive requests of all threads. It is the latency of the paper, whose threads share out a
/// number of iterations. If the library counts what its locks do, the program tells the efficiency
/// of both paths of the client.

#include <barrier>
#include <thread>

#include "counters.hpp"

namespace {

constexpr const char* usage =
    "latency_regime --clients N --size BYTES --server any|in-turn|posted\n"
    "               --calls blocking|nonblocking\n"
    "               --seconds S (of one repetition) --repetitions N\n";

struct Plan {
    int clients, size, repetitions;
    std::string server;
    bool blocking;
    double seconds;
};

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{};
    plan.clients = static_cast<int>(options.integer("clients", 16, 1));
    plan.size = static_cast<int>(options.integer("size", 64, 1));
    plan.server = options.choice("server", "any", {"any", "in-turn", "posted"});
    plan.blocking = options.choice("calls", "blocking", {"blocking", "nonblocking"}) == "blocking";
    plan.seconds = options.real("seconds", 0.5);
    plan.repetitions = static_cast<int>(options.integer("repetitions", 5, 1));
    options.done();
    return plan;
}

void answer(const std::vector<char>& data, int tag) {
    MPI_Send(data.data(), static_cast<int>(data.size()), MPI_CHAR, 1, tag, MPI_COMM_WORLD);
}

void serve_any(const Plan& plan) {
    std::vector<char> data(plan.size);
    for (int active = plan.clients; active > 0;) {
        MPI_Status status;
        MPI_Recv(data.data(), plan.size, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
        active -= data[0];
        answer(data, status.MPI_TAG);
    }
}

void serve_in_turn(const Plan& plan) {
    std::vector<char> data(plan.size);
    std::vector<bool> over(plan.clients);
    for (int active = plan.clients; active > 0;) {
        for (int tag = 0; tag < plan.clients; ++tag) {
            if (over[tag]) continue;
            MPI_Recv(data.data(), plan.size, MPI_CHAR, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            over[tag] = data[0];
            active -= data[0];
            answer(data, tag);
        }
    }
}

void serve_posted(const Plan& plan) {
    std::vector<std::vector<char>> data(plan.clients, std::vector<char>(plan.size));
    std::vector<MPI_Request> requests(plan.clients);
    const auto post = [&](int tag) {
        MPI_Irecv(data[tag].data(), plan.size, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &requests[tag]);
    };
    for (int tag = 0; tag < plan.clients; ++tag) post(tag);
    for (int active = plan.clients; active > 0;) {
        int tag = 0;
        MPI_Waitany(plan.clients, requests.data(), &tag, MPI_STATUS_IGNORE);
        const std::vector<char> request = data[tag];
        if (request[0])
            --active;
        else
            post(tag);
        answer(request, tag);
    }
}

void serve(const Plan& plan) {
    if (plan.server == "any") return serve_any(plan);
    if (plan.server == "in-turn") return serve_in_turn(plan);
    serve_posted(plan);
}

void round_trip(const Plan& plan, int tag, std::vector<char>& out, std::vector<char>& in) {
    if (plan.blocking) {
        MPI_Send(out.data(), plan.size, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
        MPI_Recv(in.data(), plan.size, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Request sent, received;
    MPI_Isend(out.data(), plan.size, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &sent);
    MPI_Irecv(in.data(), plan.size, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &received);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
}

/// The round trips of one client thread in a repetition.
struct Trips {
    long number = 0;
    double seconds = 0;
    double rate() const { return static_cast<double>(number) / seconds; }
};

Trips client(const Plan& plan, int tag, double seconds) {
    std::vector<char> out(plan.size), in(plan.size);
    const double start = bench::now();
    long trips = 0;
    for (bool last = false; !last; ++trips) {
        last = bench::now() - start >= seconds;
        out[0] = last;
        round_trip(plan, tag, out, in);
    }
    return {trips, bench::now() - start};
}

/// Runs one repetition on the client's side. Returns the trips of each thread.
std::vector<Trips> clients(const Plan& plan, double seconds) {
    std::vector<Trips> all(plan.clients);
    std::vector<std::thread> threads;
    std::barrier start(plan.clients);
    for (int tag = 0; tag < plan.clients; ++tag)
        threads.emplace_back([&, tag] {
            start.arrive_and_wait();
            all[tag] = client(plan, tag, seconds);
        });
    for (std::thread& thread : threads) thread.join();
    return all;
}

struct Summary {
    std::vector<double> total, round_trip_us, slowest, fastest;
    double trips = 0;
    bench::LockCounts counts;

    void add(const std::vector<Trips>& all) {
        double sum = 0, times = 0, low = all[0].rate(), high = low;
        for (const Trips& one : all) {
            const double rate = one.rate();
            sum += rate, times += 1e6 / rate;
            low = std::min(low, rate), high = std::max(high, rate);
            trips += static_cast<double>(one.number);
        }
        const double number = static_cast<double>(all.size()), mean = sum / number;
        total.push_back(sum);
        round_trip_us.push_back(times / number);
        slowest.push_back(low / mean);
        fastest.push_back(high / mean);
    }
};

void report(const Plan& plan, const Summary& summary, const bench::LockCounters& counters) {
    const double us = bench::median(summary.round_trip_us), total = bench::median(summary.total);
    const double low = bench::median(summary.slowest), high = bench::median(summary.fastest);
    const char* calls = plan.blocking ? "blocking" : "nonblocking";
    const std::string paths = bench::path_words(counters, summary.counts, summary.trips);
    std::printf(
        "latency regime: %d clients, %d B, server %s: round trip %.2f us, slowest thread "
        "%.2f and fastest %.2f of the mean rate\n",
        plan.clients, plan.size, plan.server.c_str(), us, low, high);
    std::printf(
        "result bench=latency_regime clients=%d size=%d server=%s calls=%s "
        "round_trip_us=%.3f one_way_us=%.3f slowest=%.3f fastest=%.3f total=%.5f%s\n",
        plan.clients, plan.size, plan.server.c_str(), calls, us, 0.5e6 / total, low, high,
        total / 1e6, paths.c_str());
}

void measure(const Plan& plan) {
    const bench::LockCounters counters;
    Summary summary;
    for (int k = 0; k <= plan.repetitions; ++k) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (bench::rank() == 0) {
            serve(plan);
            continue;
        }
        const bench::LockCounts before = counters.read();
        const std::vector<Trips> trips = clients(plan, k ? plan.seconds : plan.seconds / 4);
        if (k == 0) continue;  // the first repetition warms up
        summary.counts.add(before, counters.read());
        summary.add(trips);
    }
    if (bench::rank() == 1) report(plan, summary, counters);
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    bench::initialise(&argc, &argv, "multiple");
    bench::require_ranks(2);
    measure(plan);
    MPI_Finalize();
}
