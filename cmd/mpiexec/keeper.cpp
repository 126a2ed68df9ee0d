// SPDX-License-Identifier: BSD-3-Clause
#include "keeper.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "checker.hpp"
#include "children_report.hpp"
#include "faces.hpp"
#include "hosts.hpp"
#include "launch/children_wire.hpp"
#include "platform/print_view.hpp"
#include "process_tree.hpp"
#include "report.hpp"
#include "say.hpp"
#include "signal_pipe.hpp"
#include "strangers.hpp"
#include "trace.hpp"

namespace heddle::mpiexec {

namespace {

/// Variables for languages that buffer more than a line if they do not write to a terminal. The
/// output of a rank is to be there even if the rank hangs or is killed. A user's own value is kept.
constexpr std::array<std::pair<const char*, const char*>, 3> line_by_line{{
    {"HEDDLE_LINE_BUFFERING", "on"},  // C and C++, in MPI_Init
    {"PYTHONUNBUFFERED", "1"},
    {"GFORTRAN_UNBUFFERED_PRECONNECTED", "y"},
}};

/// Returns whether a launcher has failed by itself, perhaps without a word. Other exit codes are
/// those of ranks.
bool launcher_failed(int status) noexcept {
    constexpr int own_failure = 255;
    return WIFSIGNALED(status) || WEXITSTATUS(status) == own_failure;
}

/// Returns the pipe's name in the form that platform/print_view.hpp reads.
std::string name_of_pipe(const UniqueFd& pipe) {
    struct stat found{};
    ::fstat(pipe.get(), &found);
    return fmt::format("{}:{}", pipe.get(), found.st_ino);
}

}  // namespace

Keeper::Keeper(const Job& job, const std::vector<std::vector<int>>& bindings, Input& input,
               UniqueFd guard, ParentLink* parent)
    : job_(job),
      bindings_(bindings),
      input_(input),
      guard_(std::move(guard)),
      parent_(parent),
      signals_({SIGCHLD}),
      memory_(job.size()),
      pmi_(loop_, job.size(), universe_size(job),
           {[this](int rank, int code) { pmi_abort(rank, code); }, [this] { check_waiting(); }}),
      output_(loop_, job),
      checker_memory_(job.check && job.children == Children::ranks ? checker_memory(job.size())
                                                                   : CheckerMemory{}),
      ranks_(static_cast<std::size_t>(job.size())),
      kept_{job_, ranks_, memory_, pmi_},
      deadlocks_(kept_, DeadlockWatch::wanted()),
      root_(job.children == Children::rank ? RootLink::of_environment(loop_, kept_) : nullptr) {
    for (std::size_t i = 0; i < ranks_.size(); ++i)
        ranks_[i].program = program_of(job, static_cast<int>(i));
    for (const Program& one : job.programs)
        environments_.emplace_back(job.environment, one.environment,
                                   job.children == Children::rank);
    if (job.report_socket >= 0)
        far_ = std::make_unique<FarRanks>(loop_, job, DeadlockWatch::wanted(),
                                          [this](bool ends_job) { deadlock_told(ends_job); });
    loop_.watch(guard_.get(), POLLIN, [this] { hear_guard(); });
    loop_.watch(spawner_.fd(), POLLIN, [this] { check_start_errors(); });
    loop_.watch(signals_.fd(), POLLIN, [this] {
        while (signals_.next() != 0) {}
        reap();
    });
    if (parent_ != nullptr) parent_->watch(loop_, [this] { parent_gone(); });
}

const Program& Keeper::program(int rank) const {
    return job_.programs[ranks_[static_cast<std::size_t>(rank)].program];
}

std::string Keeper::name(int rank) const {
    const RankEnd who = facts(rank, 0);
    return describe(who.rank, who.pid, who.program);
}

int Keeper::number_alive() const {
    return static_cast<int>(
        std::count_if(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.alive(); }));
}

int Keeper::run() {
    if (job_.timeout_seconds > 0)
        timeout_at_ = now_ms() + static_cast<long long>(job_.timeout_seconds * 1000) +
            (starts_launcher() && far_ == nullptr ? reports_ms : 0);
    while (!childless_ && !kill_now_) {
        if (!all_started() && !ending()) start_next();
        loop_.wait(milliseconds_to_wait());
        expire();
    }
    return finish();
}

int Keeper::milliseconds_to_wait() const {
    if (!all_started() && !ending()) return 0;
    long long least = output_.milliseconds_to_wait();
    const long long now = now_ms();
    for (const long long next :
         {ending() ? kill_at_ : timeout_at_, ending() ? never : stranger_at_,
          ending() ? never : deadlocks_.due(), ending() || far_ == nullptr ? never : far_->due(),
          root_ == nullptr ? never : root_->due()}) {
        if (next == never) continue;
        const long long left = std::clamp(next - now + 1, 0LL, 1'000'000'000LL);
        least = least < 0 ? left : std::min(least, left);
    }
    return static_cast<int>(least);
}

// ---- starting ----

/// Sets the variables by which a rank finds the others.
void Keeper::connect(Environment& environment, int rank, int pmi) const {
    const std::string size = std::to_string(job_.size());
    environment.set("PMI_FD", std::to_string(pmi));
    environment.set("PMI_RANK", std::to_string(rank));
    environment.set("PMI_SIZE", size);
    environment.set("PMI_ID", std::to_string(rank));
    environment.set("PMI_APPNUM", std::to_string(ranks_[static_cast<std::size_t>(rank)].program));
    environment.set("PMI_UNIVERSE_SIZE", std::to_string(universe_size(job_)));
    environment.set("PMI_SPAWNED", "0");
    environment.set("MPI_LOCALRANKID", std::to_string(rank));
    environment.set("MPI_LOCALNRANKS", size);
    environment.set(node::node_descriptor_variable, memory_.name_for_ranks());
}

RankStart Keeper::prepare(int rank, int pmi, const Output::Ends& output) {
    const auto index = static_cast<std::size_t>(rank);
    Environment environment = environments_[ranks_[index].program];
    if (connects()) connect(environment, rank, pmi);
    find_faces_first(environment);
    if (!starts_launcher()) trace(environment, job_);
    if (job_.check) load_checker(environment, job_.json);
    name_checker_memory(environment, checker_memory_);
    if (job_.children == Children::rank)
        environment.set(node::keeper_descriptor_variable, memory_.name_for_ranks());
    if (output.pipe)
        for (const auto& [variable, value] : line_by_line) environment.set_default(variable, value);
    if (job_.crowded) environment.set_default("OMP_WAIT_POLICY", "passive");
    if (!job_.spawn_options.empty())
        environment.set(launch::spawn_options_variable, job_.spawn_options);
    if (output.pages) environment.set(platform::print_pipe_variable, name_of_pipe(output.pages));
    return RankStart{program(rank),
                     rank,
                     std::move(environment),
                     bindings_[index],
                     input_.descriptor(rank),
                     output.output,
                     output.error,
                     connects() ? pmi : -1,
                     starts_launcher() ? -1 : memory_.fd(),
                     output.pages.get()};
}

void Keeper::start_next() try {
    const int rank = static_cast<int>(started_);
    const UniqueFd pmi = pmi_.connect(rank, static_cast<int>(ranks_[started_].program));
    const Output::Ends output = output_.open(rank);
    RankStart start = prepare(rank, pmi.get(), output);
    const pid_t pid = spawner_.start(start);
    if (pid < 0)
        throw Failure(
            exit_failed,
            fmt::format("cannot start rank {} of {}: fork: {} (limits on processes are 'ulimit -u' "
                        "and the container's)",
                        rank, ranks_.size(), error_text(errno)));
    ranks_[started_++].pid = pid;
    output_.rank_started(rank, pid);
    input_.handed_over(rank);
    if (job_.verbose) say(fmt::format("started {}", name(rank)));
    if (all_started() && connects()) stranger_at_ = (started_at_ = now_ms()) + first_look_ms;
    if (all_started() && parent_ != nullptr) spawner_.no_more();
} catch (const Failure& failure) {
    not_started(static_cast<int>(started_), EAGAIN, failure);
}

void Keeper::check_start_errors() {
    StartError error{};
    while (spawner_.next_error(error))
        if (!ending())
            not_started(error.rank, error.error,
                        Failure(exit_not_run, explain(error, program(error.rank))));
    if (!spawner_.all_became() || std::exchange(start_told_, true)) return;
    loop_.unwatch(spawner_.fd());
    if (!ending()) parent_->started();
}

/// Handles a program that could not be started. The parent, if there is one, reports it to its
/// user.
void Keeper::not_started(int rank, int error, const Failure& why) {
    if (parent_ == nullptr) return fail(why.code, why.what());
    if (exit_code_ == 0) exit_code_ = why.code;
    if (reason_.empty()) reason_ = why.what();
    parent_->not_started(static_cast<int>(ranks_[static_cast<std::size_t>(rank)].program), error,
                         why.what());
    end_job(SIGTERM);
}

// ---- watching ----

void Keeper::reap() {
    check_start_errors();
    while (true) {
        int status = 0;
        const pid_t pid = ::waitpid(-1, &status, WNOHANG);
        if (pid < 0 && errno == ECHILD) break;
        if (pid <= 0) return end_leftovers();
        const auto found = std::find_if(ranks_.begin(), ranks_.end(), [&](const Rank& rank) {
            return rank.pid == pid && rank.alive();
        });
        if (found != ranks_.end()) rank_ended(static_cast<int>(found - ranks_.begin()), status);
    }
    childless_ = all_started() || ending();
}

/// Returns how far the rank is. A rank of Heddle writes that to the board, others use PMI only.
Keeper::Phase Keeper::phase(int rank) const {
    const node::Phase phase = memory_.phase(rank);
    const PmiPhase pmi = pmi_.phase(rank);
    if (phase == node::Phase::finalized) return Phase::after;
    if (phase == node::Phase::closed) return Phase::closed;
    if (phase == node::Phase::started && pmi == PmiPhase::finalized) return Phase::after;
    if (phase == node::Phase::initialized || pmi != PmiPhase::unused) return Phase::inside;
    return Phase::before;
}

RankEnd Keeper::facts(int rank, int status) const {
    const Phase at = phase(rank);
    RankEnd end;
    end.rank = starts_launcher() ? of_launcher : rank + job_.first_rank;
    end.pid = ranks_[static_cast<std::size_t>(rank)].pid;
    end.program = program(rank).command.front();
    if (job_.children == Children::rank) end.program += " on " + own_host_name();
    if (parent_ != nullptr) end.program += parent_->whose_child();
    end.status = status;
    // If it has failed, others may wait for its next session.
    end.closed = at == Phase::closed;
    end.finalized =
        at == Phase::after || (end.closed && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    end.initialized = at != Phase::before;
    end.aborted = memory_.phase(rank) == node::Phase::aborted;
    end.abort_code = memory_.abort_code(rank);
    end.abort_reason = memory_.abort_reason(rank);
    return end;
}

void Keeper::rank_ended(int rank, int status) {
    check_start_errors();
    pmi_.drain(rank);  // its last messages may explain its end
    ranks_[static_cast<std::size_t>(rank)].status = status;
    output_.rank_ended(rank);
    if (root_ != nullptr) root_->rank_ended();
    if (ending()) return;
    const auto verdict = judge(facts(rank, status));
    if (parent_ != nullptr && connects() && memory_.phase(rank) == node::Phase::started)
        return child_failed(
            rank, status, verdict ? verdict->text : name(rank) + " ended without calling MPI_Init");
    if (verdict) conclude(*verdict);
    if (verdict && starts_launcher() && launcher_failed(status) && !job_.quiet) say(verdict->text);
    check_waiting();
}

/// Looks for a rank with the library of another MPI. Its ranks run as many jobs of one rank each,
/// all of which call themselves rank 0. The program may load its library late. So the search is
/// repeated, after times that double.
void Keeper::look_for_stranger() {
    const long long now = now_ms();
    if (ending() || stranger_at_ == never || now < stranger_at_) return;
    stranger_at_ = now - started_at_ < last_look_ms ? now + (now - started_at_) : never;
    for (int rank = 0; rank < static_cast<int>(started_); ++rank)
        if (phase(rank) != Phase::before) return void(stranger_at_ = never);
    const auto alive =
        std::find_if(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.alive(); });
    if (alive == ranks_.end()) return;
    const std::string library = foreign_library(alive->pid);
    if (library.empty()) return;
    stranger_at_ = never;
    const int rank = static_cast<int>(alive - ranks_.begin());
    const std::string text = fmt::format(
        "{} has loaded {}, the library of another MPI: its ranks do not find each other under this "
        "mpiexec. {}",
        name(rank), library, advice_on(library));
    if (parent_ != nullptr) return child_failed(rank, 0, text);
    if (job_.quiet) return;
    output_.catch_up();
    say(text);
}

/// Handles a child that has not called MPI_Init and never will: its parent's call fails, and
/// nothing else.
void Keeper::child_failed(int rank, int status, const std::string& text) {
    if (exit_code_ == 0) exit_code_ = exit_failed;
    if (reason_.empty()) reason_ = text;
    output_.catch_up();
    parent_->ended_early(static_cast<int>(ranks_[static_cast<std::size_t>(rank)].program), rank,
                         status, text);
    end_job(SIGTERM);
}

/// Looks for a child with another MPI that speaks PMI-1. Its ranks form a job of their own, which
/// knows no parent.
void Keeper::look_for_pmi_stranger() {
    for (int rank = 0; rank < static_cast<int>(started_); ++rank)
        if (pmi_.phase(rank) != PmiPhase::unused && memory_.phase(rank) == node::Phase::started)
            return child_failed(rank, 0,
                                name(rank) + " was linked with another MPI, which has called PMI");
}

/// Ends the children after the end of the parent, or of the connection to it.
void Keeper::parent_gone() {
    if (!ending()) end_job(SIGTERM);
}

/// Ends the job if others wait for a rank that has ended. It comes neither to MPI_Init, which all
/// must call, nor to a barrier.
void Keeper::check_waiting() {
    if (parent_ != nullptr && connects() && !ending()) look_for_pmi_stranger();
    if (ending() || number_alive() == static_cast<int>(started_)) return;
    bool in_job = false;  // some living rank is between MPI_Init and MPI_Finalize
    for (int rank = 0; rank < static_cast<int>(started_); ++rank)
        in_job = in_job ||
            (ranks_[static_cast<std::size_t>(rank)].alive() && phase(rank) == Phase::inside);
    for (int rank = 0; rank < static_cast<int>(started_); ++rank) {
        if (!is_waited_for(rank, in_job)) continue;
        const char* how =
            phase(rank) == Phase::before ? "ended without calling MPI_Init" : "has ended";
        return fail(exit_failed,
                    fmt::format("{} {}, and other ranks wait for it", name(rank), how));
    }
}

bool Keeper::is_waited_for(int rank, bool others_in_job) const {
    if (!ranks_[static_cast<std::size_t>(rank)].status) return false;
    if (pmi_.barrier_open() && !pmi_.in_barrier(rank)) return true;
    return others_in_job && phase(rank) == Phase::before;
}

/// Asks processes that ranks started to end, if they outlive all ranks.
void Keeper::end_leftovers() {
    if (leftovers_asked_ || number_alive() > 0 || !(all_started() || ending())) return;
    if (const std::vector<pid_t> jobs = jobs_of_children(); !jobs.empty() && !ending())
        return end_leftovers_beside(jobs);
    leftovers_asked_ = true;
    if (!ending()) kill_at_ = now_ms() + grace_ms;
    signal_descendants(SIGTERM);
    signal_descendants(SIGCONT);
}

/// Ends leftovers, but waits for children of MPI_Comm_spawn. They may go on without the ranks, and
/// end by themselves.
void Keeper::end_leftovers_beside(const std::vector<pid_t>& jobs) {
    if (std::exchange(others_asked_, true)) return;
    signal_descendants(SIGTERM, jobs);
    signal_descendants(SIGCONT, jobs);
}

void Keeper::pmi_abort(int rank, int code) {
    if (ending()) return;
    RankEnd end = facts(rank, 0);
    end.abort_code = code;
    conclude(judge_abort(end));
}

// ---- ending ----

void Keeper::conclude(const Verdict& verdict) {
    if (exit_code_ == 0) exit_code_ = verdict.exit_code;
    if (reason_.empty()) reason_ = verdict.text;
    const int others = number_alive();
    const bool others_wait = verdict.ends_job && (others > 0 || !all_started());
    output_.catch_up();  // the rank's last words come before those of mpiexec
    // A launcher itself reports on a rank that it has started.
    if (!job_.quiet && !starts_launcher())
        say(others_wait ? fmt::format("{}; the job is ended", verdict.text) : verdict.text);
    if (verdict.ends_job) end_job(SIGTERM);
}

void Keeper::fail(int code, const std::string& text) {
    if (exit_code_ == 0) exit_code_ = code;
    if (reason_.empty()) reason_ = text;
    output_.catch_up();
    say(text);
    end_job(SIGTERM);
}

void Keeper::end_job(int signal) {
    if (!ending()) kill_at_ = now_ms() + (starts_launcher() ? grace_of_launcher_ms : grace_ms);
    signal_ranks(starts_launcher() ? SIGTERM : signal);  // all launchers obey SIGTERM at once
    signal_ranks(SIGCONT);                               // a stopped rank would not act on the
                                                         // signal
    if (started_ == 0) childless_ = true;
}

/// Sends `signal` to each rank's process group. A launcher's helpers get it from the launcher.
void Keeper::signal_ranks(int signal) {
    for (const Rank& rank : ranks_)
        if (rank.alive()) ::kill(starts_launcher() ? rank.pid : -rank.pid, signal);
    for (const pid_t job : jobs_of_children()) ::kill(job, signal);
}

void Keeper::hear_guard() {
    std::array<unsigned char, 64> signals{};
    const ssize_t count = ::read(guard_.get(), signals.data(), signals.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count <= 0) {
        guard_gone_ = kill_now_ = true;
        return;
    }
    for (ssize_t i = 0; i < count; ++i) hear_signal(signals[static_cast<std::size_t>(i)]);
}

void Keeper::hear_signal(int signal) {
    if (signal == SIGQUIT) return tell_where_ranks_are();
    if (!asks_to_end(signal)) return signal_ranks(signal);
    const long long now = now_ms();
    const bool again = last_request_ != never;
    if (again && now - last_request_ < same_keypress_ms) return;
    last_request_ = now;
    if (again) {
        kill_now_ = true;
        return;
    }
    if (exit_code_ == 0) exit_code_ = 128 + signal;
    const bool tells = !job_.quiet && job_.children != Children::rank && parent_ == nullptr;
    std::optional<RankReport> report;
    if (tells && connects() && !ending()) report.emplace(kept_, long_wait);
    if (tells)
        say(fmt::format("{}: ending the job; once more kills it at once", signal_name(signal)));
    if (tells && far_ != nullptr && !ending()) return tell_and_end(signal);
    end_job(signal);
    if (report) report->tell();
}

/// Looks at the ranks before it ends them. That takes about a second at most.
void Keeper::tell_and_end(int signal) {
    constexpr std::chrono::milliseconds at_most{1000};
    far_->tell([this, signal] { end_job(signal); }, long_wait, at_most);
}

/// Tells where the ranks are. The job goes on.
void Keeper::tell_where_ranks_are() {
    output_.catch_up();
    if (starts_launcher()) {
        write_trace(job_);
        if (far_ != nullptr && far_->any_connected())
            return far_->tell([] {}, 0, std::chrono::milliseconds(reports_ms));
        return say(
            "SIGQUIT: another launcher has started the ranks; heddle where, on their hosts, says "
            "where they are");
    }
    RankReport(kept_).tell();
    tell_where_children_are();
    write_trace(job_);
}

void Keeper::look_for_deadlock() {
    if (root_ != nullptr) root_->look(now_ms());
    if (ending() || !all_started()) return;
    if (far_ != nullptr) far_->look(now_ms());
    if (deadlocks_.look(now_ms())) deadlock_told(deadlocks_.ends_job());
}

void Keeper::deadlock_told(bool ends_job) {
    if (ending()) return;
    if (!ends_job) return write_trace(job_);
    fail(exit_failed, "the job cannot go on, and is ended (HEDDLE_DEADLOCK)");
}

void Keeper::expire() {
    const long long now = now_ms();
    output_.expire();
    look_for_stranger();
    look_for_deadlock();
    if (ending() && now >= kill_at_) kill_now_ = true;
    if (ending() || timeout_at_ == never || now < timeout_at_ || childless_) return;
    if (far_ != nullptr && !far_->all_connected() && !std::exchange(others_tell_, true)) {
        timeout_at_ = now + reports_ms;
        return;
    }
    timeout_at_ = never;
    if (root_ != nullptr && root_->is_up()) return;
    output_.catch_up();
    if (far_ != nullptr) return expire_far();
    if (job_.children != Children::rank)
        say(fmt::format("the job has run for {:g} s (--timeout) and is ended{}",
                        job_.timeout_seconds, connects() ? "; where each rank is:" : ""));
    if (!starts_launcher()) RankReport(kept_).tell();
    tell_where_children_are();
    // The mpiexec that has started the launcher ends the job.
    if (job_.children == Children::rank) return;
    exit_code_ = exit_timeout;
    end_job(SIGTERM);
}

/// Ends a job on several hosts after --timeout. Keepers that have not reached this process report
/// on their ranks themselves.
void Keeper::expire_far() {
    say(fmt::format("the job has run for {:g} s (--timeout) and is ended{}", job_.timeout_seconds,
                    far_->any_connected() ? "; where each rank is:" : ""));
    const auto end = [this] {
        exit_code_ = exit_timeout;
        end_job(SIGTERM);
    };
    far_->tell(end, 0, std::chrono::milliseconds(reports_ms));
}

int Keeper::finish() {
    if (!childless_ && !kill_descendants() && !guard_gone_)
        say("some processes of the job cannot be killed; the kernel holds them");
    if (guard_gone_)
        output_.catch_up();  // does not wait for a reader, since the guard that could end this
                             // process is gone
    else
        output_.finish();
    if (exit_code_ == 0 && output_.failed()) exit_code_ = exit_failed;
    if (job_.children != Children::rank && parent_ == nullptr) finish_trace(job_);
    return exit_code_;
}

}  // namespace heddle::mpiexec
