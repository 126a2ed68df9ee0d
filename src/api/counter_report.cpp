// SPDX-License-Identifier: BSD-3-Clause
#include "api/counter_report.hpp"

#include <cstdio>
#include <string>
#include <string_view>
#include <unistd.h>

#include "p2p/counters.hpp"
#include "tool/counters.hpp"
#include "tool/settings.hpp"

namespace heddle::api {
namespace {

std::string line(const tool::CounterInfo& counter, std::uint64_t value) {
    char text[128];
    std::snprintf(text, sizeof text, "  %-26s %16llu %s\n", counter.name,
                  static_cast<unsigned long long>(value), counter.unit);
    return text;
}

/// Why the recipe does not count it; nullptr: it does.
const char* not_counted(const tool::Settings& settings, const tool::CounterInfo& counter) {
    if (counter.category == tool::Category::laboratory &&
        settings.critical_section == tool::Granularity::lock_free)
        return "no locks under HEDDLE_CRITICAL_SECTION=lock-free";
    if (std::string_view(counter.name) == "match_time" && settings.match_timing == tool::Switch::off)
        return "HEDDLE_MATCH_TIMING=on measures it";
    return nullptr;
}

}  // namespace

void report_counters(objects::Process& process) {
    const std::string& selection = process.settings.counters;
    if (selection.empty()) return;
    const tool::Values values = p2p::read_counters(process);
    std::string lines;
    for (std::size_t i = 0; i < tool::counter_count; ++i) {
        const tool::CounterInfo& counter = tool::counter_table()[i];
        if (counter.kind == tool::CounterClass::communicator_level) continue;
        if (!tool::Selection::selects(selection, counter.name, values.all[i] != 0)) continue;
        if (const char* why = not_counted(process.settings, counter))
            lines += std::string("  ") + counter.name + ": not counted: " + why + "\n";
        else lines += line(counter, values.all[i]);
    }
    if (lines.empty()) return;
    const std::string table = "heddle: counters of rank " + std::to_string(process.rank()) +
        " of " + std::to_string(process.size()) + "\n" + lines;
    // In one piece, so that tables of several ranks do not mix.
    if (write(STDERR_FILENO, table.data(), table.size()) < 0) return;
}

}  // namespace heddle::api
