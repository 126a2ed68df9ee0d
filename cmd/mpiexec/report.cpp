// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <sys/wait.h>

#include "hosts.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

namespace {

std::string how_it_ended(int status) {
    if (WIFSIGNALED(status)) return "was ended by " + signal_name(WTERMSIG(status));
    return fmt::format("has ended with exit code {}", WEXITSTATUS(status));
}

std::string not_blocked(launch::Phase phase, bool in_barrier) {
    if (in_barrier) return "waits for the other ranks in MPI_Init or MPI_Finalize";
    const char* where = phase == launch::Phase::started ? ", before MPI_Init"
        : phase == launch::Phase::finalized             ? ", after MPI_Finalize"
        : phase == launch::Phase::closed                ? ", with no session open"
                                                        : "";
    return fmt::format("running (not blocked in MPI){}", where);
}

class Report {
public:
    Report(const Job& job, const NodeMemory& memory, const PmiServer& pmi)
        : is_of_one_(job.children == Children::rank),
          first_rank_(job.first_rank),
          host_(is_of_one_ ? " on " + own_host_name() : ""),
          memory_(memory),
          pmi_(pmi) {}

    void rank(int index, const Rank& rank) {
        const int number = index + first_rank_;
        const std::string who = fmt::format("rank {} (pid {}{}):", number, rank.pid, host_);
        if (rank.pid == 0) return say(fmt::format("rank {}: not started", number));
        if (rank.status) return say(fmt::format("{} {}", who, how_it_ended(*rank.status)));
        const std::vector<BlockedThread> blocked = memory_.blocked(index);
        for (const BlockedThread& thread : blocked) {
            say(fmt::format("{} thread {} blocked for {:.1f} s in {}", who, thread.thread,
                            thread.seconds, thread.call));
            if (thread.call.find("to itself") != std::string::npos) to_itself_.push_back(number);
        }
        if (blocked.empty()) say(fmt::format("{} {}", who, elsewhere(index)));
    }

    void hints() const {
        int last = -1;
        for (int rank : to_itself_) {
            if (rank != last)
                say(fmt::format(
                    "hint: rank {} sends to itself and has posted no receive for it; post "
                    "the receive first, or use MPI_Sendrecv",
                    rank));
            last = rank;
        }
    }

private:
    [[nodiscard]] std::string elsewhere(int index) const {
        if (is_of_one_) return "not blocked in MPI";  // how far it has come its launcher knows
        return not_blocked(memory_.phase(index), pmi_.in_barrier(index));
    }

    const bool is_of_one_;
    const int first_rank_;
    const std::string host_;
    const NodeMemory& memory_;
    const PmiServer& pmi_;
    std::vector<int> to_itself_;
};

}  // namespace

void report_ranks(const Job& job, const std::vector<Rank>& ranks, const NodeMemory& memory,
                  const PmiServer& pmi) {
    Report report(job, memory, pmi);
    for (std::size_t i = 0; i < ranks.size(); ++i) report.rank(static_cast<int>(i), ranks[i]);
    report.hints();
}

}  // namespace heddle::mpiexec
