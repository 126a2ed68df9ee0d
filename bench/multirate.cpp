// SPDX-License-Identifier: BSD-3-Clause

/// Multirate pairwise: message rate of n pairs of entities ("Give MPI Threading a Fair Chance",
/// section IV). An entity is a thread (two processes with n threads each) or a process (2n of
/// them).
///
/// In a window, the receiver posts its receives and says `ready` (0 bytes). The sender sends the
/// window, and both wait for all of it. Then the receiver acknowledges (0 bytes). All receives are
/// therefore posted before their messages leave. A `ready` of one byte ends the repetition; the
/// receiver decides when. In processes mode pair i is rank i and rank n + i; data travels with tag
/// i.

#include <algorithm>
#include <barrier>
#include <memory>
#include <thread>

#include "common.hpp"

namespace {

constexpr const char* usage =
    "multirate --pairs N --mode threads|processes --size BYTES --window N\n"
    "          --comm one|per-pair --tag specific|any --level single|multiple\n"
    "          --order kept|free --seconds S or --windows N (of one repetition) --repetitions N\n"
    "threads: 2 ranks; processes: 2 N ranks. The level follows the mode unless given. With order\n"
    "free (that of --tag any) messages may overtake each other.\n";

struct Plan {
    int pairs, size, window, repetitions;
    long windows;  // of one repetition and pair; 0: as many as fit into `seconds`
    double seconds;
    bool threads, comm_per_pair, any_tag, overtaking;
    std::string level;
};

/// The communicators. `control` is for the messages that say what comes next, which may never
/// overtake.
struct Comms {
    std::vector<MPI_Comm> data, control;
};

struct Pair {
    MPI_Comm comm, control_comm;
    int peer, tag, control;
    int receive_tag;
};

/// The part of a repetition that warms up, if it is counted in seconds, or in windows.
constexpr double timed_warm_up = 0.25, counted_warm_up = 0.01;

/// The windows and seconds of one repetition, of one pair or of all.
struct Share {
    double windows = 0, seconds = 0;
};

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{};
    plan.pairs = static_cast<int>(options.integer("pairs", 1, 1));
    plan.threads = options.choice("mode", "threads", {"threads", "processes"}) == "threads";
    plan.size = static_cast<int>(options.integer("size", 0));
    plan.window = static_cast<int>(options.integer("window", 128, 1));
    plan.comm_per_pair = options.choice("comm", "one", {"one", "per-pair"}) == "per-pair";
    plan.any_tag = options.choice("tag", "specific", {"specific", "any"}) == "any";
    plan.overtaking =
        options.choice("order", plan.any_tag ? "free" : "kept", {"kept", "free"}) == "free";
    const char* natural = plan.threads ? "multiple" : "single";
    plan.level = options.choice("level", natural, {"single", "multiple"});
    plan.seconds = options.real("seconds", 0.3);
    plan.windows = options.integer("windows", 0);
    plan.repetitions = static_cast<int>(options.integer("repetitions", 5, 1));
    options.done();
    if (plan.threads && plan.pairs > 1 && plan.level == "single")
        options.leave(2, "several threads need --level multiple");
    return plan;
}

std::vector<MPI_Comm> copies_of_world(std::size_t count, MPI_Info info) {
    std::vector<MPI_Comm> comms(count);
    for (MPI_Comm& comm : comms) MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    return comms;
}

/// Makes the communicators: world itself, or a copy per pair. With overtaking they are copies, too.
Comms make_comms(const Plan& plan) {
    Comms comms;
    comms.control = plan.comm_per_pair ? copies_of_world(plan.pairs, MPI_INFO_NULL)
                                       : std::vector{MPI_COMM_WORLD};
    comms.data = comms.control;
    if (!plan.overtaking) return comms;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_allow_overtaking", "true");
    comms.data = copies_of_world(comms.control.size(), info);
    MPI_Info_free(&info);
    return comms;
}

void free_comms(Comms& comms) {
    for (std::size_t i = 0; i < comms.control.size(); ++i) {
        if (comms.data[i] != comms.control[i]) MPI_Comm_free(&comms.data[i]);
        if (comms.control[i] != MPI_COMM_WORLD) MPI_Comm_free(&comms.control[i]);
    }
}

/// Makes a pair. Control messages have tags of their own. They only travel from receiver to sender,
/// so that a receiver's MPI_ANY_TAG cannot catch them.
Pair make_pair(const Plan& plan, const Comms& comms, int i, bool sends) {
    const int peer = plan.threads ? (sends ? 1 : 0) : (sends ? plan.pairs + i : i);
    const int own = plan.comm_per_pair ? i : 0;
    return {comms.data[own],
            comms.control[own],
            peer,
            i,
            plan.pairs + i,
            plan.any_tag ? MPI_ANY_TAG : i};
}

bool told_to_stop(const Pair& pair) {
    char byte = 0;
    int count = 0;
    MPI_Status status;
    MPI_Recv(&byte, 1, MPI_CHAR, pair.peer, pair.control, pair.control_comm, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    return count == 1;
}

void say(const Pair& pair, int bytes) {
    const char byte = 0;
    MPI_Send(&byte, bytes, MPI_CHAR, pair.peer, pair.control, pair.control_comm);
}

void send_windows(const Plan& plan, const Pair& pair) {
    std::vector<char> data(plan.size + 1);
    std::vector<MPI_Request> requests(plan.window);
    while (!told_to_stop(pair)) {
        for (MPI_Request& r : requests)
            MPI_Isend(data.data(), plan.size, MPI_CHAR, pair.peer, pair.tag, pair.comm, &r);
        MPI_Waitall(plan.window, requests.data(), MPI_STATUSES_IGNORE);
        char byte = 0;
        MPI_Recv(&byte, 0, MPI_CHAR, pair.peer, pair.control, pair.control_comm, MPI_STATUS_IGNORE);
    }
}

/// Receives the windows of `part` of a repetition.
Share receive_windows(const Plan& plan, const Pair& pair, double part) {
    const std::size_t size = plan.size;
    std::vector<char> data(size * plan.window + 1);
    std::vector<MPI_Request> requests(plan.window);
    Share share;
    const double start = bench::now();
    const auto goes_on = [&] {
        if (plan.windows != 0) return share.windows < part * static_cast<double>(plan.windows);
        return bench::now() - start < part * plan.seconds;
    };
    for (; goes_on(); ++share.windows) {
        for (int k = 0; k < plan.window; ++k)
            MPI_Irecv(&data[k * size], plan.size, MPI_CHAR, pair.peer, pair.receive_tag, pair.comm,
                      &requests[k]);
        say(pair, 0);
        MPI_Waitall(plan.window, requests.data(), MPI_STATUSES_IGNORE);
        say(pair, 0);
    }
    share.seconds = bench::now() - start;
    say(pair, 1);
    return share;
}

/// One side of the run: its entities in this process, and the barrier at which its receivers start.
class Side {
public:
    Side(const Plan& plan, MPI_Comm receivers, bool sends)
        : plan_(plan),
          receivers_(receivers),
          sends_(sends),
          here_(plan.threads ? plan.pairs : 1),
          start_(here_),
          shares_(here_, std::vector<Share>(plan.repetitions + 1)) {}

    void run(const Comms& comms) {
        if (!plan_.threads) return entity(0, make_pair(plan_, comms, index(), sends_));
        std::vector<std::thread> others;
        for (int i = 1; i < here_; ++i)
            others.emplace_back([&, i] { entity(i, make_pair(plan_, comms, i, sends_)); });
        entity(0, make_pair(plan_, comms, 0, sends_));
        for (std::thread& thread : others) thread.join();
    }

    /// Returns messages per second of each repetition, over all pairs; for receiving ranks only.
    std::vector<double> rates() const {
        std::vector<double> all;
        for (int k = 1; k <= plan_.repetitions; ++k) {
            Share mine, total;
            for (const auto& entity : shares_) {
                mine.windows += entity[k].windows;
                mine.seconds = std::max(mine.seconds, entity[k].seconds);
            }
            MPI_Allreduce(&mine.windows, &total.windows, 1, MPI_DOUBLE, MPI_SUM, receivers_);
            MPI_Allreduce(&mine.seconds, &total.seconds, 1, MPI_DOUBLE, MPI_MAX, receivers_);
            all.push_back(total.windows * plan_.window / total.seconds);
        }
        return all;
    }

private:
    int index() const { return bench::rank() % plan_.pairs; }

    /// Runs all repetitions of one entity. The first one warms up and does not count.
    void entity(int i, const Pair& pair) {
        for (int k = 0; k <= plan_.repetitions; ++k) {
            if (sends_) {
                send_windows(plan_, pair);
                continue;
            }
            if (plan_.threads)
                start_.arrive_and_wait();
            else
                MPI_Barrier(receivers_);
            const double warm_up = plan_.windows != 0 ? counted_warm_up : timed_warm_up;
            shares_[i][k] = receive_windows(plan_, pair, k ? 1 : warm_up);
        }
    }

    const Plan& plan_;
    MPI_Comm receivers_;
    bool sends_;
    int here_;
    std::barrier<> start_;
    std::vector<std::vector<Share>> shares_;  // [entity][repetition], a row per writing thread
};

void report(const Plan& plan, const std::vector<double>& rates) {
    const double rate = bench::median(rates) / 1e6;
    const auto [low, high] = std::minmax_element(rates.begin(), rates.end());
    const char* mode = plan.threads ? "threads" : "processes";
    const char* comm = plan.comm_per_pair ? "per-pair" : "one";
    const char* tag = plan.any_tag ? "any" : "specific";
    std::printf("multirate: %d pairs of %s, %d B, communicator %s, tag %s: %.3f M messages/s\n",
                plan.pairs, mode, plan.size, comm, tag, rate);
    std::printf(
        "result bench=multirate pairs=%d mode=%s size=%d window=%d comm=%s tag=%s order=%s "
        "level=%s rate=%.4f min=%.4f max=%.4f\n",
        plan.pairs, mode, plan.size, plan.window, comm, tag, plan.overtaking ? "free" : "kept",
        plan.level.c_str(), rate, *low / 1e6, *high / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    bench::initialise(&argc, &argv, plan.level);
    bench::require_ranks(plan.threads ? 2 : 2 * plan.pairs);
    const bool sends = bench::rank() < bench::ranks() / 2;
    MPI_Comm side = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, sends, bench::rank(), &side);
    Comms comms = make_comms(plan);
    {
        Side work(plan, side, sends);
        work.run(comms);
        const bool prints = bench::rank() == bench::ranks() / 2;
        const std::vector<double> rates = sends ? std::vector<double>{} : work.rates();
        if (prints) report(plan, rates);
    }
    free_comms(comms);
    MPI_Comm_free(&side);
    MPI_Finalize();
}
