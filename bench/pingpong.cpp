// SPDX-License-Identifier: BSD-3-Clause

/// Ping-pong between ranks 0 and 1: half the round trip and the bandwidth for each size. Each side
/// sends from one buffer and receives into another. With --window N rank 0 has N messages under
/// way, each with a place of its own. Rank 1 answers all of them by one message of 0 bytes, and the
/// time is that of one message. With --buffers written each message is written before it is sent,
/// and read after it has been received. Programs do so, too, and the time includes it. A short
/// warm-up sets the number of round trips, so that all sizes take about the same time.
///
/// With --direction one, rank 0 calls MPI_Send and rank 1 MPI_Recv, again and again. With both,
/// they call MPI_Sendrecv. The time is that of one call.
///
/// With --between jobs the partner is a process of another job, which the program starts by
/// MPI_Comm_spawn. Messages then go over the intercommunicator. With --between merged they go over
/// the communicator that MPI_Intercomm_merge makes of it.

#include <sched.h>

#include "common.hpp"

namespace {

constexpr const char* usage =
    "pingpong --sizes 0,8,64,1K,... --level single|multiple\n"
    "         --window N (0: one message at a time) --buffers alone|written\n"
    "         --direction turns|one|both (with a window of 0)\n"
    "         --seconds S (of one repetition) --repetitions N\n"
    "         --between ranks (2 ranks)|jobs|merged (1 rank, which starts the other)\n"
    "         --core N (with jobs and merged: that of the process which is started)\n";

struct Plan {
    std::vector<long> sizes;
    std::string level, buffers;
    int window;
    std::string direction;
    double seconds;
    int repetitions;
    std::string between;
    int core;
    bool child;
};

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{};
    plan.sizes = options.list("sizes", "0,8,64,1K,4K,16K,64K,256K,1M,4M,16M");
    plan.level = options.choice("level", "multiple", {"single", "multiple"});
    plan.buffers = options.choice("buffers", "alone", {"alone", "written"});
    plan.window = static_cast<int>(options.integer("window", 0));
    plan.direction = options.choice("direction", "turns", {"turns", "one", "both"});
    plan.seconds = options.real("seconds", 0.05);
    plan.repetitions = static_cast<int>(options.integer("repetitions", 9, 1));
    plan.between = options.choice("between", "ranks", {"ranks", "jobs", "merged"});
    plan.core = static_cast<int>(options.integer("core", -1, -1));
    plan.child = options.choice("role", "parent", {"parent", "child"}) == "child";
    options.done();
    return plan;
}

constexpr int tag = 7;

/// Two processes that send to each other, from the side of one of them.
struct Pair {
    MPI_Comm comm;
    int peer;
    bool first;  ///< this process begins, and measures
};

/// Starts this program, with one word more, as the second job.
MPI_Comm start_other(char** argv) {
    std::vector<char*> words;
    for (char** word = argv + 1; *word != nullptr; ++word) words.push_back(*word);
    std::string role = "--role=child";
    words.push_back(role.data());
    words.push_back(nullptr);
    MPI_Comm children = MPI_COMM_NULL;
    MPI_Comm_spawn(argv[0], words.data(), 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                   MPI_ERRCODES_IGNORE);
    return children;
}

Pair two_jobs(const Plan& plan, char** argv) {
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_get_parent(&other);
    if (!plan.child) other = start_other(argv);
    if (plan.between == "jobs") return {other, 0, !plan.child};
    MPI_Comm both = MPI_COMM_NULL;
    MPI_Intercomm_merge(other, plan.child, &both);
    MPI_Comm_disconnect(&other);
    return {both, plan.child ? 0 : 1, !plan.child};
}

Pair find_pair(const Plan& plan, char** argv) {
    bench::require_ranks(plan.between == "ranks" ? 2 : 1);
    if (plan.between == "ranks") return {MPI_COMM_WORLD, 1 - bench::rank(), bench::rank() == 0};
    return two_jobs(plan, argv);
}

/// Binds this process to one of the cores that it may use. Call it before MPI_Init, which looks at
/// them.
void bind_to(int core) {
    cpu_set_t allowed, own;
    sched_getaffinity(0, sizeof allowed, &allowed);
    core %= CPU_COUNT(&allowed);
    int cpu = 0;
    for (int before = core;; ++cpu)
        if (CPU_ISSET(cpu, &allowed) && before-- == 0) break;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    sched_setaffinity(0, sizeof own, &own);
}

/// The messages of one size, and the operations on them.
class Exchange {
public:
    Exchange(const Plan& plan, const Pair& pair, long size)
        : pair_(pair),
          window_(plan.window),
          turns_(plan.direction == "turns"),
          both_(plan.direction == "both"),
          written_(plan.buffers == "written"),
          size_(static_cast<int>(size)),
          out_(places() * static_cast<std::size_t>(size) + 1, 'o'),
          in_(places() * static_cast<std::size_t>(size) + 1, 'i'),
          requests_(places()) {}

    /// Returns the seconds that `trips` round trips take.
    double round_trips(long trips) {
        const double start = bench::now();
        for (long k = 0; k < trips; ++k) window_ != 0 ? one_way() : both_ ? at_once() : one_trip();
        return bench::now() - start;
    }

    /// Returns the number of messages that follow each other in a trip.
    int messages() const { return window_ != 0 ? window_ : turns_ ? 2 : 1; }

    /// Sets `number` on both processes to that of the first.
    void agree(long& number) {
        if (pair_.first)
            MPI_Send(&number, 1, MPI_LONG, pair_.peer, tag, pair_.comm);
        else
            MPI_Recv(&number, 1, MPI_LONG, pair_.peer, tag, pair_.comm, MPI_STATUS_IGNORE);
    }

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
        MPI_Send(out_.data(), size_, MPI_CHAR, pair_.peer, tag, pair_.comm);
    }
    void receive() {
        MPI_Recv(in_.data(), size_, MPI_CHAR, pair_.peer, tag, pair_.comm, MPI_STATUS_IGNORE);
        read(in_.data());
    }

    void one_trip() {
        if (pair_.first) send();
        if (turns_ || !pair_.first) receive();
        if (turns_ && !pair_.first) send();
    }

    void at_once() {
        write(out_.data());
        MPI_Sendrecv(out_.data(), size_, MPI_CHAR, pair_.peer, tag, in_.data(), size_, MPI_CHAR,
                     pair_.peer, tag, pair_.comm, MPI_STATUS_IGNORE);
        read(in_.data());
    }

    void one_way() {
        for (int k = 0; k < window_; ++k) start(k);
        MPI_Waitall(window_, requests_.data(), MPI_STATUSES_IGNORE);
        if (pair_.first) {
            MPI_Recv(nullptr, 0, MPI_CHAR, pair_.peer, tag + 1, pair_.comm, MPI_STATUS_IGNORE);
        } else {
            for (int k = 0; k < window_; ++k) read(place(in_, k));
            MPI_Send(nullptr, 0, MPI_CHAR, pair_.peer, tag + 1, pair_.comm);
        }
    }
    void start(int k) {
        MPI_Request* request = &requests_[static_cast<std::size_t>(k)];
        if (!pair_.first) {
            MPI_Irecv(place(in_, k), size_, MPI_CHAR, pair_.peer, tag, pair_.comm, request);
        } else {
            write(place(out_, k));
            MPI_Isend(place(out_, k), size_, MPI_CHAR, pair_.peer, tag, pair_.comm, request);
        }
    }

    const Pair pair_;
    const int window_;
    const bool turns_, both_;
    const bool written_;
    const int size_;
    std::vector<char> out_, in_;
    std::vector<MPI_Request> requests_;
    char filling_ = 0;
    volatile long sum_ = 0;  // so that reading is not optimised away
};

/// Returns the number of trips. The first process measures and tells it, since both must agree.
long trips_for(double seconds, Exchange& exchange) {
    exchange.round_trips(1);
    for (long probe = 5;; probe = 20) {
        const double each = exchange.round_trips(probe) / static_cast<double>(probe);
        const bool slow = each > seconds;  // seen enough, and taken enough time
        long trips = probe < 20 && !slow ? 0 : std::max(2L, static_cast<long>(seconds / each));
        exchange.agree(trips);
        if (trips > 0) return trips;
    }
}

void measure(const Plan& plan, const Pair& pair, long size) {
    Exchange exchange(plan, pair, size);
    const long trips = trips_for(plan.seconds, exchange);
    exchange.round_trips(trips / 4);
    std::vector<double> times;
    for (int k = 0; k < plan.repetitions; ++k)
        times.push_back(exchange.round_trips(trips) / static_cast<double>(trips) /
                        exchange.messages());
    if (!pair.first) return;
    const double one = bench::median(times);
    const double least = *std::min_element(times.begin(), times.end());
    const double rate = static_cast<double>(size) / one / 1e6;
    std::printf("pingpong: %9ld B %12.3f us %12.1f MB/s\n", size, one * 1e6, rate);
    std::printf(
        "result bench=pingpong bytes=%ld level=%s window=%d buffers=%s between=%s latency_us=%.4f "
        "min_us=%.4f MBps=%.1f\n",
        size, plan.level.c_str(), plan.window, plan.buffers.c_str(), plan.between.c_str(),
        one * 1e6, least * 1e6, rate);
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    if (plan.child && plan.core >= 0) bind_to(plan.core);
    bench::initialise(&argc, &argv, plan.level);
    Pair pair = find_pair(plan, argv);
    for (const long size : plan.sizes) measure(plan, pair, size);
    if (plan.between != "ranks") MPI_Comm_disconnect(&pair.comm);
    MPI_Finalize();
}
