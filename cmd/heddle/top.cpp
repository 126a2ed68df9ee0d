// SPDX-License-Identifier: BSD-3-Clause
/// `heddle top`: prints repeatedly what the threads of the jobs on this machine do. If a job is on
/// several hosts, the table has the threads of all ranks.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "activity/row.hpp"
#include "activity/watch.hpp"
#include "far_jobs.hpp"
#include "hangs/jobs.hpp"
#include "json.hpp"
#include "subcommands.hpp"

namespace heddle::cmd {
namespace {

using activity::Row;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr milliseconds for_last_rows{3000};  ///< after the end of the watch

struct Table {
    std::string title;
    std::int64_t launcher = 0;
    std::string host;  ///< the launcher's host; empty for this one
    bool whole = true;
    std::vector<Row> rows;
};

std::size_t number_of_ranks(const std::vector<Row>& rows) {
    std::set<int> ranks;
    for (const Row& row : rows) ranks.insert(row.rank);
    return ranks.size();
}

std::vector<std::string> hosts_of(const std::vector<Row>& rows) {
    std::vector<std::string> hosts;
    for (const Row& row : rows)
        if (!row.host.empty()) hosts.push_back(row.host);
    return hosts;
}

Table table_of(const hangs::FoundJob& job, activity::Watch& watch) {
    Table table{"", job.launcher(), "", job.is_whole(), watch.rows()};
    const std::size_t ranks = number_of_ranks(table.rows);
    table.title =
        fmt::format("{} rank{}{}{}", ranks, ranks == 1 ? "" : "s",
                    table.whole ? "" : " of a job, those on this machine",
                    table.launcher == 0 ? "" : fmt::format(", mpiexec {}", table.launcher));
    return table;
}

Table table_of(FarAnswer answer) {
    const std::size_t hosts = number_of_hosts(hosts_of(answer.rows));
    return {title_of(answer, number_of_ranks(answer.rows), hosts), answer.launcher, answer.host,
            true, std::move(answer.rows)};
}

/// The tables of the jobs at the end of a time in which they are watched.
class Tables {
public:
    explicit Tables(const TopOptions& options) : options_(options) {}

    std::vector<Table> next() {
        const hangs::Finder finder;
        watched_.clear();
        asked_.clear();
        for (const hangs::FarJob& job : finder.far_jobs())
            if (finder.concerns(job, options_.process)) ask(job);
        for (const hangs::FoundJob& job : finder.jobs())
            if (hangs::concerns(job, options_.process)) begin(job);
        const auto end = Clock::now() +
            std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(options_.seconds));
        while (!(watched_.empty() && asked_.empty()) && Clock::now() < end) sample();
        return gather();
    }

private:
    struct Watched {
        const hangs::FoundJob* job;
        activity::Watch watch;
    };
    struct Asked {
        std::string reports_to;
        std::unique_ptr<FarQuestion> question;
    };

    /// Asks the job's mpiexec, unless it has failed to answer once. Waiting for it would delay each
    /// table.
    void ask(const hangs::FarJob& job) {
        if (silent_.contains(job.reports_to)) return;
        const auto watch_ms = static_cast<std::uint32_t>(std::max(1.0, 1000 * options_.seconds));
        asked_.push_back({job.reports_to, std::make_unique<FarQuestion>(job.reports_to, watch_ms)});
    }
    void begin(const hangs::FoundJob& job) {
        Watched watched{&job, activity::Watch([&job] { return job.look(); })};
        if (watched.watch.of_living()) watched_.push_back(std::move(watched));
    }
    void sample() {
        for (Watched& one : watched_) one.watch.look();
        std::this_thread::sleep_for(activity::between_looks);
        for (Watched& one : watched_) one.watch.look_again();
        std::this_thread::sleep_for(activity::between_samples);
    }
    std::vector<Table> gather() {
        std::vector<Table> tables;
        std::set<std::string> answered;
        for (const Asked& one : asked_) {
            std::optional<FarAnswer> answer = one.question->answer(for_last_rows);
            if (!answer) {
                if (silent_.insert(one.reports_to).second) warn_of_silence("top");
                continue;
            }
            answered.insert(one.reports_to);
            tables.push_back(table_of(std::move(*answer)));
        }
        for (Watched& one : watched_)
            if (!answered.contains(one.job->reports_to()))
                tables.push_back(table_of(*one.job, one.watch));
        return tables;
    }

    const TopOptions& options_;
    std::list<Watched> watched_;
    std::vector<Asked> asked_;
    std::set<std::string> silent_;
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

/// Prints the table, with a column of hosts if there are several.
void print_threads(const Table& table) {
    std::size_t width = 0;
    for (const std::string& host : hosts_of(table.rows)) width = std::max(width, host.size() + 1);
    const auto host = [&](const std::string& name) { return fmt::format("{:<{}}", name, width); };
    fmt::print("{}\n", table.title);
    fmt::print("{:>5} {}{:>8} {:>8} S {:>5} {:>7} {:>10} {:>9}  {}\n", "RANK",
               width == 0 ? "" : host("HOST"), "PID", "THREAD", "CPU %", "IN MPI %", "MESSAGES/S",
               "MEMORY", "LAST CALL, WAIT");
    for (const Row& row : table.rows)
        fmt::print("{:>5} {}{:>8} {:>8} {} {:>5} {:>7} {:>10} {:>5} MiB  {}\n", row.rank,
                   width == 0 ? "" : host(row.host), row.pid, row.thread, row.state,
                   percent(row.processor), percent(row.in_mpi),
                   row.traffic ? fmt::format("{:.0f}", row.traffic->messages) : "-",
                   row.memory >> 20, doing(row));
}

std::string number(const std::optional<double>& value) {
    return value ? fmt::format("{:.4f}", *value) : "null";
}

std::string table_in_json(const Table& table) {
    std::vector<std::string> rows;
    for (const Row& row : table.rows)
        rows.push_back(fmt::format(
            R"({{"rank":{},"pid":{},"host":{},"thread":{},"state":{},"cpu":{},)"
            R"("in_mpi":{},"messages_per_second":{},"calls_per_second":{},"memory":{},"call":{},)"
            R"("waits_for":{},"waits_seconds":{:.3f},"end":{}}})",
            row.rank, row.pid, json_string(row.host), row.thread,
            json_string(std::string(1, row.state)), number(row.processor), number(row.in_mpi),
            row.traffic ? fmt::format("{:.1f}", row.traffic->messages) : "null",
            row.traffic ? fmt::format("{:.1f}", row.traffic->calls) : "null", row.memory,
            json_string(row.call),
            row.waits_for ? std::to_string(*row.waits_for) : std::string("null"), row.seconds,
            row.end.empty() ? std::string("null") : json_string(row.end)));
    return fmt::format(R"({{"mpiexec":{},"host":{},"whole":{},"threads":[{}]}})", table.launcher,
                       json_string(table.host), table.whole, fmt::join(rows, ","));
}

bool draws() {
    const char* terminal = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) != 0 && terminal != nullptr &&
        std::string_view(terminal) != "dumb";
}

void show(const std::vector<Table>& tables, const TopOptions& options) {
    if (options.json) {
        std::vector<std::string> objects;
        for (const Table& table : tables) objects.push_back(table_in_json(table));
        fmt::print("[{}]\n", fmt::join(objects, ","));
    } else {
        constexpr const char* clear = "\033[H\033[2J";
        if (!options.once && draws()) fmt::print("{}", clear);
        for (const Table& table : tables) print_threads(table);
    }
    std::fflush(stdout);
}

}  // namespace

void top(const TopOptions& options) {
    Tables running(options);
    for (bool first = true; first || !options.once; first = false) {
        const std::vector<Table> tables = running.next();
        if (!tables.empty()) {
            show(tables, options);
            continue;
        }
        if (first) say_without_job("top", options.process);
        return;  // the jobs have ended
    }
}

}  // namespace heddle::cmd
