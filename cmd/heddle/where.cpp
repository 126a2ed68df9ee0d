// SPDX-License-Identifier: BSD-3-Clause
/// `heddle where`: prints where the ranks of the jobs on this machine are, and whether they wait
/// for ever. If a job is on several hosts, that covers all its ranks.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>
#include <thread>

#include "far_jobs.hpp"
#include "hangs/call_sites.hpp"
#include "hangs/jobs.hpp"
#include "hangs/report.hpp"
#include "hangs/verdict.hpp"
#include "subcommands.hpp"

namespace heddle::cmd {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds between_looks{50}, for_lines{5000}, for_answer{15'000};

bool shows_bold() {
    const char* terminal = std::getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr &&
        terminal != nullptr && std::string_view(terminal) != "dumb";
}

void print_line(const std::string& text, bool bold) {
    if (bold && shows_bold())
        std::printf("\033[1m%s\033[0m\n", text.c_str());
    else
        std::printf("%s\n", text.c_str());
}

struct Looked {
    hangs::Snapshot before, now;
    hangs::Verdict verdict;
};

Looked look_at(const hangs::FoundJob& job) {
    Looked looked{job.look(), {}, {}};
    std::this_thread::sleep_for(between_looks);
    looked.now = job.look();
    hangs::CallSites(looked.now).resolve(looked.now, for_lines);
    looked.verdict = hangs::judge(looked.before, looked.now);
    return looked;
}

/// Returns nothing if mpiexec does not answer. `title` becomes its job.
std::optional<Looked> ask(const hangs::FarJob& job, std::string& title) {
    std::optional<FarAnswer> answer = FarQuestion(job.reports_to, 0).answer(for_answer);
    if (!answer) return {};
    std::vector<std::string> hosts;
    for (const hangs::Rank& rank : answer->now.ranks)
        if (!rank.host.empty()) hosts.push_back(rank.host);
    title = title_of(*answer, answer->now.ranks.size(), number_of_hosts(hosts));
    Looked looked{std::move(answer->before), std::move(answer->now), {}};
    looked.verdict = hangs::judge(looked.before, looked.now);
    return looked;
}

std::string title_of_job(const hangs::FoundJob& job, const Looked& looked) {
    const std::size_t ranks = looked.now.ranks.size();
    return fmt::format("{} rank{}{}{}", ranks, ranks == 1 ? "" : "s",
                       looked.now.whole ? "" : " of a job, those on this machine",
                       job.launcher() == 0 ? "" : fmt::format(", mpiexec {}", job.launcher()));
}

void print_report(const std::string& title, const Looked& looked) {
    print_line(title + ":", false);
    for (const hangs::Line& line : hangs::report(looked.now, &looked.before))
        print_line("  " + line.text, line.odd);
    for (const std::string& sentence : looked.verdict.sentences)
        print_line(
            (&sentence == &looked.verdict.sentences.front() ? "  " : "    ") + sentence,
            &sentence == &looked.verdict.sentences.front() && looked.verdict.is_proven_stuck());
}

/// The output on one job after the other.
class Telling {
public:
    explicit Telling(bool json) : json_(json) {}

    void tell(const std::string& title, const Looked& looked) {
        any_ = true;
        if (json_)
            objects_.push_back(
                hangs::report_in_json(looked.now, hangs::verdict_in_json(looked.verdict)));
        else
            print_report(title, looked);
    }
    /// Returns true if anything was told.
    bool end() const {
        if (json_) print_line(fmt::format("[{}]", fmt::join(objects_, ",")), false);
        return any_;
    }

private:
    const bool json_;
    bool any_ = false;
    std::vector<std::string> objects_;
};

}  // namespace

void where(const WhereOptions& options) {
    const hangs::Finder finder;
    Telling telling(options.json);
    std::set<std::string> told;  ///< jobs whose mpiexec has answered
    for (const hangs::FarJob& job : finder.far_jobs()) {
        if (!finder.concerns(job, options.process)) continue;
        std::string title;
        const std::optional<Looked> looked = ask(job, title);
        if (!looked) {
            warn_of_silence("where");
            continue;
        }
        told.insert(job.reports_to);
        telling.tell(title, *looked);
    }
    for (const hangs::FoundJob& job : finder.jobs())
        if (hangs::concerns(job, options.process) && !told.contains(job.reports_to())) {
            const Looked looked = look_at(job);
            telling.tell(title_of_job(job, looked), looked);
        }
    if (!telling.end()) say_without_job("where", options.process);
}

}  // namespace heddle::cmd
