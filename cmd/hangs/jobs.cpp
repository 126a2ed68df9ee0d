// SPDX-License-Identifier: BSD-3-Clause
#include "jobs.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "report_variable.hpp"

namespace heddle::hangs {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

fs::path folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

/// Returns the parent, or 0 if there is none.
pid_t parent_of(pid_t pid) {
    const std::string stat = contents(folder_of(pid) / "stat");
    const std::size_t after_name = stat.rfind(')');
    int parent = 0;
    if (after_name == std::string::npos ||
        std::sscanf(stat.c_str() + after_name + 1, " %*c %d", &parent) != 1)
        return 0;
    return parent;
}

/// Returns the first of the variables that the environment of a process has. Returns an empty text
/// if it has none.
std::string variable(pid_t pid, const std::vector<std::string>& names) {
    const std::string environment = contents(folder_of(pid) / "environ");
    for (const std::string& name : names)
        for (std::size_t at = 0; at < environment.size();
             at += std::strlen(environment.c_str() + at) + 1)
            if (environment.compare(at, name.size() + 1, name + '=') == 0)
                return environment.c_str() + at + name.size() + 1;
    return "";
}

/// Returns the variable's number, or -1 if there is none.
int number_in(pid_t pid, const std::vector<std::string>& names) {
    const std::string value = variable(pid, names);
    return value.empty() ? -1 : std::atoi(value.c_str());
}

bool is_alive(pid_t pid) {
    const std::string stat = contents(folder_of(pid) / "stat");
    const std::size_t after_name = stat.rfind(')');
    return after_name != std::string::npos && after_name + 2 < stat.size() &&
        stat[after_name + 2] != 'Z' && stat[after_name + 2] != 'X';
}

bool is_launcher(pid_t pid) {
    const std::string name = contents(folder_of(pid) / "comm");
    return name.starts_with("mpiexec") || name.starts_with("mpirun") ||
        name.starts_with("heddle-") || name.starts_with("hydra") || name.starts_with("prte");
}

/// Returns the report address of the rank's keeper, or an empty text if it has none.
std::string reports_of_keeper(pid_t rank) {
    pid_t keeper = parent_of(rank);
    while (keeper > 1 && !is_launcher(keeper)) keeper = parent_of(keeper);
    return keeper > 1 ? variable(keeper, {report_variable}) : "";
}

std::string text_of(const node::Token& token) {
    return std::string(reinterpret_cast<const char*>(&token), sizeof token);
}

}  // namespace

pid_t launcher_of(pid_t pid) {
    pid_t found = 0;
    for (pid_t one = parent_of(pid); one > 1; one = parent_of(one))
        if (is_launcher(one)) found = one;
    return found;
}

bool stems_from(pid_t process, pid_t ancestor) {
    while (process > 1 && process != ancestor) process = parent_of(process);
    return process == ancestor;
}

bool concerns(const FoundJob& job, std::optional<std::int64_t> process) {
    return !process || std::any_of(job.processes().begin(), job.processes().end(), [&](pid_t one) {
        return stems_from(one, static_cast<pid_t>(*process));
    });
}

bool Finder::concerns(const FarJob& job, std::optional<std::int64_t> process) const {
    return !process ||
        std::any_of(job.processes.begin(), job.processes.end(),
                    [&](pid_t one) { return stems_from(one, static_cast<pid_t>(*process)); }) ||
        std::any_of(jobs_.begin(), jobs_.end(), [&](const FoundJob& part) {
            return part.reports_to() == job.reports_to && hangs::concerns(part, process);
        });
}

Snapshot FoundJob::look() const {
    Snapshot snapshot;
    snapshot.whole = whole_;
    for (const Place& place : places_) {
        Rank& rank = snapshot.ranks.emplace_back();
        rank.rank = place.rank;
        rank.pid = place.pid;
        rank.knows_phase = true;
        if (place.pid == 0) continue;
        if (!is_alive(place.pid)) {
            rank.end = "ended";
            continue;
        }
        // The rank's threads announce themselves on one of the pages.
        for (const node::Page* page : place.pages)
            if (page == place.pages.front() || page->ever_attached.load() != 0)
                look_at(rank, *page);
        rank.phase = place.pages.front()->phase.load();
    }
    return snapshot;
}

Finder::Finder() {
    std::error_code error;
    for (fs::directory_iterator process("/proc", error), end; !error && process != end;
         process.increment(error)) {
        const std::string name = process->path().filename();
        if (name.find_first_not_of("0123456789") == std::string::npos)
            look_at_process(static_cast<pid_t>(std::atoi(name.c_str())));
    }
    group();
}

Finder::~Finder() {
    for (const auto& [token, board] : boards_) ::munmap(board.memory, board.bytes);
}

void Finder::note_reports(pid_t pid) {
    const std::string reports_to = variable(pid, {report_variable});
    if (reports_to.empty()) return;
    const auto known = std::find_if(far_jobs_.begin(), far_jobs_.end(), [&](const FarJob& job) {
        return job.reports_to == reports_to;
    });
    FarJob& job = known != far_jobs_.end() ? *known : far_jobs_.emplace_back(FarJob{reports_to});
    job.processes.push_back(pid);
}

void Finder::look_at_process(pid_t pid) {
    note_reports(pid);
    std::error_code error;
    for (fs::directory_iterator file(folder_of(pid) / "fd", error), end; !error && file != end;
         file.increment(error)) {
        std::error_code unreadable;
        const fs::path target = fs::read_symlink(file->path(), unreadable);
        if (!unreadable && target.string().find("heddle-node") != std::string::npos)
            open_board(pid, file->path());
    }
}

void Finder::open_board(pid_t pid, const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    node::FileHeader header{};
    struct stat found{};
    if (::pread(descriptor, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header) &&
        header.magic == node::board_magic && header.ranks != 0 && header.ranks < 1 << 20 &&
        ::fstat(descriptor, &found) == 0 &&
        static_cast<std::size_t>(found.st_size) >= node::board_bytes(header.ranks)) {
        const auto known = boards_.find(text_of(header.token));
        if (known != boards_.end()) {
            std::vector<pid_t>& processes = known->second.processes;
            if (std::find(processes.begin(), processes.end(), pid) == processes.end())
                processes.push_back(pid);
        } else {
            const std::size_t bytes = node::board_bytes(header.ranks);
            void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
            if (memory != MAP_FAILED)
                boards_[text_of(header.token)] = {memory, bytes, header.ranks, {pid}};
        }
    }
    ::close(descriptor);
}

FoundJob Finder::job_of(const Board& board) const {
    FoundJob job;
    job.processes_ = board.processes;
    int size = -1;
    for (std::size_t i = 0; i < board.ranks; ++i) {
        const node::Page& page = node::board_page(board.memory, i);
        const auto pid = static_cast<pid_t>(page.pid.load());
        FoundJob::Place place{static_cast<int>(i), pid, {&page}};
        const int rank = pid == 0 ? -1 : number_in(pid, {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"});
        if (rank >= 0) place.rank = rank;
        if (size < 0 && pid != 0) size = number_in(pid, {"PMI_SIZE", "SLURM_NTASKS"});
        if (job.launcher_ == 0 && pid != 0) job.launcher_ = launcher_of(pid);
        if (job.reports_to_.empty() && pid != 0) job.reports_to_ = reports_of_keeper(pid);
        // A keeper has a board of its own for a rank that another launcher connects.
        for (const auto& [token, other] : boards_) {
            const node::Page& first = node::board_page(other.memory, 0);
            if (&other != &board && other.ranks == 1 && pid != 0 &&
                static_cast<pid_t>(first.pid.load()) == pid)
                place.pages.push_back(&first);
        }
        job.places_.push_back(std::move(place));
    }
    std::sort(job.places_.begin(), job.places_.end(),
              [](const auto& a, const auto& b) { return a.rank < b.rank; });
    job.whole_ = size == static_cast<int>(board.ranks) || (size < 0 && board.ranks == 1);
    return job;
}

void Finder::group() {
    std::vector<const Board*> largest_first;
    for (const auto& [token, board] : boards_) largest_first.push_back(&board);
    std::stable_sort(largest_first.begin(), largest_first.end(),
                     [](const Board* a, const Board* b) { return a->ranks > b->ranks; });
    std::set<pid_t> told;
    for (const Board* board : largest_first) {
        FoundJob job = job_of(*board);
        bool is_new = false;
        for (const FoundJob::Place& place : job.places_)
            if (place.pid != 0 && told.insert(place.pid).second) is_new = true;
        if (is_new) jobs_.push_back(std::move(job));
    }
}

}  // namespace heddle::hangs
