// SPDX-License-Identifier: BSD-3-Clause

/// Ping-pong between ranks 0 and 1: half the round trip and the bandwidth for each size. Each side
/// sends from one buffer and receives into another. The number of round trips of a repetition
/// follows from a short warm-up, so that every size takes about the same time.

#include "common.hpp"

namespace {

constexpr const char* usage =
    "pingpong --sizes 0,8,64,1K,... --level single|multiple\n"
    "         --seconds S (of one repetition) --repetitions N\n";

struct Plan {
    std::vector<long> sizes;
    std::string level;
    double seconds;
    int repetitions;
};

struct Buffers {
    explicit Buffers(long size) : out(size + 1, 'o'), in(size + 1, 'i') {}
    std::vector<char> out, in;
};

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{};
    plan.sizes = options.list("sizes", "0,8,64,1K,4K,16K,64K,256K,1M,4M,16M");
    plan.level = options.choice("level", "multiple", {"single", "multiple"});
    plan.seconds = options.real("seconds", 0.05);
    plan.repetitions = static_cast<int>(options.integer("repetitions", 9, 1));
    options.done();
    return plan;
}

/// Seconds that `trips` round trips take.
double round_trips(long trips, int size, Buffers& buffers) {
    const int me = bench::rank(), peer = 1 - me, tag = 7;
    const double start = bench::now();
    for (long k = 0; k < trips; ++k) {
        if (me == 0) MPI_Send(buffers.out.data(), size, MPI_CHAR, peer, tag, MPI_COMM_WORLD);
        MPI_Recv(buffers.in.data(), size, MPI_CHAR, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (me == 1) MPI_Send(buffers.out.data(), size, MPI_CHAR, peer, tag, MPI_COMM_WORLD);
    }
    return bench::now() - start;
}

/// Both ranks must agree on the number, so rank 0 measures and tells.
long trips_for(double seconds, int size, Buffers& buffers) {
    round_trips(5, size, buffers);
    const long probe = 20;
    const double each = round_trips(probe, size, buffers) / probe;
    long trips = std::max(4L, static_cast<long>(seconds / each));
    MPI_Bcast(&trips, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    return trips;
}

void measure(const Plan& plan, long size) {
    Buffers buffers(size);
    const int bytes = static_cast<int>(size);
    const long trips = trips_for(plan.seconds, bytes, buffers);
    round_trips(trips / 4, bytes, buffers);
    std::vector<double> halves;
    for (int k = 0; k < plan.repetitions; ++k)
        halves.push_back(round_trips(trips, bytes, buffers) / trips / 2);
    if (bench::rank() != 0) return;
    const double half = bench::median(halves);
    const double least = *std::min_element(halves.begin(), halves.end());
    std::printf("pingpong: %9ld B %12.3f us %12.1f MB/s\n", size, half * 1e6, size / half / 1e6);
    std::printf("result bench=pingpong bytes=%ld level=%s latency_us=%.4f min_us=%.4f MBps=%.1f\n",
                size, plan.level.c_str(), half * 1e6, least * 1e6, size / half / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    bench::initialise(&argc, &argv, plan.level);
    bench::require_ranks(2);
    for (const long size : plan.sizes) measure(plan, size);
    MPI_Finalize();
}
