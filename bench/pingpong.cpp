// SPDX-License-Identifier: BSD-3-Clause

/// Ping-pong between ranks 0 and 1: half the round trip and the bandwidth for each size. Each side
/// sends from one buffer and receives into another. With --window N rank 0 has N messages under way, each
/// with a place of its own, and rank 1 answers all of them by one of 0 bytes; the time is that of a message.
/// With --buffers written each message is written before it is sent and read after it has been received,
/// as programs do, and that takes part of the time. The number of round trips of a repetition
/// follows from a short warm-up, so that every size takes about the same time.

#include "common.hpp"

namespace {

constexpr const char* usage =
    "pingpong --sizes 0,8,64,1K,... --level single|multiple\n"
    "         --window N (0: one message at a time) --buffers alone|written\n"
    "         --seconds S (of one repetition) --repetitions N\n";

struct Plan {
    std::vector<long> sizes;
    std::string level, buffers;
    int window;
    double seconds;
    int repetitions;
};

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{};
    plan.sizes = options.list("sizes", "0,8,64,1K,4K,16K,64K,256K,1M,4M,16M");
    plan.level = options.choice("level", "multiple", {"single", "multiple"});
    plan.buffers = options.choice("buffers", "alone", {"alone", "written"});
    plan.window = static_cast<int>(options.integer("window", 0));
    plan.seconds = options.real("seconds", 0.05);
    plan.repetitions = static_cast<int>(options.integer("repetitions", 9, 1));
    options.done();
    return plan;
}

constexpr int tag = 7;

/// The messages of one size, and what is done with them.
class Exchange {
public:
    Exchange(const Plan& plan, long size)
        : window_(plan.window),
          written_(plan.buffers == "written"),
          size_(static_cast<int>(size)),
          out_(places() * static_cast<std::size_t>(size) + 1, 'o'),
          in_(places() * static_cast<std::size_t>(size) + 1, 'i'),
          requests_(places()) {}

    /// Seconds that `trips` round trips take.
    double round_trips(long trips) {
        const double start = bench::now();
        for (long k = 0; k < trips; ++k) window_ == 0 ? there_and_back() : one_way();
        return bench::now() - start;
    }

    /// Messages that follow each other in a round trip.
    int messages() const { return window_ == 0 ? 2 : window_; }

private:
    std::size_t places() const { return static_cast<std::size_t>(std::max(1, window_)); }
    char* place(std::vector<char>& buffer, int k) const {
        return buffer.data() + static_cast<std::size_t>(k) * static_cast<std::size_t>(size_);
    }

    void write(char* message) {
        if (written_) std::fill_n(message, size_, ++filling_);
    }
    void read(const char* message) {
        if (!written_) return;
        for (int k = 0; k < size_; k += 64) sum_ = sum_ + message[k];
    }
    void send() {
        write(out_.data());
        MPI_Send(out_.data(), size_, MPI_CHAR, peer_, tag, MPI_COMM_WORLD);
    }
    void receive() {
        MPI_Recv(in_.data(), size_, MPI_CHAR, peer_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        read(in_.data());
    }

    void there_and_back() {
        if (bench::rank() == 0) send();
        receive();
        if (bench::rank() == 1) send();
    }

    void one_way() {
        for (int k = 0; k < window_; ++k) start(k);
        MPI_Waitall(window_, requests_.data(), MPI_STATUSES_IGNORE);
        if (bench::rank() == 0) {
            MPI_Recv(nullptr, 0, MPI_CHAR, peer_, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            for (int k = 0; k < window_; ++k) read(place(in_, k));
            MPI_Send(nullptr, 0, MPI_CHAR, peer_, tag + 1, MPI_COMM_WORLD);
        }
    }
    void start(int k) {
        MPI_Request* request = &requests_[static_cast<std::size_t>(k)];
        if (bench::rank() == 1) {
            MPI_Irecv(place(in_, k), size_, MPI_CHAR, peer_, tag, MPI_COMM_WORLD, request);
        } else {
            write(place(out_, k));
            MPI_Isend(place(out_, k), size_, MPI_CHAR, peer_, tag, MPI_COMM_WORLD, request);
        }
    }

    const int window_;
    const bool written_;
    const int size_;
    const int peer_ = 1 - bench::rank();
    std::vector<char> out_, in_;
    std::vector<MPI_Request> requests_;
    char filling_ = 0;
    volatile long sum_ = 0;  // so that reading is not optimised away
};

/// Both ranks must agree on the number, so rank 0 measures and tells.
long trips_for(double seconds, Exchange& exchange) {
    exchange.round_trips(1);
    for (long probe = 5;; probe = 20) {
        const double each = exchange.round_trips(probe) / static_cast<double>(probe);
        const bool slow = each > seconds;  // enough has been seen, and time taken
        long trips = probe < 20 && !slow ? 0 : std::max(2L, static_cast<long>(seconds / each));
        MPI_Bcast(&trips, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        if (trips > 0) return trips;
    }
}

void measure(const Plan& plan, long size) {
    Exchange exchange(plan, size);
    const long trips = trips_for(plan.seconds, exchange);
    exchange.round_trips(trips / 4);
    std::vector<double> times;
    for (int k = 0; k < plan.repetitions; ++k)
        times.push_back(exchange.round_trips(trips) / static_cast<double>(trips) /
                        exchange.messages());
    if (bench::rank() != 0) return;
    const double one = bench::median(times);
    const double least = *std::min_element(times.begin(), times.end());
    const double rate = static_cast<double>(size) / one / 1e6;
    std::printf("pingpong: %9ld B %12.3f us %12.1f MB/s\n", size, one * 1e6, rate);
    std::printf(
        "result bench=pingpong bytes=%ld level=%s window=%d buffers=%s latency_us=%.4f "
        "min_us=%.4f MBps=%.1f\n",
        size, plan.level.c_str(), plan.window, plan.buffers.c_str(), one * 1e6, least * 1e6, rate);
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    bench::initialise(&argc, &argv, plan.level);
    bench::require_ranks(2);
    for (const long size : plan.sizes) measure(plan, size);
    MPI_Finalize();
}
