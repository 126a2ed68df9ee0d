// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "hangs/report.hpp"
#include "hosts.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds for_lines{3000};  ///< the time for addr2line

std::string how_it_ended(int status) {
    if (WIFSIGNALED(status)) return "was ended by " + signal_name(WTERMSIG(status));
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

bool shows_bold() {
    const char* terminal = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr &&
        terminal != nullptr && std::string_view(terminal) != "dumb";
}

void say_bold(const std::string& text) {
    say(shows_bold() ? fmt::format("\033[1m{}\033[0m", text) : text);
}

hangs::Rank look_at_rank(const Kept& kept, int index) {
    const Rank& known = kept.ranks[static_cast<std::size_t>(index)];
    hangs::Rank rank;
    rank.rank = index + kept.job.first_rank;
    rank.pid = known.pid;
    rank.knows_phase = kept.job.children == Children::ranks;
    if (known.status) rank.end = how_it_ended(*known.status);
    rank.traffic = hangs::traffic_on(kept.memory.page(index));
    if (!known.alive()) return rank;
    rank.in_barrier = rank.knows_phase && kept.pmi.in_barrier(index);
    hangs::look_at(rank, kept.memory.page(index));
    return rank;
}

}  // namespace

hangs::Snapshot look_at_ranks(const Kept& kept) {
    hangs::Snapshot snapshot;
    snapshot.whole = kept.job.children == Children::ranks;
    if (kept.job.children == Children::rank) snapshot.host = own_host_name();
    for (std::size_t i = 0; i < kept.ranks.size(); ++i)
        snapshot.ranks.push_back(look_at_rank(kept, static_cast<int>(i)));
    return snapshot;
}

RankReport::RankReport(hangs::Snapshot before, hangs::Snapshot now)
    : now_(std::move(now)), before_(std::move(before)) {
    sites_.emplace(*now_);
}

RankReport::RankReport(const Kept& kept, double least_wait) {
    hangs::Snapshot first = look_at_ranks(kept);
    if (hangs::longest_wait(first) < least_wait) return;
    std::this_thread::sleep_for(between_looks);
    before_ = std::move(first);
    now_ = look_at_ranks(kept);
    sites_.emplace(*now_);
}

void RankReport::tell() {
    if (!now_) return;
    sites_->resolve(*now_, for_lines);
    say_report(*now_, &*before_);
    if (now_->whole && hangs::longest_wait(*now_) > 0) say_verdict(hangs::judge(*before_, *now_));
}

void say_report(const hangs::Snapshot& now, const hangs::Snapshot* before) {
    for (const hangs::Line& line : hangs::report(now, before))
        line.odd ? say_bold(line.text) : say(line.text);
}

void say_verdict(const hangs::Verdict& verdict) {
    for (std::size_t i = 0; i < verdict.sentences.size(); ++i)
        i == 0 && verdict.is_proven_stuck() ? say_bold(verdict.sentences[i])
                                            : say((i == 0 ? "" : "  ") + verdict.sentences[i]);
}

}  // namespace heddle::mpiexec
