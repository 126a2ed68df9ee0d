// SPDX-License-Identifier: BSD-3-Clause
#include "trace.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "hosts.hpp"
#include "layout.hpp"
#include "preload.hpp"
#include "say.hpp"
#include "timeline/timeline.hpp"

namespace heddle::mpiexec {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_advice = 10;  ///< sentences

std::string library() { return own_library("libheddle_trace.so"); }

/// Removes the events that an earlier job has left there.
void remove_events(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        if (entry->path().extension() == trace::file_ending) found.push_back(entry->path());
    for (const fs::path& path : found) fs::remove(path, error);
}

[[noreturn]] void cannot(const std::string& what, const std::string& path, int error) {
    throw Failure(exit_failed, fmt::format("{} {}: {}", what, path, error_text(error)));
}

/// Makes the folder beside the file that is to be written.
std::string folder_beside(const std::string& file) {
    std::error_code error;
    const std::string folder = fs::absolute(file, error).string() + ".parts";
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) cannot("--trace", folder, errno);
    if (::access(folder.c_str(), W_OK) != 0) cannot("--trace", folder, errno);
    remove_events(folder);
    return folder;
}

/// Makes a folder for the duration of the job. If it is shared, other machines can see it.
std::string folder_for_advice(bool shared) {
    const char* given = std::getenv("TMPDIR");
    std::error_code error;
    std::string folder = shared ? fs::current_path(error).string() + "/.heddle-advice-XXXXXX"
                                : std::string(given != nullptr && *given != '\0' ? given : "/tmp") +
            "/heddle-advice-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) {
        say(fmt::format("--advice: where time goes is not told: {}: {}", folder,
                        error_text(errno)));
        return {};
    }
    return folder;
}

void say_advice(const timeline::Timeline& timeline) {
    const std::vector<timeline::Advice> all = timeline::advise(timeline);
    std::string text =
        fmt::format("advice to the job, which took {}:", timeline::duration_text(timeline.end()));
    if (all.empty()) text += "\n  no wait for another rank took a hundredth of the time";
    for (std::size_t i = 0; i < all.size() && i < most_advice; ++i)
        text += "\n  " + all[i].sentence;
    if (all.size() > most_advice)
        text += fmt::format("\n  and {} more that cost less", all.size() - most_advice);
    say(text);
}

}  // namespace

void prepare_trace(Job& job) {
    if (job.trace_file.empty() && !job.timed_advice) return;
    if (job.check) {  // the checker is preloaded at the same place
        if (!job.trace_file.empty())
            throw Failure(exit_usage, "--check and --trace do not go together: run the job twice");
        job.timed_advice = false;
        return;
    }
    if (::access(library().c_str(), R_OK) != 0) {
        if (!job.trace_file.empty()) cannot("--trace", library(), errno);
        job.timed_advice = false;  // a build with a sanitizer has no tracer
        return;
    }
    job.trace_folder = job.trace_file.empty() ? folder_for_advice(takes_other_machines(job))
                                              : folder_beside(job.trace_file);
}

void trace(Environment& environment, const Job& job) {
    if (job.trace_folder.empty()) return;
    environment.set(trace::folder_variable, job.trace_folder);
    preload(environment, library());
}

void write_trace(const Job& job) {
    if (job.trace_file.empty()) return;
    try {
        timeline::Timeline timeline = timeline::load(job.trace_folder, timeline::Until::now);
        if (timeline.ranks.empty()) return;
        timeline::match(timeline);
        timeline::write_perfetto(timeline, job.trace_file);
        say(fmt::format("what has happened so far is in {}", job.trace_file));
    } catch (const std::system_error& error) {
        say(fmt::format("--trace {}", error.what()));
    }
}

void finish_trace(const Job& job) {
    if (job.trace_folder.empty()) return;
    try {
        timeline::Timeline timeline = timeline::load(job.trace_folder, timeline::Until::now);
        timeline::match(timeline);
        if (timeline.ranks.empty() && !job.quiet)
            say(
                fmt::format("{}: no rank has left events: programs that were built for another "
                            "MPI, or linked statically, keep none",
                            job.trace_file.empty() ? "--advice" : "--trace"));
        if (!timeline.ranks.empty() && !job.trace_file.empty())
            timeline::write_perfetto(timeline, job.trace_file);
        if (!timeline.ranks.empty() && job.timed_advice) say_advice(timeline);
    } catch (const std::system_error& error) {
        return say(fmt::format("--trace: {}; the events stay in {}, which heddle trace reads",
                               error.what(), job.trace_folder));
    }
    remove_events(job.trace_folder);
    ::rmdir(job.trace_folder.c_str());
}

}  // namespace heddle::mpiexec
