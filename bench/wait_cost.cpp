// SPDX-License-Identifier: BSD-3-Clause

/// Measures the cost of waiting. In part one, every rank but 0 blocks in MPI_Recv for some seconds
/// while rank 0 sleeps outside MPI. The figure is the CPU time that each process used meanwhile. In
/// part two, rank 1 is blocked. Rank 0 sleeps, stamps the time into a message and sends it to rank
/// 1. Rank 1 tells how old the stamp is on return. Both ranks read CLOCK_MONOTONIC, so they must
/// share a machine.

#include <algorithm>
#include <thread>

#include "common.hpp"

namespace {

constexpr const char* usage =
    "wait_cost --seconds S (blocked) --wakes N --pause S (before each wake-up)\n"
    "          --level single|multiple\nany number of ranks from 2\n";

constexpr int tag = 3;

void pause_for(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double receive_stamp() {
    double stamp = 0;
    MPI_Recv(&stamp, 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return stamp;
}

void send_stamp(int to) {
    const double stamp = bench::now();
    MPI_Send(&stamp, 1, MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
}

/// Blocks for `seconds`. Returns the CPU seconds this process used meanwhile.
double blocked(double seconds) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = bench::cpu_seconds();
    if (bench::rank() == 0) {
        pause_for(seconds);
        for (int to = 1; to < bench::ranks(); ++to) send_stamp(to);
    } else {
        receive_stamp();
    }
    return bench::cpu_seconds() - before;
}

/// Returns the seconds from each stamp to the return of MPI_Recv, on rank 1. Ranks above 1 stay
/// blocked.
std::vector<double> wakes(int number, double pause) {
    std::vector<double> ages;
    for (int k = 0; k < number; ++k) {
        if (bench::rank() == 0) {
            pause_for(pause);
            send_stamp(1);
        } else if (bench::rank() == 1) {
            const double stamp = receive_stamp();
            ages.push_back(bench::now() - stamp);
        }
    }
    if (bench::rank() > 1) receive_stamp();
    if (bench::rank() == 0)
        for (int to = 2; to < bench::ranks(); ++to) send_stamp(to);
    return ages;
}

/// Returns each process's CPU time, on rank 1. Rank 0, which slept outside MPI, is left out.
std::vector<double> gather(double mine) {
    std::vector<double> all(bench::ranks());
    MPI_Gather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    all.erase(all.begin());
    return all;
}

void report(double seconds, const std::vector<double>& cpu, const std::vector<double>& ages) {
    const double most = *std::max_element(cpu.begin(), cpu.end()) * 1e3;
    const double wake = bench::median(ages) * 1e6;
    const double worst = *std::max_element(ages.begin(), ages.end()) * 1e6;
    std::printf("wait cost: %d ranks blocked %.1f s: at most %.1f ms of CPU; wake-up %.1f us\n",
                bench::ranks(), seconds, most, wake);
    std::printf(
        "result bench=wait_cost ranks=%d seconds=%.2f cpu_ms_max=%.2f cpu_ms_median=%.2f "
        "wake_us=%.2f wake_us_max=%.2f\n",
        bench::ranks(), seconds, most, bench::median(cpu) * 1e3, wake, worst);
}

}  // namespace

int main(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    const double seconds = options.real("seconds", 3);
    const int number = static_cast<int>(options.integer("wakes", 15, 1));
    const double pause = options.real("pause", 0.2);
    const std::string level = options.choice("level", "multiple", {"single", "multiple"});
    options.done();
    bench::initialise(&argc, &argv, level);
    if (bench::ranks() < 2) bench::fail("needs at least 2 ranks");
    const double mine = blocked(seconds);
    const std::vector<double> ages = wakes(number, pause);
    const std::vector<double> cpu = gather(mine);
    if (bench::rank() == 1) report(seconds, cpu, ages);
    MPI_Finalize();
}
