// SPDX-License-Identifier: BSD-3-Clause
#include "resolve.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "say.hpp"

namespace heddle::mpiexec {

namespace {

[[noreturn]] void cannot_run(int code, const std::string& name, std::string_view reason) {
    throw Failure(code, fmt::format("cannot run '{}': {}", name, reason));
}

/// Returns `name` relative to the directory of the program.
std::string from_directory(const Program& program, const std::string& name) {
    if (name.starts_with('/') || program.directory.empty()) return name;
    return program.directory + "/" + name;
}

void check_directory(const Program& program) {
    if (program.directory.empty()) return;
    struct stat found{};
    if (::stat(program.directory.c_str(), &found) != 0)
        throw Failure(exit_failed,
                      fmt::format("-wdir {}: {}", program.directory, error_text(errno)));
    if (!S_ISDIR(found.st_mode))
        throw Failure(exit_failed, fmt::format("-wdir {}: not a directory", program.directory));
}

/// Refuses a file that exists but cannot be executed.
void check_file(const std::string& name, const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0)
        cannot_run(errno == ENOENT || errno == ENOTDIR ? exit_not_found : exit_not_run, name,
                   error_text(errno));
    if (S_ISDIR(found.st_mode)) cannot_run(exit_not_run, name, "it is a directory");
    if (!S_ISREG(found.st_mode)) cannot_run(exit_not_run, name, "it is not a file");
    if (::access(path.c_str(), X_OK) != 0)
        cannot_run(exit_not_run, name, "it is not executable (chmod +x makes it so)");
}

bool is_executable_file(const std::string& path) {
    struct stat found{};
    return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
        ::access(path.c_str(), X_OK) == 0;
}

[[noreturn]] void not_in_path(const Program& program, const std::string& name) {
    const bool here = is_executable_file(from_directory(program, name));
    cannot_run(exit_not_found, name,
               here ? fmt::format("it is not in PATH; did you mean ./{}?", name)
                    : "there is no such program in PATH");
}

std::string search_path(const Program& program, const std::string& name) {
    const char* path = std::getenv("PATH");
    const std::string all = (program.search.empty() ? "" : program.search + ":") +
        (path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
    std::string_view rest = all;
    while (true) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        const std::string folder = end == 0 ? "." : std::string(rest.substr(0, end));
        std::string file = fmt::format("{}/{}", folder, name);
        if (is_executable_file(from_directory(program, file))) return file;
        if (end == rest.size()) not_in_path(program, name);
        rest.remove_prefix(end + 1);
    }
}

/// Returns the file to execute, relative to the program's directory.
std::string find_file(const Program& program) {
    const std::string& name = program.command.front();
    if (name.empty()) cannot_run(exit_not_found, name, "its name is empty");
    if (name.find('/') == std::string::npos) return search_path(program, name);
    check_file(name, from_directory(program, name));
    return name;
}

void fill_ranks(Job& job, int cores) {
    const bool alone = job.programs.size() == 1;
    long long sum = 0;
    for (Program& program : job.programs) {
        if (!program.ranks) program.ranks = alone ? cores : 1;
        sum += *program.ranks;
    }
    if (sum > INT_MAX) throw Failure(exit_usage, fmt::format("{} ranks are too many", sum));
}

long long number_in_file(const char* path, const char* format) {
    std::FILE* file = std::fopen(path, "re");
    long long value = LLONG_MAX;
    if (file == nullptr) return value;
    std::array<char, 256> line{};
    while (std::fgets(line.data(), line.size(), file) != nullptr)
        if (std::sscanf(line.data(), format, &value) == 1) break;
    std::fclose(file);
    return value;
}

[[noreturn]] void too_many(int ranks, const std::string& reason) {
    throw Failure(exit_failed, fmt::format("cannot start {} ranks: {}", ranks, reason));
}

void check_memory(int ranks) {
    constexpr long long least_kib = 256;  // page tables, stack and private data of any process
    const long long free_kib = number_in_file("/proc/meminfo", "MemAvailable: %lld");
    if (free_kib / least_kib < ranks)
        too_many(ranks,
                 fmt::format("they need {} MiB of memory at least, {} MiB are free",
                             least_kib * ranks / 1024, free_kib / 1024));
}

void check_processes(int ranks) {
    const long long most = std::min(number_in_file("/proc/sys/kernel/pid_max", "%lld"),
                                    number_in_file("/proc/sys/kernel/threads-max", "%lld"));
    if (ranks >= most)
        too_many(ranks, fmt::format("this machine holds {} processes at most", most));
}

rlim_t descriptors_wanted(int ranks, int descriptors_per_rank) {
    constexpr rlim_t own = 64;
    return static_cast<rlim_t>(ranks) * static_cast<rlim_t>(descriptors_per_rank) + own;
}

void check_descriptors(int ranks, int descriptors_per_rank) {
    const rlim_t wanted = descriptors_wanted(ranks, descriptors_per_rank);
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
    if (limit.rlim_max < wanted)
        too_many(ranks,
                 fmt::format("mpiexec needs {} open files for them, the limit is {} (ulimit -Hn)",
                             wanted, limit.rlim_max));
    limit.rlim_cur = wanted;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

void resolve_program(Program& program) {
    check_directory(program);
    program.file = find_file(program);
}

void resolve(Job& job, int cores) {
    for (Program& program : job.programs) resolve_program(program);
    fill_ranks(job, cores);
    if (job.input == InputTo::one_rank && job.input_rank >= job.size())
        throw Failure(exit_usage,
                      fmt::format("-stdin {}: the job has {} ranks, 0 to {}", job.input_rank,
                                  job.size(), job.size() - 1));
}

bool descriptors_suffice(int ranks, int descriptors_per_rank) {
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_max >= descriptors_wanted(ranks, descriptors_per_rank);
}

void check_limits(int ranks, int descriptors_per_rank) {
    if (ranks < 64) return;  // they always fit, and otherwise fork() fails
    check_processes(ranks);
    check_descriptors(ranks, descriptors_per_rank);
    check_memory(ranks);
}

}  // namespace heddle::mpiexec
