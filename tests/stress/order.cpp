// SPDX-License-Identifier: BSD-3-Clause
/// The order of messages over several communicators, in plain MPI. Each receive gets the first
/// message that it accepts and that no earlier receive got, by sender and communicator. Rings and
/// backlogs of another communicator change nothing. It goes round by round until
/// HEDDLE_STRESS_SECONDS (default 5) are over.
///
///     mpiexec -n 3 order [--communicators 4] [--one-thread] [--one-core] [--seed 1]
///
/// Rank 0 receives, the others send; a single rank sends to itself. Every communicator has a thread
/// of its own on each side.
///
/// --one-thread  one thread on each side serves all communicators in random turns.
/// --one-core    every thread of the node runs on the same core.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>
#include <unistd.h>

#include <mpi.h>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
    int communicators = 4;
    bool one_thread = false;
    bool one_core = false;
    unsigned seed = 1;
    int seconds = 5;
} options;

constexpr int receiver = 0;
constexpr int tags = 6;
constexpr int window = 16;
constexpr int burst = 600;  ///< more than a ring takes
constexpr int most_words = 3000;

int rank, ranks;

/// Sets the alarm that ends a test that hangs. Call it after each send or receive.
void something_happens() { alarm(60); }
void nothing_happens(int) {
    constexpr std::string_view text = "order: nothing has happened for 60 s\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
    std::_Exit(1);
}

// --- messages: both sides compute them from the seed ---

struct Message {
    int tag;
    int words;
    bool in_burst;
};
using Plan = std::vector<Message>;

Plan plan_of(int round, int communicator, int sender) {
    std::mt19937 random(options.seed * 7919 +
                        static_cast<unsigned>((round * 64 + communicator) * 64 + sender));
    Plan plan;
    const unsigned windows = 4 + random() % 8;
    const unsigned burst_at = random() % (2 * windows);  // in every other plan
    for (unsigned i = 0; i < windows; ++i) {
        if (i == burst_at)
            plan.insert(plan.end(), burst, {static_cast<int>(random() % tags), 2, true});
        for (int k = 0; k < window; ++k) {
            const bool large = random() % 100 == 0;
            plan.push_back({static_cast<int>(random() % tags),
                            large                   ? most_words
                                : random() % 8 == 0 ? 60
                                                    : 2,
                            false});
        }
    }
    return plan;
}

/// Does the program's own work, without MPI.
void compute(std::mt19937& random) {
    std::atomic<unsigned> result{0};
    for (unsigned i = random() % 30000; i > 0; --i) result.fetch_add(i, std::memory_order_relaxed);
}

// --- senders ---

class Sending {
public:
    Sending(MPI_Comm comm, Plan plan) : comm_(comm), plan_(std::move(plan)) {
        std::size_t words = 0;
        for (const Message& message : plan_) words += static_cast<std::size_t>(message.words);
        data_.resize(words);
    }
    bool over() const { return next_ == plan_.size(); }

    /// Sends a burst, or a window and waits for it. Nothing here waits for a receive.
    void go_on(std::mt19937& random) {
        std::vector<MPI_Request> awaited;
        const bool in_burst = plan_[next_].in_burst;
        const int count = in_burst ? burst : window;
        for (int i = 0; i < count; ++i) {
            const Message& message = plan_[next_];
            const bool waits_for_receiver = message.words == most_words || random() % 50 == 0;
            MPI_Request request = start(message, waits_for_receiver);
            (in_burst || waits_for_receiver ? later_ : awaited).push_back(request);
        }
        if (random() % 4 == 0) compute(random);
        MPI_Waitall(static_cast<int>(awaited.size()), awaited.data(), MPI_STATUSES_IGNORE);
        something_happens();
    }
    void finish() {
        MPI_Waitall(static_cast<int>(later_.size()), later_.data(), MPI_STATUSES_IGNORE);
    }

private:
    MPI_Request start(const Message& message, bool synchronous) {
        int* data = &data_[first_word_];
        data[0] = data[message.words - 1] = static_cast<int>(next_);
        MPI_Request request;
        if (synchronous)
            MPI_Issend(data, message.words, MPI_INT, receiver, message.tag, comm_, &request);
        else
            MPI_Isend(data, message.words, MPI_INT, receiver, message.tag, comm_, &request);
        first_word_ += static_cast<std::size_t>(message.words);
        ++next_;
        return request;
    }

    const MPI_Comm comm_;
    const Plan plan_;
    std::size_t next_ = 0, first_word_ = 0;
    std::vector<int> data_;
    std::vector<MPI_Request> later_;  ///< requests that wait for a receive, or for long
};

// --- receivers ---

struct Pattern {
    int source = MPI_ANY_SOURCE, tag = MPI_ANY_TAG;
    bool accepts(int message_tag) const { return tag == MPI_ANY_TAG || tag == message_tag; }
};

/// The messages of one sender on one communicator, sent or not yet, that no receive has got.
class Outstanding {
public:
    explicit Outstanding(Plan plan) : plan_(std::move(plan)), taken_(plan_.size()) {
        for (const Message& message : plan_) ++count_[static_cast<std::size_t>(message.tag)];
    }
    int count(int tag) const {
        if (tag != MPI_ANY_TAG) return count_[static_cast<std::size_t>(tag)];
        int sum = 0;
        for (const int count : count_) sum += count;
        return sum;
    }
    int first(const Pattern& pattern) const {
        for (std::size_t i = first_; i < plan_.size(); ++i)
            if (!taken_[i] && pattern.accepts(plan_[i].tag)) return static_cast<int>(i);
        return -1;
    }
    const Message& operator[](int message) const {
        return plan_[static_cast<std::size_t>(message)];
    }
    void take(int message) {
        taken_[static_cast<std::size_t>(message)] = true;
        --count_[static_cast<std::size_t>((*this)[message].tag)];
        while (first_ < plan_.size() && taken_[first_]) ++first_;
    }

private:
    const Plan plan_;
    std::vector<bool> taken_;
    std::size_t first_ = 0;
    std::array<int, tags> count_{};
};

class Receiving {
public:
    Receiving(MPI_Comm comm, int number, int first_sender, std::vector<Outstanding> senders)
        : comm_(comm), number_(number), first_sender_(first_sender), senders_(std::move(senders)) {}

    bool over() const { return count({}) == 0; }

    /// Receives a message, or posts a window, which the next turn completes.
    void go_on(std::mt19937& random) {
        something_happens();
        if (!posted_.empty()) return complete();
        switch (random() % 8) {
            case 0: return receive("MPI_Recv", choose(random, 0));
            case 1: return fetch_one_and_receive_any(random, random() % 2 == 0);
            case 2: return probe_and_receive(choose(random, 0));
            case 3: return probe_message(choose(random, 0));
            default: return post(random);
        }
    }

private:
    struct Posted {
        Pattern pattern;
        std::array<int, most_words> data;
    };

    Outstanding& from(int source) {
        return senders_[static_cast<std::size_t>(source - first_sender_)];
    }
    int count(const Pattern& pattern) const {
        int sum = 0;
        for (std::size_t i = 0; i < senders_.size(); ++i)
            if (pattern.source == MPI_ANY_SOURCE ||
                pattern.source == first_sender_ + static_cast<int>(i))
                sum += senders_[i].count(pattern.tag);
        return sum;
    }
    /// Returns a pattern that is certain to get a message, whatever the open receives before it
    /// get.
    Pattern choose(std::mt19937& random, int open) const {
        Pattern pattern;
        if (random() % 2 == 0)
            pattern.source = first_sender_ + static_cast<int>(random() % senders_.size());
        if (random() % 2 == 0) pattern.tag = static_cast<int>(random() % tags);
        return count(pattern) > open ? pattern : Pattern{};
    }

    [[noreturn]] void wrong(const char* what, const Pattern& pattern, const MPI_Status& status,
                            int got, int expected) {
        std::fprintf(stderr,
                     "order (seed %u): communicator %d, %s from %d with tag %d: message %d came "
                     "instead of %d "
                     "(source %d, tag %d)\n",
                     options.seed, number_, what, pattern.source, pattern.tag, got, expected,
                     status.MPI_SOURCE, status.MPI_TAG);
        MPI_Abort(MPI_COMM_WORLD, 1);
        std::abort();
    }
    /// Checks a receive. Call it in the order in which receives were posted.
    void check(const char* what, const Pattern& pattern, const MPI_Status& status,
               const int* data) {
        Outstanding& sender = from(status.MPI_SOURCE);
        const int expected = sender.first(pattern);
        if (data[0] != expected || sender[expected].tag != status.MPI_TAG ||
            data[sender[expected].words - 1] != expected)
            wrong(what, pattern, status, data[0], expected);
        sender.take(expected);
    }
    void check_probed(const char* what, const Pattern& pattern, const MPI_Status& status) {
        const Outstanding& sender = from(status.MPI_SOURCE);
        const int expected = sender.first(pattern);
        if (expected < 0 || sender[expected].tag != status.MPI_TAG)
            wrong(what, pattern, status, -1, expected);
    }

    void receive(const char* what, const Pattern& pattern) {
        std::array<int, most_words> data;
        MPI_Status status;
        MPI_Recv(data.data(), most_words, MPI_INT, pattern.source, pattern.tag, comm_, &status);
        check(what, pattern, status, data.data());
    }
    /// Probes for one tag, which fetches messages in the rings of that tag alone.
    void fetch_one_and_receive_any(std::mt19937& random, bool insists) {
        const Pattern one = choose(random, 0);
        int flag = 0;
        MPI_Status status;
        do {
            MPI_Iprobe(one.source, one.tag, comm_, &flag, &status);
        } while (insists && !flag);
        if (flag) check_probed("MPI_Iprobe", one, status);
        receive("MPI_Iprobe, then MPI_Recv", {one.source, MPI_ANY_TAG});
    }
    void probe_and_receive(const Pattern& pattern) {
        MPI_Status status;
        MPI_Probe(pattern.source, pattern.tag, comm_, &status);
        check_probed("MPI_Probe", pattern, status);
        receive("MPI_Probe, then MPI_Recv", {status.MPI_SOURCE, status.MPI_TAG});
    }
    void probe_message(const Pattern& pattern) {
        std::array<int, most_words> data;
        MPI_Message message;
        MPI_Status status;
        MPI_Mprobe(pattern.source, pattern.tag, comm_, &message, &status);
        MPI_Mrecv(data.data(), most_words, MPI_INT, &message, &status);
        check("MPI_Mprobe", pattern, status, data.data());
    }
    void post(std::mt19937& random) {
        posted_.resize(
            static_cast<std::size_t>(std::min(count({}), 1 + static_cast<int>(random() % window))));
        requests_.resize(posted_.size());
        for (std::size_t i = 0; i < posted_.size(); ++i) {
            Posted& receive = posted_[i];
            receive.pattern = choose(random, static_cast<int>(i));
            MPI_Irecv(receive.data.data(), most_words, MPI_INT, receive.pattern.source,
                      receive.pattern.tag, comm_, &requests_[i]);
        }
    }
    void complete() {
        std::vector<MPI_Status> statuses(posted_.size());
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), statuses.data());
        for (std::size_t i = 0; i < posted_.size(); ++i)
            check("MPI_Irecv", posted_[i].pattern, statuses[i], posted_[i].data.data());
        posted_.clear();
    }

    const MPI_Comm comm_;
    const int number_, first_sender_;
    std::vector<Outstanding> senders_;
    std::vector<Posted> posted_;
    std::vector<MPI_Request> requests_;
};

// --- rounds ---

/// Serves the sides that are not over, for some turns each.
template <class Side>
void serve(std::vector<Side*> sides, unsigned seed) {
    std::mt19937 random(seed);
    for (;;) {
        std::erase_if(sides, [](const Side* side) { return side->over(); });
        if (sides.empty()) return;
        Side& side = *sides[random() % sides.size()];
        for (unsigned turns = 1 + random() % 4; turns > 0 && !side.over(); --turns)
            side.go_on(random);
    }
}

template <class Side>
void start_threads(std::vector<std::thread>& threads, std::vector<Side>& sides, unsigned seed) {
    std::vector<Side*> of_one;
    for (Side& side : sides) {
        of_one.push_back(&side);
        if (options.one_thread && &side != &sides.back()) continue;
        threads.emplace_back(serve<Side>, std::exchange(of_one, {}), ++seed);
    }
}

void run_round(int round, const std::vector<MPI_Comm>& comms) {
    const int first_sender = ranks == 1 ? 0 : 1;
    std::vector<Sending> sending;
    std::vector<Receiving> receiving;
    for (int number = 0; number < options.communicators; ++number) {
        const MPI_Comm comm = comms[static_cast<std::size_t>(number)];
        if (rank >= first_sender) sending.emplace_back(comm, plan_of(round, number, rank));
        if (rank != receiver) continue;
        std::vector<Outstanding> senders;
        for (int sender = first_sender; sender < ranks; ++sender)
            senders.emplace_back(plan_of(round, number, sender));
        receiving.emplace_back(comm, number, first_sender, std::move(senders));
    }
    const unsigned seed = options.seed * 31 + static_cast<unsigned>(round * 1000 + rank * 100);
    std::vector<std::thread> threads;
    start_threads(threads, sending, seed);
    start_threads(threads, receiving, seed + 50);
    for (std::thread& thread : threads) thread.join();
    for (Sending& side : sending) side.finish();
}

void read_options(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--communicators" && i + 1 < argc)
            options.communicators = std::atoi(argv[++i]);
        else if (word == "--seed" && i + 1 < argc)
            options.seed = static_cast<unsigned>(std::atoi(argv[++i]));
        else if (word == "--one-thread")
            options.one_thread = true;
        else if (word == "--one-core")
            options.one_core = true;
        else {
            std::fprintf(stderr,
                         "order [--communicators N] [--one-thread] [--one-core] [--seed N]\n");
            std::exit(2);
        }
    }
    if (const char* seconds = std::getenv("HEDDLE_STRESS_SECONDS");
        seconds != nullptr && *seconds != '\0')
        options.seconds = std::atoi(seconds);
}

/// Binds this process to the first core it may use: with `--bind-to none` the same for all ranks.
void stay_on_one_core() {
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) std::exit(77);
    int core = 0;
    while (!CPU_ISSET(core, &allowed)) ++core;
    CPU_SET(core, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) std::exit(77);
}

}  // namespace

int main(int argc, char** argv) {
    read_options(argc, argv);
    if (options.one_core) stay_on_one_core();
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::signal(SIGALRM, nothing_happens);
    std::vector<MPI_Comm> comms(static_cast<std::size_t>(options.communicators));
    for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);

    const Clock::time_point end = Clock::now() + std::chrono::seconds(options.seconds);
    int rounds = 0;
    for (int more = 1; more != 0; ++rounds) {
        something_happens();
        run_round(rounds, comms);
        more = Clock::now() < end ? 1 : 0;
        MPI_Bcast(&more, 1, MPI_INT, receiver, MPI_COMM_WORLD);
    }
    alarm(0);
    if (rank == receiver) std::printf("seed %u: %d rounds\n", options.seed, rounds);
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
    return MPI_Finalize();
}
