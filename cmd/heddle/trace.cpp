// SPDX-License-Identifier: BSD-3-Clause
/// `heddle trace`: the lines of a trace that matter.

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <stdexcept>

#include "subcommands.hpp"
#include "timeline/timeline.hpp"

namespace heddle::cmd {
namespace {

/// Reads a file, or a folder of events. The folder is left by a job whose mpiexec was killed.
timeline::Timeline read_timeline(const std::string& file) {
    std::error_code error;
    if (!std::filesystem::is_directory(file, error)) return timeline::read_perfetto(file);
    timeline::Timeline timeline = timeline::load(file, timeline::Until::last_event);
    if (timeline.ranks.empty()) throw std::runtime_error("there are no events in it");
    timeline::match(timeline);
    return timeline;
}

}  // namespace

void show_trace(const TraceOptions& options) try {
    const timeline::Timeline timeline = read_timeline(options.file);
    if (options.json) {
        fmt::print("{}\n", timeline::summary_in_json(timeline));
        return;
    }
    for (const std::string& line : timeline::summarize(timeline)) fmt::print("{}\n", line);
} catch (const std::exception& problem) {
    fail("heddle trace", options.file + ": " + problem.what());
}

}  // namespace heddle::cmd
