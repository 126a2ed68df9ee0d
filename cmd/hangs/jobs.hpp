// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The jobs that run on this machine, found from outside: by the memory that their processes have open
/// (node/board.hpp), as far as the kernel lets this user look.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "snapshot.hpp"

namespace heddle::hangs {

/// One job, or that part of it that is on this machine.
class FoundJob {
public:
    /// The processes that have its memory open, ranks and others.
    const std::vector<pid_t>& processes() const { return processes_; }
    /// The outermost process that has started them; 0: not known.
    pid_t launcher() const { return launcher_; }
    /// Where mpiexec of a job on several hosts hears its keepers (report_variable.hpp); empty: it is no such job.
    const std::string& reports_to() const { return reports_to_; }
    /// All ranks of the job are on this machine.
    bool is_whole() const { return whole_; }
    Snapshot look() const;

private:
    friend class Finder;
    /// What is read of a rank: its pages in all boards that it has taken a place on.
    struct Place {
        int rank;
        pid_t pid;  ///< 0: none has come
        std::vector<const node::Page*> pages;
    };
    std::vector<pid_t> processes_;
    pid_t launcher_ = 0;
    std::string reports_to_;
    std::vector<Place> places_;
    bool whole_ = false;
};

/// A job on several hosts, of which a launcher or a keeper runs on this one.
struct FarJob {
    std::string reports_to;          ///< as of FoundJob
    std::vector<pid_t> processes{};  ///< that have been told so
};

/// Owns the mappings that jobs refer to.
class Finder {
public:
    Finder();
    ~Finder();
    Finder(const Finder&) = delete;
    Finder& operator=(const Finder&) = delete;

    const std::vector<FoundJob>& jobs() const { return jobs_; }
    const std::vector<FarJob>& far_jobs() const { return far_jobs_; }
    /// As of FoundJob. Every part of the job on this machine counts.
    bool concerns(const FarJob& job, std::optional<std::int64_t> process) const;

private:
    struct Board {
        void* memory;
        std::size_t bytes;
        std::size_t ranks;
        std::vector<pid_t> processes;  ///< that have it open
    };
    void look_at_process(pid_t pid);
    void note_reports(pid_t pid);
    void open_board(pid_t pid, const std::string& path);
    void group();
    FoundJob job_of(const Board& board) const;

    std::map<std::string, Board> boards_;  ///< by token
    std::vector<FoundJob> jobs_;
    std::vector<FarJob> far_jobs_;
};

/// The outermost of the launchers that it stems from; 0: none.
pid_t launcher_of(pid_t pid);

/// Whether `process` is `ancestor`, or stems from it.
bool stems_from(pid_t process, pid_t ancestor);

/// Whether `process` is one of the job's, or what one of these stems from; nothing: whichever it is.
bool concerns(const FoundJob& job, std::optional<std::int64_t> process);

}  // namespace heddle::hangs
