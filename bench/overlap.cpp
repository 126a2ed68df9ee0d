// SPDX-License-Identifier: BSD-3-Clause

/// Measures MPI_Isend, computing, MPI_Wait (P5, table 1), the receive being posted before. Figures
/// are the time of each call, and the slowdown of the computing by the message under way. Either
/// the sender computes and the receiver waits, or both compute. The same ranks compute alone in
/// turn with it, at the same time. An empty call, measured in turn, too, shows how much of a short
/// time is the clock's.

#include "work.hpp"

namespace {

constexpr const char* usage =
    "overlap --sizes 10,100,1K,... --computing sender|both --milliseconds T (of computing)\n"
    "        --seconds S (of a repetition) --repetitions N --level single|multiple\n2 ranks\n";

constexpr int tag = 9;

struct Plan : bench::Beside {
    std::string computing;
};

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{bench::read_beside(options, 2),
              options.choice("computing", "sender", {"sender", "both"})};
    options.done();
    return plan;
}

/// The seconds of one rank, for each round.
struct Times {
    std::vector<double> start, compute, wait, alone, clock;
};

/// The medians of Times, as they are sent to the rank that prints.
struct Medians {
    double start, compute, wait, alone, clock;

    explicit Medians(const Times& times)
        : start(bench::median(times.start)),
          compute(bench::median(times.compute)),
          wait(bench::median(times.wait)),
          alone(bench::median(times.alone)),
          clock(bench::median(times.clock)) {}

    double slowdown() const { return alone > 0 ? compute / alone : 1; }
};

class Side {
public:
    Side(const Plan& plan, long size)
        : computes_(bench::rank() == 0 || plan.computing == "both"),
          work_(plan.compute),
          data_(static_cast<std::size_t>(size) + 1, 'o'),
          size_(static_cast<int>(size)) {}

    void round(Times& times) {
        MPI_Barrier(MPI_COMM_WORLD);
        times.alone.push_back(compute());
        const double empty = bench::now();
        times.clock.push_back(bench::now() - empty);
        const double receive = bench::rank() == 1 ? start() : 0;
        MPI_Barrier(MPI_COMM_WORLD);
        times.start.push_back(bench::rank() == 0 ? start() : receive);
        times.compute.push_back(compute());
        const double begin = bench::now();
        MPI_Wait(&request_, MPI_STATUS_IGNORE);
        times.wait.push_back(bench::now() - begin);
    }

private:
    double compute() { return computes_ ? work_.run() : 0; }

    double start() {
        const double begin = bench::now();
        if (bench::rank() == 0)
            MPI_Isend(data_.data(), size_, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &request_);
        else
            MPI_Irecv(data_.data(), size_, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &request_);
        return bench::now() - begin;
    }

    const bool computes_;
    bench::Work work_;
    std::vector<char> data_;
    const int size_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

void measure(const Plan& plan, long size) {
    Side side(plan, size);
    Times times;
    for (int k = 0; k < 2; ++k) side.round(times);
    times = {};  // these rounds warmed up
    for (int k = 0; k < plan.rounds; ++k) side.round(times);
    Medians mine(times), other(Times{});
    if (bench::rank() == 1) MPI_Send(&mine, 5, MPI_DOUBLE, 0, tag + 1, MPI_COMM_WORLD);
    if (bench::rank() == 1) return;
    MPI_Recv(&other, 5, MPI_DOUBLE, 1, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::printf(
        "%9s: MPI_Isend %8.2f us, computing x %.3f, MPI_Wait %9.2f us; receiver: MPI_Wait %9.2f "
        "us\n",
        bench::size_name(size).c_str(), mine.start * 1e6, mine.slowdown(), mine.wait * 1e6,
        other.wait * 1e6);
    std::printf(
        "result bench=overlap bytes=%ld computing=%s alone_us=%.1f isend_us=%.3f slowdown=%.4f "
        "wait_us=%.3f "
        "irecv_us=%.3f receiver_slowdown=%.4f receiver_wait_us=%.3f clock_us=%.3f\n",
        size, plan.computing.c_str(), mine.alone * 1e6, mine.start * 1e6, mine.slowdown(),
        mine.wait * 1e6, other.start * 1e6, other.slowdown(), other.wait * 1e6, mine.clock * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    bench::initialise(&argc, &argv, plan.level);
    bench::require_ranks(2);
    for (const long size : plan.sizes) measure(plan, size);
    MPI_Finalize();
}
