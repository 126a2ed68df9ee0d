// SPDX-License-Identifier: BSD-3-Clause

/// Halo exchange between threads: search depth and queue drain time ("matching misery", section 4).
///
/// In a run, T_r threads of rank 1 post M_t receives, each with a tag of its own. When all are
/// posted, an empty message says so to rank 0, whose T_s threads send M_t messages. Every receiving
/// thread waits for its own. Tags are strided: thread t of T has t, t + T, t + 2T, ... The drain
/// time is from the `ready` to the completion of the last receive. The `ready` takes the place of
/// the paper's barrier because the messages of a barrier would be searched for, too.
///
/// Threads live as long as the program, so that no run starts any. With --team new each run has its
/// own threads, which have sent nothing before. The folder stencil/ has the model (M_t, T_r, T_s),
/// and the game of chance whose depths are shown beside. Both are plain C++ without MPI.

#include <cstdint>
#include <new>
#include <optional>

#include "common.hpp"
#include "stencil/interleaving.hpp"
#include "stencil/model.hpp"
#include "stencil/team.hpp"

namespace {

using namespace heddle;

constexpr const char* usage =
    "stencil --points 5|9|7|27 --decomposition XxY|XxYxZ\n"
    "stencil --decomposition naive --threads N --each MESSAGES (of one thread; or --points)\n"
    "        --runs N (after two that warm up) --size BYTES\n"
    "        --wait threads|one (each thread for its own receives, or one for all)\n"
    "        --team kept|new (threads of all runs, or of each run, which then are new to the "
    "library)\n"
    "        --simulate beside|no|single|whole|N (depth of a list, threads taking random turns:\n"
    "        both ends beside what is measured; or, without messages, when a turn is a single\n"
    "        operation, or the whole of what a thread does, or N operations)\n"
    "2 ranks; without messages 1.\n";

/// The job: an exchange, with both ends of the game beside it or not; or a game alone.
struct Simulate {
    bool beside = false;
    std::optional<stencil::Turns> alone;
};

struct Plan {
    std::string name;
    stencil::Exchange exchange;
    int runs, size;
    bool each_waits, new_threads;
    Simulate simulate;

    int messages() const { return static_cast<int>(exchange.messages); }
    int receiving() const { return static_cast<int>(exchange.receiving); }
    int sending() const { return static_cast<int>(exchange.sending); }
};

constexpr const char* naive = "naive";

stencil::Exchange read_naive(bench::Options& options, std::string& name) {
    if (options.given("points") && options.given("each"))
        options.leave(2, "--points and --each both say how many messages a thread has");
    const long threads = options.integer("threads", 64, 1),
               each = options.given("points")
        ? stencil::neighbours(stencil::stencil_of(options.integer("points", 27)))
        : options.integer("each", 26, 1);
    name = "naive " + std::to_string(threads) + "x" + std::to_string(each);
    return stencil::naive_exchange(threads, each);
}

stencil::Exchange read_exchange(bench::Options& options, std::string& name) {
    const std::string given = options.text("decomposition", "");
    if (given == naive) return read_naive(options, name);
    for (const char* word : {"threads", "each"})
        if (options.given(word))
            options.leave(2, "--" + std::string(word) + " is for --decomposition naive");
    const stencil::Stencil stencil = stencil::stencil_of(options.integer("points", 27));
    const std::string usual = stencil::dimensions(stencil) == 2 ? "32x32" : "8x8x4",
                      decomposition = given.empty() ? usual : given;
    name = decomposition + " " + std::to_string(stencil::neighbours(stencil) + 1) + "-point";
    return stencil::exchange(stencil, stencil::decomposition_of(decomposition));
}

Simulate read_simulate(bench::Options& options) {
    const std::string word = options.text("simulate", "beside");
    if (word == "beside" || word == "no") return {word == "beside", {}};
    if (word == "single") return {false, stencil::Turns::single};
    if (word == "whole") return {false, stencil::Turns::whole};
    if (word.find_first_not_of("0123456789") != std::string::npos)
        options.leave(2,
                      "--simulate cannot be '" + word +
                          "': allowed are beside, no, single, whole, or the operations of a turn");
    return {false, stencil::Turns{static_cast<std::int32_t>(options.parse("simulate", word, 1))}};
}

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{};
    try {
        plan.exchange = read_exchange(options, plan.name);
    } catch (const stencil::Refused& refused) {
        options.leave(2, refused.what());
    }
    plan.runs = static_cast<int>(options.integer("runs", 10, 1));
    plan.size = static_cast<int>(options.integer("size", 0));
    plan.each_waits = options.choice("wait", "threads", {"threads", "one"}) == "threads";
    plan.new_threads = options.choice("team", "kept", {"kept", "new"}) == "new";
    plan.simulate = read_simulate(options);
    options.done();
    // Tags, counts of requests and threads are int in MPI. The exact bound of tags is asked for
    // later.
    constexpr std::int64_t most = 1 << 24;
    if (plan.exchange.messages > most || plan.exchange.sending > most)
        options.leave(2,
                      plan.name + " has " + std::to_string(plan.exchange.messages) +
                          " messages; at most " + std::to_string(most) + " can be tried");
    return plan;
}

// --- The game of chance ---

/// Returns the average depth over as many games as there would be runs.
double simulate(const Plan& plan, stencil::Turns turns) {
    stencil::Random random(1);
    double sum = 0;
    for (int run = 0; run < plan.runs; ++run) {
        const auto posted = stencil::interleave(plan.messages(), plan.receiving(), turns, random);
        const auto arrived = stencil::interleave(plan.messages(), plan.sending(), turns, random);
        sum += stencil::search_depth(posted, arrived).average;
    }
    return sum / plan.runs;
}

// --- Threads ---

using stencil::Team;

/// Returns whether both ranks have their threads. A rank that lacks some says why.
bool have_threads(const Team& team, int wanted) {
    const int missing = wanted - team.size();
    int most_missing = 0;
    MPI_Allreduce(&missing, &most_missing, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (missing != 0)
        std::fprintf(
            stderr, "stencil: rank %d needs %d threads, and the system gives no more than %d: %s\n",
            bench::rank(), wanted, team.size(), team.why_not_more().c_str());
    return most_missing == 0;
}

// --- What the library counts ---

/// The entries of queues that this process has looked at for messages and receives, if the library
/// counts them (docs/TOOLS.md).
class SearchSteps {
public:
    SearchSteps() {
        int level = 0;
        if (MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) return;
        MPI_T_pvar_session_create(&session_);
        int index = 0, count = 0;
        there_ =
            MPI_T_pvar_get_index("search_steps", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS &&
            MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle_, &count) == MPI_SUCCESS;
    }
    ~SearchSteps() {
        if (session_ == MPI_T_PVAR_SESSION_NULL) return;
        MPI_T_pvar_session_free(&session_);
        MPI_T_finalize();
    }
    SearchSteps(const SearchSteps&) = delete;
    SearchSteps& operator=(const SearchSteps&) = delete;

    bool there() const { return there_; }
    unsigned long long read() {
        unsigned long long now = 0;
        if (there_) MPI_T_pvar_read(session_, handle_, &now);
        return now;
    }

private:
    MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
    bool there_ = false;
};

// --- The exchange ---

enum Rank { sender, receiver };

struct Measured {
    std::vector<double> drain;    ///< seconds of each run
    std::optional<double> depth;  ///< entries looked at for a message, on average
};

/// Returns the tag of `ready`, which no other message has. It goes in the opposite direction.
int ready_tag(const Plan& plan) { return plan.messages(); }

void send_all(const Plan& plan, Team& team) {
    const std::vector<char> data(static_cast<std::size_t>(plan.size) + 1);
    MPI_Recv(nullptr, 0, MPI_CHAR, receiver, ready_tag(plan), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    team.run([&](int thread) {
        for (int tag = thread; tag < plan.messages(); tag += plan.sending())
            MPI_Send(data.data(), plan.size, MPI_CHAR, receiver, tag, MPI_COMM_WORLD);
    });
}

class Receiver {
public:
    explicit Receiver(const Plan& plan)
        : plan_(plan),
          data_((static_cast<std::size_t>(plan.size) + 1) * plan.messages()),
          requests_(plan.messages()),
          ended_(plan.receiving()) {}

    void run(Team& team, bool counts) {
        team.run([this](int thread) { post(thread); });
        const unsigned long long before = steps_.read();
        const double start = bench::now();
        MPI_Send(nullptr, 0, MPI_CHAR, sender, ready_tag(plan_), MPI_COMM_WORLD);
        wait(team);
        const double drain = *std::max_element(ended_.begin(), ended_.end()) - start;
        const unsigned long long after = steps_.read();
        if (!counts) return;
        drain_.push_back(drain);
        looked_at_ += after - before;
    }

    Measured measured() const {
        if (!steps_.there()) return {drain_, std::nullopt};
        const double arrived =
            static_cast<double>(plan_.messages()) * static_cast<double>(drain_.size());
        return {drain_, static_cast<double>(looked_at_) / arrived};
    }

private:
    int first(int thread) const {
        const int all = plan_.messages(), each = all / plan_.receiving(),
                  more = all % plan_.receiving();
        return thread * each + std::min(thread, more);
    }
    /// Posts the receives of a thread. Its requests lie together, so that it can wait for them at
    /// once.
    void post(int thread) {
        MPI_Request* request = &requests_[static_cast<std::size_t>(first(thread))];
        for (int tag = thread; tag < plan_.messages(); tag += plan_.receiving())
            MPI_Irecv(&data_[(static_cast<std::size_t>(plan_.size) + 1) * tag], plan_.size,
                      MPI_CHAR, sender, tag, MPI_COMM_WORLD, request++);
    }
    void wait_for(int from, int to, double& ended) {
        MPI_Waitall(to - from, requests_.data() + from, MPI_STATUSES_IGNORE);
        ended = bench::now();
    }
    void wait(Team& team) {
        if (plan_.each_waits)
            team.run(
                [this](int thread) { wait_for(first(thread), first(thread + 1), ended_[thread]); });
        else
            wait_for(0, plan_.messages(), ended_[0]);
    }

    const Plan& plan_;
    SearchSteps steps_;
    std::vector<char> data_;
    std::vector<MPI_Request> requests_;
    std::vector<double> ended_, drain_;
    unsigned long long looked_at_ = 0;
};

// --- Reports ---

/// The line for people and the line for programs, which grow together.
class Report {
public:
    explicit Report(const Plan& plan) {
        people_ = "stencil: " + plan.name + ": " + std::to_string(plan.messages()) +
            " messages from " + std::to_string(plan.sending()) + " threads to " +
            std::to_string(plan.receiving());
        std::string name = plan.name;
        std::replace(name.begin(), name.end(), ' ', '/');
        programs_ = "result bench=stencil exchange=" + name +
            " messages=" + std::to_string(plan.messages()) +
            " receiving=" + std::to_string(plan.receiving()) +
            " sending=" + std::to_string(plan.sending()) + " size=" + std::to_string(plan.size) +
            " wait=" + (plan.each_waits ? "threads" : "one") +
            " team=" + (plan.new_threads ? "new" : "kept") + " runs=" + std::to_string(plan.runs);
    }
    void add(const std::string& words, const char* key, double value, const char* unit = "") {
        char text[96];
        std::snprintf(text, sizeof text, "%.3f%s", value, unit);
        people_ += words + text;
        std::snprintf(text, sizeof text, " %s=%.3f", key, value);
        programs_ += text;
    }
    void print() const { std::printf("%s\n%s\n", people_.c_str(), programs_.c_str()); }

private:
    std::string people_, programs_;
};

void report(const Plan& plan, const Measured& measured) {
    Report report(plan);
    if (measured.depth) report.add(", depth ", "depth", *measured.depth);
    if (plan.simulate.beside) {
        report.add(", of a list with random turns ", "simulated_single",
                   simulate(plan, stencil::Turns::single));
        report.add(" to ", "simulated_whole", simulate(plan, stencil::Turns::whole));
    }
    const auto [low, high] = std::minmax_element(measured.drain.begin(), measured.drain.end());
    report.add(", drained in ", "drain_ms", bench::median(measured.drain) * 1e3, " ms");
    report.add(" (", "min", *low * 1e3);
    report.add(" to ", "max", *high * 1e3, ")");
    report.print();
}

std::string words_for(stencil::Turns turns) {
    if (turns == stencil::Turns::single) return "one operation";
    if (turns == stencil::Turns::whole) return "whole threads";
    return std::to_string(static_cast<std::int32_t>(turns)) + " operations";
}

void report_simulated(const Plan& plan, stencil::Turns turns) {
    Report report(plan);
    report.add(", depth of a list with random turns of " + words_for(turns) + " ", "depth",
               simulate(plan, turns));
    report.print();
}

void require_tags(const Plan& plan) {
    int* bound = nullptr;
    int there = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &there);
    if (there && ready_tag(plan) > *bound)
        bench::fail("stencil: " + plan.name + " takes tags up to " +
                    std::to_string(ready_tag(plan)) + ", and this MPI has them up to " +
                    std::to_string(*bound));
}

/// Runs the plan. Returns 0, or 2 if there are not enough threads.
int run(const Plan& plan) {
    const bool sends = bench::rank() == sender;
    const int threads = sends ? plan.sending() : plan.receiving();
    std::optional<Team> team(threads);
    if (!have_threads(*team, threads)) return 2;
    std::optional<Receiver> receives;
    try {
        if (!sends) receives.emplace(plan);
    } catch (const std::bad_alloc&) {
        bench::fail("stencil: no memory for " + std::to_string(plan.messages()) + " messages of " +
                    std::to_string(plan.size) + " bytes");
    }
    constexpr int warm_up = 2;
    for (int k = 0; k < warm_up + plan.runs; ++k) {
        if (plan.new_threads && k > 0) {
            team.emplace(threads);
            if (!have_threads(*team, threads)) return 2;
        }
        if (sends)
            send_all(plan, *team);
        else
            receives->run(*team, k >= warm_up);
    }
    if (sends) return 0;
    report(plan, receives->measured());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    if (plan.simulate.alone) {
        report_simulated(plan, *plan.simulate.alone);
        return 0;
    }
    bench::initialise(&argc, &argv, "multiple");
    bench::require_ranks(2);
    require_tags(plan);
    const int result = run(plan);
    MPI_Finalize();
    return result;
}
