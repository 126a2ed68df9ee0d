// SPDX-License-Identifier: BSD-3-Clause
#include "children_report.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "hangs/jobs.hpp"
#include "process_tree.hpp"
#include "report.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

namespace {

/// Returns true if the job belongs to one of `keepers`, or to a keeper that one of them has
/// started.
bool is_of(const hangs::FoundJob& job, const std::vector<pid_t>& keepers) {
    return std::any_of(job.processes().begin(), job.processes().end(), [&](pid_t process) {
        return std::any_of(keepers.begin(), keepers.end(),
                           [process](pid_t keeper) { return hangs::stems_from(process, keeper); });
    });
}

void tell(const hangs::FoundJob& job) {
    hangs::Snapshot before = job.look();
    std::this_thread::sleep_for(between_looks);
    const std::size_t number = before.ranks.size();
    RankReport report(std::move(before), job.look());
    say(fmt::format("{} process{} that MPI_Comm_spawn has started:", number,
                    number == 1 ? "" : "es"));
    report.tell();
}

}  // namespace

void tell_where_children_are() {
    const std::vector<pid_t> keepers = jobs_of_children();
    if (keepers.empty()) return;
    const hangs::Finder finder;
    for (const hangs::FoundJob& job : finder.jobs())
        if (is_of(job, keepers)) tell(job);
}

}  // namespace heddle::mpiexec
