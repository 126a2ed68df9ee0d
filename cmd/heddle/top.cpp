// SPDX-License-Identifier: BSD-3-Clause
/// `heddle top`: what the threads of the jobs on this machine do, again and again.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "hangs/jobs.hpp"
#include "hangs/snapshot.hpp"
#include "json.hpp"
#include "subcommands.hpp"
#include "timeline/timeline.hpp"
#include "top_samples.hpp"

namespace heddle::cmd {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_samples{20};
constexpr std::chrono::microseconds between_looks{100};

/// Of a thread, or of a rank that has none.
struct Row {
    int rank = 0;
    pid_t pid = 0;
    std::uint32_t thread = 0;
    char state = '?';
    std::optional<double> processor, in_mpi;
    std::optional<Traffic> traffic;
    std::uint64_t memory = 0;
    std::string call, end;
    std::optional<int> waits_for;  ///< rank in MPI_COMM_WORLD
    double seconds = 0;            ///< for which it has waited
};

struct Table {
    pid_t launcher = 0;
    bool whole = true;
    std::vector<Row> rows;
};

const hangs::Thread* thread_of(const hangs::Rank& rank, std::uint32_t number) {
    for (const hangs::Thread& thread : rank.threads)
        if (thread.thread == number) return &thread;
    return nullptr;
}

bool is_alive(const hangs::Snapshot& job) {
    return std::any_of(job.ranks.begin(), job.ranks.end(),
                       [](const hangs::Rank& rank) { return rank.pid != 0 && !rank.end; });
}

/// The jobs as they are at the end of a while in which they are watched.
class Watch {
public:
    explicit Watch(const TopOptions& options) : options_(options) {}

    std::vector<Table> tables() {
        const hangs::Finder finder;
        std::vector<const hangs::FoundJob*> jobs;
        std::vector<hangs::Snapshot> before;
        for (const hangs::FoundJob& job : finder.jobs()) {
            if (!hangs::concerns(job, options_.process)) continue;
            hangs::Snapshot snapshot = job.look();
            if (!is_alive(snapshot)) continue;
            jobs.push_back(&job);
            before.push_back(std::move(snapshot));
        }
        const auto begin = Clock::now();
        for (const hangs::Snapshot& snapshot : before) note_traffic(snapshot);
        watch(before,
              jobs.empty() ? begin
                           : begin +
                      std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(options_.seconds)));
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        std::vector<Table> tables;
        for (std::size_t i = 0; i < jobs.size(); ++i)
            tables.push_back(table(*jobs[i], before[i], seconds));
        return tables;
    }

private:
    void watch(const std::vector<hangs::Snapshot>& jobs, Clock::time_point end) {
        samplers_.clear();
        do {
            for_threads(jobs, [&](pid_t pid, const hangs::Thread& thread) {
                samplers_[{pid, thread.thread}].look(pid, thread);
            });
            std::this_thread::sleep_for(between_looks);
            for_threads(jobs, [&](pid_t pid, const hangs::Thread& thread) {
                samplers_[{pid, thread.thread}].look_again(pid, thread);
            });
            std::this_thread::sleep_for(between_samples);
        } while (Clock::now() < end);
    }
    template <class What>
    static void for_threads(const std::vector<hangs::Snapshot>& jobs, What what) {
        for (const hangs::Snapshot& job : jobs)
            for (const hangs::Rank& rank : job.ranks)
                for (const hangs::Thread& thread : rank.threads)
                    if (thread.attached) what(rank.pid, thread);
    }

    Traced* traced(pid_t pid) {
        const auto known = traced_.find(pid);
        if (known != traced_.end()) return known->second.get();
        return (traced_[pid] = Traced::open(pid)).get();
    }
    void note_traffic(const hangs::Snapshot& snapshot) {
        for (const hangs::Rank& rank : snapshot.ranks)
            if (Traced* const events = rank.pid == 0 ? nullptr : traced(rank.pid))
                for (const hangs::Thread& thread : rank.threads)
                    (void)events->traffic(thread.thread);
    }

    Table table(const hangs::FoundJob& job, const hangs::Snapshot& before, double seconds) {
        const hangs::Snapshot now = job.look();
        Table table{job.launcher(), now.whole, {}};
        for (std::size_t i = 0; i < now.ranks.size(); ++i) {
            const hangs::Rank& rank = now.ranks[i];
            const std::size_t rows = table.rows.size();
            for (const hangs::Thread& thread : rank.threads) {
                if (!thread.attached || thread.of_library) continue;
                table.rows.push_back(
                    row(rank, thread, thread_of(before.ranks[i], thread.thread), seconds));
            }
            if (table.rows.size() != rows) continue;
            Row alone;
            alone.rank = rank.rank;
            alone.pid = rank.pid;
            alone.memory = rank.pid == 0 || rank.end ? 0 : resident_bytes(rank.pid);
            alone.end = rank.end ? *rank.end : rank.pid == 0 ? "not started" : "not in MPI yet";
            table.rows.push_back(std::move(alone));
        }
        return table;
    }

    Row row(const hangs::Rank& rank, const hangs::Thread& thread, const hangs::Thread* before,
            double seconds) {
        Row row;
        row.rank = rank.rank;
        row.pid = rank.pid;
        row.thread = thread.thread;
        row.state = thread.state;
        row.memory = resident_bytes(rank.pid);
        row.call = thread.call;
        if (before != nullptr)
            row.processor = static_cast<double>(thread.ticks - before->ticks) /
                static_cast<double>(::sysconf(_SC_CLK_TCK)) / seconds;
        const auto sampler = samplers_.find({rank.pid, thread.thread});
        if (sampler != samplers_.end()) row.in_mpi = sampler->second.share();
        if (Traced* const events = traced(rank.pid)) row.traffic = events->traffic(thread.thread);
        if (row.traffic) {
            row.in_mpi = row.traffic->in_mpi;
            row.waits_for = row.traffic->waits_for;
        }
        for (const hangs::Waiting& waiting : rank.waiting) {
            if (waiting.thread != thread.thread) continue;
            row.call = waiting.what.call;
            row.seconds = waiting.seconds;
            if (!row.traffic && waiting.seconds >= seconds) row.in_mpi = 1;
            if (waiting.what.number_listed() > 0 && waiting.what.listed[0].world_peer >= 0)
                row.waits_for = waiting.what.listed[0].world_peer;
        }
        return row;
    }

    const TopOptions& options_;
    std::map<std::pair<pid_t, std::uint32_t>, WaitSampler> samplers_;
    std::map<pid_t, std::unique_ptr<Traced>> traced_;
};

std::string percent(const std::optional<double>& share) {
    return share ? fmt::format("{:.0f}", 100 * *share) : "-";
}

std::string doing(const Row& row) {
    if (!row.end.empty()) return row.end;
    std::string text = row.call.empty() ? "-" : row.call;
    if (row.waits_for) text += fmt::format(" for rank {}", *row.waits_for);
    if (row.seconds > 0) text += fmt::format(", {:.1f} s", row.seconds);
    return text;
}

void print(const Table& table) {
    int ranks = 0, last = -1;
    for (const Row& row : table.rows) ranks += std::exchange(last, row.rank) != row.rank ? 1 : 0;
    fmt::print("{} rank{}{}{}\n", ranks, ranks == 1 ? "" : "s",
               table.whole ? "" : " of a job, those on this machine",
               table.launcher == 0 ? "" : fmt::format(", mpiexec {}", table.launcher));
    fmt::print("{:>5} {:>8} {:>8} S {:>5} {:>7} {:>10} {:>9}  {}\n", "RANK", "PID", "THREAD",
               "CPU %", "IN MPI %", "MESSAGES/S", "MEMORY", "LAST CALL, WAIT");
    for (const Row& row : table.rows)
        fmt::print("{:>5} {:>8} {:>8} {} {:>5} {:>7} {:>10} {:>5} MiB  {}\n", row.rank, row.pid,
                   row.thread, row.state, percent(row.processor), percent(row.in_mpi),
                   row.traffic ? fmt::format("{:.0f}", row.traffic->messages) : "-",
                   row.memory >> 20, doing(row));
}

std::string number(const std::optional<double>& value) {
    return value ? fmt::format("{:.4f}", *value) : "null";
}

std::string in_json(const Table& table) {
    std::vector<std::string> rows;
    for (const Row& row : table.rows)
        rows.push_back(fmt::format(
            R"({{"rank":{},"pid":{},"thread":{},"state":{},"cpu":{},"in_mpi":{},"messages_per_second":{},"calls_per_second":{},"memory":{},"call":{},"waits_for":{},"waits_seconds":{:.3f},"end":{}}})",
            row.rank, row.pid, row.thread, json_string(std::string(1, row.state)),
            number(row.processor), number(row.in_mpi),
            row.traffic ? fmt::format("{:.1f}", row.traffic->messages) : "null",
            row.traffic ? fmt::format("{:.1f}", row.traffic->calls) : "null", row.memory,
            json_string(row.call),
            row.waits_for ? std::to_string(*row.waits_for) : std::string("null"), row.seconds,
            row.end.empty() ? std::string("null") : json_string(row.end)));
    return fmt::format(R"({{"mpiexec":{},"whole":{},"threads":[{}]}})", table.launcher, table.whole,
                       fmt::join(rows, ","));
}

bool draws() {
    const char* terminal = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) != 0 && terminal != nullptr &&
        std::string_view(terminal) != "dumb";
}

void show(const std::vector<Table>& tables, const TopOptions& options) {
    if (options.json) {
        std::vector<std::string> objects;
        for (const Table& table : tables) objects.push_back(in_json(table));
        fmt::print("[{}]\n", fmt::join(objects, ","));
    } else {
        constexpr const char* clear = "\033[H\033[2J";
        if (!options.once && draws()) fmt::print("{}", clear);
        for (const Table& table : tables) print(table);
    }
    std::fflush(stdout);
}

}  // namespace

void top(const TopOptions& options) {
    Watch watch(options);
    for (bool first = true; first || !options.once; first = false) {
        const std::vector<Table> tables = watch.tables();
        if (!tables.empty()) {
            show(tables, options);
            continue;
        }
        if (!first) return;  // they have ended
        fail_without_job("top", options.process);
    }
}

}  // namespace heddle::cmd
