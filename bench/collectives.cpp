// SPDX-License-Identifier: BSD-3-Clause

/// Time of a collective call, back to back, for each operation and size. With --threads, as many
/// threads do the same at once, each on a communicator of its own.

#include <thread>

#include "common.hpp"

namespace {

constexpr const char* usage =
    "collectives --operations barrier,bcast,allreduce,allgather,alltoall --sizes 8,1K,64K,1M\n"
    "            (also reduce, and ibarrier, iallreduce: a call and a wait)\n"
    "            --threads N --seconds S (of one repetition) --repetitions N\n";

struct Plan {
    std::vector<std::string> operations;
    std::vector<long> sizes;
    int threads;
    double seconds;
    int repetitions;
};

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        words.push_back(text.substr(at, comma - at));
        at = comma + 1;
    }
    return words;
}

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{};
    plan.operations =
        split(options.text("operations", "barrier,bcast,allreduce,allgather,alltoall"));
    plan.sizes = options.list("sizes", "8,1K,64K,1M");
    plan.threads = static_cast<int>(options.integer("threads", 1, 1));
    plan.seconds = options.real("seconds", 0.05);
    plan.repetitions = static_cast<int>(options.integer("repetitions", 9, 1));
    options.done();
    return plan;
}

/// One thread's communicator and buffers.
struct Lane {
    MPI_Comm comm = MPI_COMM_WORLD;
    std::vector<double> in, out;
};

/// Seconds that `calls` calls take. Sizes are bytes of the buffer, or of one block.
double calls_take(const std::string& operation, long calls, long size, Lane& lane) {
    const int bytes = static_cast<int>(size), doubles = bytes / 8;
    double* in = lane.in.data();
    double* out = lane.out.data();
    MPI_Request request;
    const double start = bench::now();
    for (long k = 0; k < calls; ++k) {
        if (operation == "barrier")
            MPI_Barrier(lane.comm);
        else if (operation == "ibarrier") {
            MPI_Ibarrier(lane.comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (operation == "iallreduce") {
            MPI_Iallreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, lane.comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (operation == "reduce")
            MPI_Reduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, 0, lane.comm);
        else if (operation == "bcast")
            MPI_Bcast(in, bytes, MPI_BYTE, 0, lane.comm);
        else if (operation == "allreduce")
            MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, lane.comm);
        else if (operation == "allgather")
            MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, lane.comm);
        else if (operation == "alltoall")
            MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, lane.comm);
        else
            bench::fail("no operation " + operation);
    }
    return bench::now() - start;
}

void measure(const Plan& plan, const std::string& operation, long size, std::vector<Lane>& lanes) {
    const auto room =
        static_cast<std::size_t>(size / 8 + 1) * static_cast<std::size_t>(bench::ranks());
    for (Lane& lane : lanes) {
        lane.in.assign(room, 1);
        lane.out.assign(room, 0);
    }
    calls_take(operation, 5, size, lanes[0]);
    long calls = std::max(
        4L, static_cast<long>(plan.seconds / (calls_take(operation, 20, size, lanes[0]) / 20)));
    MPI_Bcast(&calls, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    std::vector<double> each;
    for (int k = 0; k < plan.repetitions; ++k) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = bench::now();
        std::vector<std::thread> others;
        for (std::size_t t = 1; t < lanes.size(); ++t)
            others.emplace_back([&, t] { calls_take(operation, calls, size, lanes[t]); });
        calls_take(operation, calls, size, lanes[0]);
        for (std::thread& thread : others) thread.join();
        each.push_back((bench::now() - start) / static_cast<double>(calls));
    }
    if (bench::rank() != 0) return;
    const double median = bench::median(each);
    std::printf("collectives: %-10s %9ld B %12.3f us\n", operation.c_str(), size, median * 1e6);
    std::printf(
        "result bench=collectives operation=%s bytes=%ld ranks=%d threads=%d time_us=%.4f "
        "min_us=%.4f\n",
        operation.c_str(), size, bench::ranks(), plan.threads, median * 1e6,
        *std::min_element(each.begin(), each.end()) * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    bench::initialise(&argc, &argv, "multiple");
    std::vector<Lane> lanes(static_cast<std::size_t>(plan.threads));
    for (std::size_t t = 1; t < lanes.size(); ++t) MPI_Comm_dup(MPI_COMM_WORLD, &lanes[t].comm);
    for (const std::string& operation : plan.operations)
        for (const long size : plan.sizes) {
            const bool without_data = operation.ends_with("barrier");
            measure(plan, operation, without_data ? 0 : size, lanes);
            if (without_data) break;
        }
    for (std::size_t t = 1; t < lanes.size(); ++t) MPI_Comm_free(&lanes[t].comm);
    MPI_Finalize();
}
