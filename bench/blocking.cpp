// SPDX-License-Identifier: BSD-3-Clause

/// Measures a single blocking call (P5, figures 5 to 7), by what its partner does meanwhile.
///   --call send --partner waiting    MPI_Send to a rank that is in MPI_Recv.
///   --call send --partner computing  MPI_Send to a rank that computes first.
///   --call recv --partner early      MPI_Recv of a message sent while the receiver computed.
///   --call recv --partner late       MPI_Recv of a message that the sender sends after it has
///                                    computed.
///
/// For a late partner, the time for which the sender was late is subtracted. It has two parts: the
/// sender's own measure of its computing, and the word by which the receiver told it to begin. The
/// word takes half a round trip of 0 bytes.

#include "work.hpp"

namespace {

constexpr const char* usage =
    "blocking --sizes 10,100,1K,... --call send|recv\n"
    "         --partner waiting|computing (send), early|late (recv) --milliseconds T (of "
    "computing)\n"
    "         --seconds S (of a repetition) --repetitions N --level single|multiple\n2 ranks\n";

constexpr int tag = 11;

struct Plan : bench::Beside {
    std::string call, partner;
};

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{bench::read_beside(options, 1), {}, {}};
    plan.call = options.choice("call", "send", {"send", "recv"});
    plan.partner = plan.call == "send"
        ? options.choice("partner", "waiting", {"waiting", "computing"})
        : options.choice("partner", "early", {"early", "late"});
    options.done();
    return plan;
}

/// Sends a word of 0 bytes to the other rank.
void tell(int to) { MPI_Send(nullptr, 0, MPI_CHAR, to, tag + 1, MPI_COMM_WORLD); }
void hear(int from) {
    MPI_Recv(nullptr, 0, MPI_CHAR, from, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Returns the seconds of half a round trip of 0 bytes, on rank 1.
double word_takes() {
    std::vector<double> trips;
    for (int k = 0; k < 50; ++k) {
        const double begin = bench::now();
        if (bench::rank() == 1) tell(0);
        hear(1 - bench::rank());
        if (bench::rank() == 0) tell(1);
        trips.push_back((bench::now() - begin) / 2);
    }
    return bench::median(trips);
}

class Side {
public:
    Side(const Plan& plan, long size)
        : plan_(plan),
          work_(plan.compute),
          data_(static_cast<std::size_t>(size) + 1, 'o'),
          size_(static_cast<int>(size)),
          word_(plan.partner == "late" ? word_takes() : 0) {}

    /// Does a round. Returns the seconds that the call took, on the rank that makes it.
    double round() {
        MPI_Barrier(MPI_COMM_WORLD);
        return bench::rank() == 0 ? sender() : receiver();
    }

private:
    double sender() {
        if (plan_.partner == "late") {
            hear(1);
            const double begin = bench::now();
            work_.run();
            const double late = bench::now() - begin;
            send();
            MPI_Send(&late, 1, MPI_DOUBLE, 1, tag + 2, MPI_COMM_WORLD);
            return 0;
        }
        if (plan_.partner == "waiting") work_.run();  // until the partner is in MPI_Recv
        return send();
    }

    double receiver() {
        if (plan_.partner == "early" || plan_.partner == "computing") work_.run();
        if (plan_.partner != "late") return receive();
        double late = 0;
        const double begin = bench::now();
        tell(0);
        receive();
        const double took = bench::now() - begin;
        MPI_Recv(&late, 1, MPI_DOUBLE, 0, tag + 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return took - late - word_;
    }

    double send() {
        const double begin = bench::now();
        MPI_Send(data_.data(), size_, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
        return bench::now() - begin;
    }
    double receive() {
        const double begin = bench::now();
        MPI_Recv(data_.data(), size_, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return bench::now() - begin;
    }

    const Plan& plan_;
    bench::Work work_;
    std::vector<char> data_;
    const int size_;
    const double word_;
};

void measure(const Plan& plan, long size) {
    Side side(plan, size);
    for (int k = 0; k < 2; ++k) side.round();  // warms up
    std::vector<double> times;
    for (int k = 0; k < plan.rounds; ++k) times.push_back(side.round());
    if (bench::rank() != (plan.call == "send" ? 0 : 1)) return;
    const double time = bench::median(times) * 1e6;
    std::printf("%9s: MPI_%s, partner %s: %10.2f us\n", bench::size_name(size).c_str(),
                plan.call == "send" ? "Send" : "Recv", plan.partner.c_str(), time);
    std::printf("result bench=blocking bytes=%ld call=%s partner=%s time_us=%.3f\n", size,
                plan.call.c_str(), plan.partner.c_str(), time);
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    bench::initialise(&argc, &argv, plan.level);
    bench::require_ranks(2);
    for (const long size : plan.sizes) measure(plan, size);
    MPI_Finalize();
}
