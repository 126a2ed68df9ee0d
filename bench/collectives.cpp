// SPDX-License-Identifier: BSD-3-Clause

/// Measures a collective call, back to back, for each operation and size. With --threads, so many
/// threads do the same at once, each on a communicator of its own.

#include <thread>

#include "common.hpp"

namespace {

constexpr const char* usage =
    "collectives --operations barrier,bcast,allreduce,allgather,alltoall --sizes 8,1K,64K,1M\n"
    "            (also reduce, allgatherv; and ibarrier, ibcast, ireduce, iallreduce,\n"
    "            iallgather, ialltoall: a call and a wait)\n"
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

/// A call, of `size` bytes of the buffer, or of one block.
using Call = void (*)(Lane&, int size);

void wait_for(MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

const std::map<std::string, Call> calls_by_name = {
    {"barrier", [](Lane& lane, int) { MPI_Barrier(lane.comm); }},
    {"bcast",
     [](Lane& lane, int size) { MPI_Bcast(lane.in.data(), size, MPI_BYTE, 0, lane.comm); }},
    {"reduce",
     [](Lane& lane, int size) {
         MPI_Reduce(lane.in.data(), lane.out.data(), size / 8, MPI_DOUBLE, MPI_SUM, 0, lane.comm);
     }},
    {"allreduce",
     [](Lane& lane, int size) {
         MPI_Allreduce(lane.in.data(), lane.out.data(), size / 8, MPI_DOUBLE, MPI_SUM, lane.comm);
     }},
    {"allgather",
     [](Lane& lane, int size) {
         MPI_Allgather(lane.in.data(), size, MPI_BYTE, lane.out.data(), size, MPI_BYTE, lane.comm);
     }},
    {"allgatherv",
     [](Lane& lane, int size) {
         std::vector<int> counts, places;
         for (int rank = 0; rank < bench::ranks(); ++rank) {
             counts.push_back(size);
             places.push_back(rank * size);
         }
         MPI_Allgatherv(lane.in.data(), size, MPI_BYTE, lane.out.data(), counts.data(),
                        places.data(), MPI_BYTE, lane.comm);
     }},
    {"alltoall",
     [](Lane& lane, int size) {
         MPI_Alltoall(lane.in.data(), size, MPI_BYTE, lane.out.data(), size, MPI_BYTE, lane.comm);
     }},
    {"ibarrier",
     [](Lane& lane, int) {
         MPI_Request request;
         MPI_Ibarrier(lane.comm, &request);
         wait_for(request);
     }},
    {"ibcast",
     [](Lane& lane, int size) {
         MPI_Request request;
         MPI_Ibcast(lane.in.data(), size, MPI_BYTE, 0, lane.comm, &request);
         wait_for(request);
     }},
    {"ireduce",
     [](Lane& lane, int size) {
         MPI_Request request;
         MPI_Ireduce(lane.in.data(), lane.out.data(), size / 8, MPI_DOUBLE, MPI_SUM, 0, lane.comm,
                     &request);
         wait_for(request);
     }},
    {"iallreduce",
     [](Lane& lane, int size) {
         MPI_Request request;
         MPI_Iallreduce(lane.in.data(), lane.out.data(), size / 8, MPI_DOUBLE, MPI_SUM, lane.comm,
                        &request);
         wait_for(request);
     }},
    {"iallgather",
     [](Lane& lane, int size) {
         MPI_Request request;
         MPI_Iallgather(lane.in.data(), size, MPI_BYTE, lane.out.data(), size, MPI_BYTE, lane.comm,
                        &request);
         wait_for(request);
     }},
    {"ialltoall",
     [](Lane& lane, int size) {
         MPI_Request request;
         MPI_Ialltoall(lane.in.data(), size, MPI_BYTE, lane.out.data(), size, MPI_BYTE, lane.comm,
                       &request);
         wait_for(request);
     }},
};

Call call_of(const std::string& operation) {
    const auto found = calls_by_name.find(operation);
    if (found == calls_by_name.end()) bench::fail("no operation " + operation);
    return found->second;
}

/// Returns the seconds that this number of calls takes.
double calls_take(Call call, long calls, long bytes, Lane& lane) {
    const int size = static_cast<int>(bytes);
    const double start = bench::now();
    for (long k = 0; k < calls; ++k) call(lane, size);
    return bench::now() - start;
}

void measure(const Plan& plan, const std::string& operation, long size, std::vector<Lane>& lanes) {
    const Call call = call_of(operation);
    const auto room =
        static_cast<std::size_t>(size / 8 + 1) * static_cast<std::size_t>(bench::ranks());
    for (Lane& lane : lanes) {
        lane.in.assign(room, 1);
        lane.out.assign(room, 0);
    }
    calls_take(call, 5, size, lanes[0]);
    long calls =
        std::max(4L, static_cast<long>(plan.seconds / (calls_take(call, 20, size, lanes[0]) / 20)));
    MPI_Bcast(&calls, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    std::vector<double> each;
    for (int k = 0; k < plan.repetitions; ++k) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = bench::now();
        std::vector<std::thread> others;
        for (std::size_t t = 1; t < lanes.size(); ++t)
            others.emplace_back([&, t] { calls_take(call, calls, size, lanes[t]); });
        calls_take(call, calls, size, lanes[0]);
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
