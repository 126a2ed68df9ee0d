// SPDX-License-Identifier: BSD-3-Clause
/// Simulates the lock protocols on a machine of many cores: the same templates as in sync/locks, on
/// a machine in virtual time (machine.hpp), under the regimes of P2 (regimes.hpp).

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <pthread.h>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "regimes.hpp"

namespace {

using namespace heddle::bench;
namespace locks = heddle::sync::locks;

struct Contestant {
    std::string_view name;
    Outcome (*simulate)(const Topology&, const Costs&, const Workload&);
    double (*measure)(unsigned threads, const Workload&);
};

/// Passes the lock on among threads on the processors of this machine. Returns acquisitions a
/// second.
template <class L>
double pass(unsigned threads, const Workload& work) {
    struct alignas(64) Line {
        std::uint64_t value = 0;
    };
    const auto lock = std::make_unique<L>();
    std::vector<Line> lines(work.shared_lines);
    std::atomic<bool> over{false};
    std::atomic<unsigned> ready{0};
    std::vector<std::thread> crowd;
    std::vector<std::uint64_t> passed(threads);
    const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
    for (unsigned t = 0; t < threads; ++t)
        crowd.emplace_back([&, t] {
            cpu_set_t here;
            CPU_ZERO(&here);
            CPU_SET(t % processors, &here);
            pthread_setaffinity_np(pthread_self(), sizeof here,
                                   &here);  // a thread that may not run there stays where it is
            std::minstd_rand random(t + 1);
            std::uint64_t mine = 0;
            ready.fetch_add(1);
            while (ready.load() < threads) std::this_thread::yield();
            for (; !over.load(heddle::relaxed); ++mine) {
                typename L::Node me;
                lock_on(*lock, Path::main, me);
                for (unsigned i = 0; i < work.passage_lines; ++i)
                    ++lines[random() % work.shared_lines].value;
                lock->unlock(me);
            }
            passed[t] = mine;
        });
    while (ready.load() < threads) std::this_thread::yield();
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    over.store(true);
    for (std::thread& thread : crowd) thread.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return static_cast<double>(std::accumulate(passed.begin(), passed.end(), std::uint64_t{0})) /
        took.count();
}

/// Returns the best of several trials, which an interruption cannot spoil.
template <class L>
double measure(unsigned threads, const Workload& work) {
    double best = 0;
    for (int trial = 0; trial < 7; ++trial) best = std::max(best, pass<L>(threads, work));
    return best;
}

template <class... Simulated, class... Native>
std::vector<Contestant> contestants(locks::List<Simulated...>, locks::List<Native...>) {
    return {{Simulated::name, simulate<Simulated>, measure<Native>}...};
}

Topology topology_of(const std::string& text) {
    Topology topology;
    char rest = 0;
    topology.threads = 1;
    const int given = std::sscanf(text.c_str(), "%ux%ux%u%c", &topology.sockets, &topology.cores,
                                  &topology.threads, &rest);
    if (given < 2 || given > 3 || topology.processors() == 0 ||
        topology.processors() > Machine::most_processors)
        throw CLI::ValidationError(
            "--topology",
            fmt::format("\"{}\" is not SOCKETSxCORES or SOCKETSxCORESxTHREADS with at most {} "
                        "processors in all",
                        text, Machine::most_processors));
    return topology;
}

/// Prints a table of rates, in millions a second and relative to MCS. For the last number of
/// threads it also prints three figures of each path. They are the share of productive
/// acquisitions, the acquisitions for an operation, and the number of other threads that wait.
void print_table(const std::vector<unsigned>& threads, const std::vector<Contestant>& all,
                 const std::map<std::string_view, std::vector<Outcome>>& outcomes) {
    fmt::print("{:<16}", "threads");
    for (const unsigned n : threads) fmt::print("{:>16}", n);
    fmt::print("{:>9}{:>7}{:>7}{:>9}{:>7}{:>7}\n", "main", "each", "crowd", "progress", "each",
               "crowd");
    for (const Contestant& one : all) {
        const auto found = outcomes.find(one.name);
        if (found == outcomes.end()) continue;
        fmt::print("{:<16}", one.name);
        const auto mcs = outcomes.find("mcs");
        for (std::size_t i = 0; i < threads.size(); ++i) {
            const double rate = found->second[i].rate;
            if (mcs == outcomes.end())
                fmt::print("{:>16.3f}", rate * 1e-6);
            else
                fmt::print("{:>9.3f}{:>7}", rate * 1e-6,
                           fmt::format("({:.2f})", rate / mcs->second[i].rate));
        }
        const Outcome& last = found->second.back();
        for (const PathCount& path : {last.main, last.progress})
            fmt::print("{:>9.3f}{:>7.2f}{:>7.1f}", path.efficiency(),
                       path.for_each_of(last.operations), path.crowd());
        fmt::print("\n");
    }
}

/// Prints the passing regime simulated for two cores next to the rates of this machine. Threads
/// beyond two share cores, which is not simulated.
void check(const std::vector<Contestant>& all, const Costs& costs, Workload work) {
    fmt::print("nanoseconds a passage; {} random lines of {} inside\n{:<16}", work.passage_lines,
               work.shared_lines, "threads");
    for (const char* title :
         {"1 simulated", "1 measured", "2 simulated", "2 measured", "3 measured", "4 measured"})
        fmt::print("{:>13}", title);
    fmt::print("\n");
    for (const Contestant& one : all) {
        fmt::print("{:<16}", one.name);
        for (const unsigned threads : {1U, 2U}) {
            work.threads = threads;
            fmt::print("{:>13.0f}{:>13.0f}", 1e9 / one.simulate({1, 2, 1}, costs, work).rate,
                       1e9 / one.measure(threads, work));
        }
        for (const unsigned threads : {3U, 4U})
            fmt::print("{:>13.0f}", 1e9 / one.measure(threads, work));
        fmt::print("\n");
    }
}

int run(int argc, char** argv) {
    CLI::App app(
        "The lock protocols of P2 on a simulated machine of many cores: rates in millions a "
        "second, relative to MCS "
        "in parentheses; then, at the last number of threads and for each path, the share of "
        "productive "
        "acquisitions, their number for each operation, and how many other threads wait "
        "meanwhile.");
    std::vector<unsigned> threads{2, 4, 8, 11, 22, 44, 66, 88};
    std::vector<std::string> chosen;
    std::string topology_text = "4x11x2";
    Costs costs;
    Workload work;
    bool csv = false, check_here = false;
    app.add_option("--threads", threads, "Numbers of threads; thread n is on processor n")
        ->delimiter(',')
        ->check(CLI::Range(1, 512));
    app.add_option("--locks", chosen, "Names of locks; all of them otherwise")->delimiter(',');
    app.add_option("--topology", topology_text, "SOCKETSxCORES or SOCKETSxCORESxTHREADS")
        ->capture_default_str();
    std::string regime = "throughput";
    app.add_option("--regime", regime, "passing, throughput or latency")
        ->check(CLI::IsMember({"passing", "throughput", "latency"}))
        ->capture_default_str();
    const auto time = [&app](const char* name, Time& value, const char* what) {
        app.add_option_function<double>(
               name, [&value](double ns) { value = nanoseconds(ns); }, what)
            ->check(CLI::Range(0.0, 1e9))
            ->default_str(fmt::format("{}", static_cast<double>(value) / 1000));
    };
    const auto lines = [&app](const char* name, unsigned& value, const char* what, int least,
                              int most) {
        app.add_option(name, value, what)->check(CLI::Range(least, most))->capture_default_str();
    };
    time("--hit-ns", costs.hit, "An access to a line that the processor has");
    time("--sibling-ns", costs.sibling, "A line from another processor of the core");
    time("--near-ns", costs.near,
         "A line from another core of the socket: a quarter of what `line` prints");
    time("--far-ns", costs.far, "A line from another socket");
    time("--locked-ns", costs.locked, "What a read-modify-write costs more");
    time("--wake-ns", costs.wake_up, "Until a sleeper runs");
    lines("--overlap", costs.overlap, "Lines that a core fetches at once", 1, 64);
    time("--duration-ns", work.duration, "Virtual time of each run");
    lines("--issue-lines", work.issue_lines, "Lines touched by issuing an operation", 0, 64);
    lines("--passage-lines", work.passage_lines, "Lines touched by a passage", 0, 64);
    lines("--poll-lines", work.poll_lines, "Lines touched by every poll", 0, 64);
    lines("--found-lines", work.found_lines, "Lines touched by a completion", 0, 64);
    lines("--shared-lines", work.shared_lines, "Lines that they are chosen from", 1, 1 << 20);
    lines("--window", work.window, "Messages of a thread before it waits (throughput)", 1, 1 << 20);
    lines("--batch", work.batch, "Completions taken by one poll", 1, 1 << 20);
    time("--network-ns", work.network, "One way through the network");
    time("--gap-ns", work.gap, "Between two messages");
    time("--service-ns", work.service, "The server's time for a message (latency)");
    app.add_flag("--csv", csv, "Lines of regime,lock,threads,rate,main,progress");
    app.add_flag("--check", check_here,
                 "The passing regime against real threads on this machine instead");
    Topology topology;
    try {
        app.parse(argc, argv);
        topology = topology_of(topology_text);
        for (const unsigned n : threads)
            if (n > topology.processors())
                throw CLI::ValidationError("--threads",
                                           fmt::format("{} are more than the {} processors of {}",
                                                       n, topology.processors(), topology_text));
    } catch (const CLI::ParseError& error) {
        return app.exit(error);
    }
    std::vector<Contestant> all = contestants(locks::Locks<CostedWorld>{}, locks::Locks<>{});
    for (const std::string& name : chosen)
        if (std::none_of(all.begin(), all.end(), [&](auto& one) { return one.name == name; }))
            return app.exit(CLI::ValidationError("--locks", "there is no lock \"" + name + "\""));
    if (!chosen.empty())
        std::erase_if(all, [&](auto& one) {
            return std::find(chosen.begin(), chosen.end(), one.name) == chosen.end();
        });

    work.regime = regime == "passing" ? Regime::passing
        : regime == "throughput"      ? Regime::throughput
                                      : Regime::latency;
    if (check_here) {
        work.regime = Regime::passing;
        check(all, costs, work);
        return 0;
    }
    std::map<std::string_view, std::vector<Outcome>> outcomes;
    for (const Contestant& one : all)
        for (const unsigned n : threads) {
            work.threads = n;
            const Outcome& outcome =
                outcomes[one.name].emplace_back(one.simulate(topology, costs, work));
            if (csv)
                fmt::print("{},{},{},{:.0f},{:.4f},{:.4f}\n", regime, one.name, n, outcome.rate,
                           outcome.main.efficiency(), outcome.progress.efficiency());
        }
    if (!csv) print_table(threads, all, outcomes);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "lock_simulation: {}\n", error.what());
        return 1;
    }
}
