// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The jobs that run on this machine, found from outside by the memory that their processes have
/// open (node/board.hpp). The kernel must let this user look.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "snapshot.hpp"

namespace heddle::hangs {

/// A job, or the part of it that is on this machine.
class FoundJob {
public:
    /// Returns the processes that have its memory open, ranks and others.
    const std::vector<pid_t>& processes() const { return processes_; }
    /// Returns the outermost process that has started them, or 0 if it is unknown.
    pid_t launcher() const { return launcher_; }
    /// Returns the address for reports to mpiexec (report_variable.hpp). It is empty unless the job
    /// is on several hosts.
    const std::string& reports_to() const { return reports_to_; }
    /// Returns true if all ranks of the job are on this machine.
    bool is_whole() const { return whole_; }
    Snapshot look() const;

private:
    friend class Finder;
    /// The sources for one rank: its pages in all boards in which it has a place.
    struct Place {
        int rank;
        pid_t pid;  ///< 0 if none has come
        std::vector<const node::Page*> pages;
    };
    std::vector<pid_t> processes_;
    pid_t launcher_ = 0;
    std::string reports_to_;
    std::vector<Place> places_;
    bool whole_ = false;
};

/// A job on several hosts with a launcher or a keeper on this one.
struct FarJob {
    std::string reports_to;          ///< as in FoundJob
    std::vector<pid_t> processes{};  ///< the processes that have this address
};

/// Finds jobs, and owns the mappings that they refer to.
class Finder {
public:
    Finder();
    ~Finder();
    Finder(const Finder&) = delete;
    Finder& operator=(const Finder&) = delete;

    const std::vector<FoundJob>& jobs() const { return jobs_; }
    const std::vector<FarJob>& far_jobs() const { return far_jobs_; }
    /// Works as the function below does for FoundJob. Every part of the job on this machine counts.
    bool concerns(const FarJob& job, std::optional<std::int64_t> process) const;

private:
    struct Board {
        void* memory;
        std::size_t bytes;
        std::size_t ranks;
        std::vector<pid_t> processes;  ///< those that have it open
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

/// Returns the outermost launcher among its ancestors, or 0 if there is none.
pid_t launcher_of(pid_t pid);

/// Returns true if `process` is `ancestor` or one of its descendants.
bool stems_from(pid_t process, pid_t ancestor);

/// Returns true if `process` is one of the job's or an ancestor of one. Returns true without a
/// `process`.
bool concerns(const FoundJob& job, std::optional<std::int64_t> process);

}  // namespace heddle::hangs
