// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The keeper: the parent of the ranks. It starts them, serves them, watches them and ends them.
///
/// It is a process of its own, below the guard (guard.hpp), the sentry and the watcher
/// (watcher.hpp). The user sees the guard. All four are subreapers and notice when another is gone.
/// Whichever of them are killed, the one that is left ends every process of the job.
///
/// Course of a job: *running* until every rank has ended, or the first failure, signal or time
/// limit; then *ending*: the ranks are asked to end (SIGTERM), and after a grace killed. Processes
/// that ranks leave running in the background are ended the same way. No process of the job is left
/// when run() returns.

#include <memory>
#include <string>
#include <vector>

#include "checker.hpp"
#include "deadlock_watch.hpp"
#include "event_loop.hpp"
#include "far_ranks.hpp"
#include "input.hpp"
#include "job.hpp"
#include "node_memory.hpp"
#include "output.hpp"
#include "parent_link.hpp"
#include "pmi_server.hpp"
#include "rank.hpp"
#include "root_link.hpp"
#include "say.hpp"
#include "spawn.hpp"
#include "verdict.hpp"

namespace heddle::mpiexec {

class Keeper {
public:
    /// `guard` delivers one byte for each signal that the guard got, and end of file when it is
    /// dead. `parent` is set for ranks that another job's rank has started, else nullptr.
    Keeper(const Job& job, const std::vector<std::vector<int>>& bindings, Input& input,
           UniqueFd guard, ParentLink* parent = nullptr);

    /// Runs the job. Returns the exit code of mpiexec.
    int run();

    /// Returns the first reason why the job was ended, if it was.
    [[nodiscard]] const std::string& reason() const { return reason_; }

private:
    enum class Phase { before, inside, closed, after };  ///< as node::Phase; closed: sessions

    static constexpr long long never = -1;
    static constexpr long long grace_ms = 1500;  ///< the time between asking to end and killing
    static constexpr long long grace_of_launcher_ms = 10'000;  ///< longer, since it has hosts to
                                                               ///< ask
    static constexpr long long reports_ms = 2000;  ///< the time for keepers on all hosts to report
    static constexpr double long_wait = 1;  ///< seconds; shorter waits are told only on request
    static constexpr long long first_look_ms = 50;  ///< when to look for a program of another MPI
    static constexpr long long last_look_ms = 3000;
    static constexpr long long same_keypress_ms = 200;  ///< one keypress may arrive as two signals

    [[nodiscard]] bool all_started() const { return started_ == ranks_.size(); }
    [[nodiscard]] bool ending() const { return kill_at_ != never; }
    [[nodiscard]] int milliseconds_to_wait() const;
    [[nodiscard]] int number_alive() const;
    [[nodiscard]] std::string name(int rank) const;
    [[nodiscard]] const Program& program(int rank) const;

    void start_next();
    RankStart prepare(int rank, int pmi, const Output::Ends& output);
    void connect(Environment& environment, int rank, int pmi) const;
    [[nodiscard]] bool connects() const { return job_.children == Children::ranks; }
    [[nodiscard]] bool starts_launcher() const { return job_.children == Children::launcher; }
    void check_start_errors();
    void not_started(int rank, int error, const Failure& why);
    void reap();
    void rank_ended(int rank, int status);
    void check_waiting();
    [[nodiscard]] bool is_waited_for(int rank, bool others_in_job) const;
    void end_leftovers();
    void end_leftovers_beside(const std::vector<pid_t>& jobs);
    [[nodiscard]] Phase phase(int rank) const;
    [[nodiscard]] RankEnd facts(int rank, int status) const;
    void pmi_abort(int rank, int code);
    void child_failed(int rank, int status, const std::string& text);
    void look_for_pmi_stranger();
    void parent_gone();

    void conclude(const Verdict& verdict);
    void fail(int code, const std::string& text);
    void end_job(int signal);
    void signal_ranks(int signal);
    void hear_guard();
    void hear_signal(int signal);
    void tell_where_ranks_are();
    void look_for_deadlock();
    void deadlock_told(bool ends_job);
    void tell_and_end(int signal);
    void expire_far();
    void expire();
    void look_for_stranger();
    int finish();

    const Job& job_;
    const std::vector<std::vector<int>>& bindings_;
    Input& input_;
    UniqueFd guard_;
    ParentLink* const parent_;
    EventLoop loop_;
    Signals signals_;
    NodeMemory memory_;
    PmiServer pmi_;
    Output output_;
    const CheckerMemory checker_memory_;
    Spawner spawner_;
    std::vector<Rank> ranks_;
    const Kept kept_;
    DeadlockWatch deadlocks_;
    const std::unique_ptr<RootLink> root_;  ///< set for a rank that another launcher has started
    std::unique_ptr<FarRanks> far_;  ///< set for a launcher whose ranks' keepers can reach this
                                     ///< process
    std::vector<Environment> environments_;  ///< one for each program
    std::size_t started_ = 0;
    bool childless_ = false;  ///< all were started, and no process of the job is left
    bool leftovers_asked_ = false;
    bool others_asked_ = false;  ///< leftovers were asked to end, except jobs of MPI_Comm_spawn
    bool others_tell_ = false;   ///< --timeout: keepers that are not connected have time to report
    bool start_told_ = false;    ///< to the parent
    bool kill_now_ = false;
    bool guard_gone_ = false;
    int exit_code_ = 0;
    std::string reason_;
    long long timeout_at_ = never;
    long long started_at_ = never;   ///< when all ranks were started
    long long stranger_at_ = never;  ///< when to look for another MPI's library
    long long kill_at_ = never;
    long long last_request_ = never;  ///< when the last signal to end came
};

}  // namespace heddle::mpiexec
