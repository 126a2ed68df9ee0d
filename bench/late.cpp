// SPDX-License-Identifier: BSD-3-Clause

/// What it costs that the partner has been waiting: rank 0 computes for a while, then sends a message and
/// receives the answer of rank 1, which has been blocked in MPI_Recv all that time. The round trip as rank 0
/// sees it, median over many, for each time; and the CPU time that rank 1 spent for each round.

#include "common.hpp"

namespace {

constexpr const char* usage =
    "late --times T,... (us that rank 0 computes before each round) --rounds N (for each time)\n"
    "     --bytes B --level single|multiple\n2 ranks\n";

constexpr int tag = 5;

void compute(double seconds) {
    const double start = bench::now();
    while (bench::now() - start < seconds) {}
}

void send(std::vector<char>& data) {
    MPI_Send(data.data(), static_cast<int>(data.size()), MPI_CHAR, 1 - bench::rank(), tag,
             MPI_COMM_WORLD);
}
void receive(std::vector<char>& data) {
    MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_CHAR, 1 - bench::rank(), tag,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Round trips in seconds, on rank 0.
std::vector<double> round_trips(int rounds, double seconds, std::vector<char>& data) {
    std::vector<double> trips;
    for (int round = 0; round < rounds; ++round) {
        if (bench::rank() == 0) {
            compute(seconds);
            const double start = bench::now();
            send(data);
            receive(data);
            trips.push_back(bench::now() - start);
        } else {
            receive(data);
            send(data);
        }
    }
    return trips;
}

void measure(long microseconds, int rounds, std::vector<char>& data) {
    const double seconds = 1e-6 * static_cast<double>(microseconds);
    round_trips(rounds / 10 + 1, seconds, data);  // for what is learned on the way
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = bench::cpu_seconds();
    const std::vector<double> trips = round_trips(rounds, seconds, data);
    double cpu = (bench::cpu_seconds() - before) / rounds;
    if (bench::rank() == 1) MPI_Send(&cpu, 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
    if (bench::rank() != 0) return;
    MPI_Recv(&cpu, 1, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::printf("partner waited %6ld us: round trip %8.2f us, CPU of the partner %8.2f us\n",
                microseconds, bench::median(trips) * 1e6, cpu * 1e6);
    std::printf(
        "result bench=late waited_us=%ld bytes=%zu round_trip_us=%.3f partner_cpu_us=%.2f\n",
        microseconds, data.size(), bench::median(trips) * 1e6, cpu * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    const std::vector<long> times = options.list("times", "0,5,20,50,100,200,1000,5000");
    const int rounds = static_cast<int>(options.integer("rounds", 200, 1));
    std::vector<char> data(static_cast<std::size_t>(options.integer("bytes", 0)));
    const std::string level = options.choice("level", "multiple", {"single", "multiple"});
    options.done();
    bench::initialise(&argc, &argv, level);
    if (bench::ranks() != 2) bench::fail("needs 2 ranks");
    for (const long time : times) measure(time, rounds, data);
    MPI_Finalize();
}
