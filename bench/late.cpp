// SPDX-License-Identifier: BSD-3-Clause

/// Measures the cost of a partner that has been waiting. Rank 0 computes for a while, then sends a
/// message and receives an answer. Rank 1, which answers, has been blocked in MPI_Recv all that
/// time. Figures are the round trip as rank 0 sees it and its MPI_Send alone, for each size and
/// time. They are medians over many. Besides there is the CPU time that rank 1 spent for each
/// round.

#include "common.hpp"

namespace {

constexpr const char* usage =
    "late --times T,... (us that rank 0 computes before each round) --rounds N (for each time)\n"
    "     --sizes B,... --answer same|empty (of rank 1) --level single|multiple\n2 ranks\n";

constexpr int tag = 5;

void compute(double seconds) {
    const double start = bench::now();
    while (bench::now() - start < seconds) {}
}

/// The messages between the two ranks.
struct Messages {
    std::vector<char> there, back;
};

void send(std::vector<char>& data) {
    MPI_Send(data.data(), static_cast<int>(data.size()), MPI_CHAR, 1 - bench::rank(), tag,
             MPI_COMM_WORLD);
}
void receive(std::vector<char>& data) {
    MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_CHAR, 1 - bench::rank(), tag,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// The seconds of each round, on rank 0.
struct Times {
    std::vector<double> send, trip;
};

Times round_trips(int rounds, double seconds, Messages& messages) {
    Times times;
    for (int round = 0; round < rounds; ++round) {
        if (bench::rank() == 0) {
            compute(seconds);
            const double start = bench::now();
            send(messages.there);
            times.send.push_back(bench::now() - start);
            receive(messages.back);
            times.trip.push_back(bench::now() - start);
        } else {
            receive(messages.there);
            send(messages.back);
        }
    }
    return times;
}

void measure(long bytes, long answer, long microseconds, int rounds) {
    Messages messages{std::vector<char>(static_cast<std::size_t>(bytes)),
                      std::vector<char>(static_cast<std::size_t>(answer))};
    const double seconds = 1e-6 * static_cast<double>(microseconds);
    round_trips(rounds / 10 + 1, seconds, messages);  // the library adapts in these rounds
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = bench::cpu_seconds();
    const Times times = round_trips(rounds, seconds, messages);
    double cpu = (bench::cpu_seconds() - before) / rounds;
    if (bench::rank() == 1) MPI_Send(&cpu, 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
    if (bench::rank() != 0) return;
    MPI_Recv(&cpu, 1, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double trip = bench::median(times.trip) * 1e6, sent = bench::median(times.send) * 1e6;
    std::printf(
        "%9ld B, partner waited %6ld us: round trip %8.2f us, MPI_Send %8.2f us, CPU of the "
        "partner %8.2f us\n",
        bytes, microseconds, trip, sent, cpu * 1e6);
    std::printf(
        "result bench=late waited_us=%ld bytes=%ld round_trip_us=%.3f send_us=%.3f "
        "partner_cpu_us=%.2f\n",
        microseconds, bytes, trip, sent, cpu * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    const std::vector<long> times = options.list("times", "0,5,20,50,100,200,1000,5000");
    const std::vector<long> sizes = options.list("sizes", "0");
    const int rounds = static_cast<int>(options.integer("rounds", 200, 1));
    const bool same = options.choice("answer", "same", {"same", "empty"}) == "same";
    const std::string level = options.choice("level", "multiple", {"single", "multiple"});
    options.done();
    bench::initialise(&argc, &argv, level);
    if (bench::ranks() != 2) bench::fail("needs 2 ranks");
    for (const long size : sizes)
        for (const long time : times) measure(size, same ? size : 0, time, rounds);
    MPI_Finalize();
}
