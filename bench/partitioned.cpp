// SPDX-License-Identifier: BSD-3-Clause

/// Measures a message to which several threads contribute a part each. In one form it is a
/// partitioned message, for which each thread calls MPI_Pready. In the other, each thread sends a
/// plain message, which MPI_Irecv receives. In both, the main thread starts the round and waits for
/// its end, between two barriers of the threads.

#include <algorithm>
#include <barrier>
#include <string>
#include <thread>

#include "common.hpp"

namespace {

constexpr const char* usage =
    "partitioned --threads N --parts P (of each thread) --size S (bytes of a part)\n"
    "            --rounds R --repetitions K\ntwo ranks\n";

constexpr int tag = 5;

struct Case {
    int threads, parts, rounds;
    std::size_t size;
    int total() const { return threads * parts; }
};

/// The threads of the sender. They call part(i) for each of their parts, once for every pass of the
/// barrier.
template <class Part>
void work(const Case& c, int thread, std::barrier<>& barrier, Part part) {
    for (int round = 0; round < c.rounds; ++round) {
        barrier.arrive_and_wait();
        for (int i = 0; i < c.parts; ++i) part(thread * c.parts + i);
        barrier.arrive_and_wait();
    }
}

/// Returns the seconds of a round, for the sender, whose main thread is one of the threads. `begin`
/// and `end` are the main thread's work before and after the parts. The receiver does only these.
template <class Begin, class Part, class End>
double rounds(const Case& c, Begin begin, Part part, End end) {
    const bool sender = bench::rank() == 0;
    std::barrier barrier(c.threads);
    std::vector<std::thread> threads;
    for (int t = 1; sender && t < c.threads; ++t)
        threads.emplace_back([&, t] { work(c, t, barrier, part); });
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = bench::now();
    for (int round = 0; round < c.rounds; ++round) {
        begin();
        if (sender) {
            barrier.arrive_and_wait();
            for (int i = 0; i < c.parts; ++i) part(i);
            barrier.arrive_and_wait();
        }
        end();
    }
    const double each = (bench::now() - before) / c.rounds;
    for (std::thread& thread : threads) thread.join();
    return each;
}

double partitioned(const Case& c, std::vector<char>& data) {
    MPI_Request request;
    const auto init = bench::rank() == 0
        ? MPI_Psend_init(data.data(), c.total(), static_cast<MPI_Count>(c.size), MPI_CHAR, 1, tag,
                         MPI_COMM_WORLD, MPI_INFO_NULL, &request)
        : MPI_Precv_init(data.data(), c.total(), static_cast<MPI_Count>(c.size), MPI_CHAR, 0, tag,
                         MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (init != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
    const double seconds = rounds(
        c, [&] { MPI_Start(&request); }, [&](int part) { MPI_Pready(part, request); },
        [&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
    MPI_Request_free(&request);
    return seconds;
}

double plain(const Case& c, std::vector<char>& data) {
    std::vector<MPI_Request> requests(static_cast<std::size_t>(c.total()), MPI_REQUEST_NULL);
    const auto place = [&](int part) {
        return data.data() + static_cast<std::size_t>(part) * c.size;
    };
    const auto request = [&](int part) { return &requests[static_cast<std::size_t>(part)]; };
    const int bytes = static_cast<int>(c.size);
    return rounds(
        c,
        [&] {
            if (bench::rank() == 0) return;
            for (int part = 0; part < c.total(); ++part)
                MPI_Irecv(place(part), bytes, MPI_CHAR, 0, part, MPI_COMM_WORLD, request(part));
        },
        [&](int part) {
            MPI_Isend(place(part), bytes, MPI_CHAR, 1, part, MPI_COMM_WORLD, request(part));
        },
        [&] { MPI_Waitall(c.total(), requests.data(), MPI_STATUSES_IGNORE); });
}

}  // namespace

int main(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Case c;
    c.threads = static_cast<int>(options.integer("threads", 8, 1));
    c.parts = static_cast<int>(options.integer("parts", 1, 1));
    c.size = static_cast<std::size_t>(options.integer("size", 64));
    c.rounds = static_cast<int>(options.integer("rounds", 2000, 1));
    const int repetitions = static_cast<int>(options.integer("repetitions", 7, 1));
    options.done();
    bench::initialise(&argc, &argv, "multiple");
    bench::require_ranks(2);
    std::vector<char> data(c.size * static_cast<std::size_t>(c.total()) + 1);
    std::vector<double> with, without;
    for (int k = 0; k < repetitions; ++k) {
        with.push_back(partitioned(c, data));
        without.push_back(plain(c, data));
    }
    if (bench::rank() == 0) {
        const double a = 1e6 * bench::median(with), b = 1e6 * bench::median(without);
        std::printf(
            "partitioned: %d threads, %d parts each, %zu B: %.2f us, plain messages %.2f us\n",
            c.threads, c.parts, c.size, a, b);
        std::printf(
            "result bench=partitioned threads=%d parts=%d size=%zu partitioned_us=%.3f "
            "plain_us=%.3f\n",
            c.threads, c.parts, c.size, a, b);
    }
    MPI_Finalize();
}
