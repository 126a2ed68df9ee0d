// SPDX-License-Identifier: BSD-3-Clause
#include "api/counter_report.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "api/say.hpp"
#include "p2p/report/counters.hpp"
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

/// Returns why the recipe does not count it, or nullptr if it does.
const char* not_counted(const tool::Settings& settings, const tool::CounterInfo& counter) {
    if (counter.category == tool::Category::laboratory &&
        settings.critical_section == tool::Granularity::lock_free)
        return "no locks under HEDDLE_CRITICAL_SECTION=lock-free";
    if (std::string_view(counter.name) == "match_time" &&
        settings.match_timing == tool::Switch::off)
        return "HEDDLE_MATCH_TIMING=on measures it";
    return nullptr;
}

/// The counters of threads, or of instances: a column for each counter, a row for each thread or
/// instance that has counted something.
class Table {
public:
    explicit Table(const char* of) : rows_("  " + std::string(of)) {}
    void add(const tool::CounterInfo& counter, std::vector<std::uint64_t> values) {
        columns_.push_back({std::string(counter.name) + " " + counter.unit, std::move(values)});
    }
    std::string print() const {
        if (columns_.empty()) return {};
        std::string lines = rows_;
        for (const Column& column : columns_) lines += "  " + column.title;
        lines += "\n";
        for (std::size_t row = 0; row < columns_[0].values.size(); ++row) {
            if (!any_in(row)) continue;
            lines += aligned(rows_, row);
            // A thread may have come since the first was read.
            for (const Column& column : columns_)
                lines += "  " +
                    aligned(column.title, row < column.values.size() ? column.values[row] : 0);
            lines += "\n";
        }
        return lines;
    }

private:
    struct Column {
        std::string title;
        std::vector<std::uint64_t> values;
    };

    bool any_in(std::size_t row) const {
        return std::any_of(columns_.begin(), columns_.end(), [row](const Column& column) {
            return row < column.values.size() && column.values[row] != 0;
        });
    }
    static std::string aligned(std::string_view title, std::uint64_t value) {
        char text[64];
        std::snprintf(text, sizeof text, "%*llu", static_cast<int>(title.size()),
                      static_cast<unsigned long long>(value));
        return text;
    }

    std::string rows_;
    std::vector<Column> columns_;
};

bool any(const std::vector<std::uint64_t>& values) {
    return std::any_of(values.begin(), values.end(),
                       [](std::uint64_t value) { return value != 0; });
}

/// Returns the lines of the selected counters. Those of instances must be asked for by name.
std::string selected_lines(objects::Process& process, const std::string& selection) {
    const tool::Values sums = p2p::read_counters(process);
    std::string lines;
    Table by_thread("thread"), by_instance("instance");
    for (std::size_t i = 0; i < tool::counter_count; ++i) {
        const tool::CounterInfo& counter = tool::counter_table()[i];
        const bool of_instances = is_of_instances(counter.kind);
        if (is_of_communicators(counter.kind)) continue;
        // They are not read without need: each goes through all instances.
        if (of_instances && !tool::Selection::selects(selection, counter.name, false)) continue;
        const auto which = static_cast<tool::CounterIndex>(i);
        std::vector<std::uint64_t> values = is_array(counter.kind)
            ? p2p::read_array(process, which)
            : std::vector<std::uint64_t>{sums[which]};
        if (!tool::Selection::selects(selection, counter.name, any(values))) continue;
        if (const char* why = not_counted(process.settings, counter))
            lines += std::string("  ") + counter.name + ": not counted: " + why + "\n";
        else if (of_instances)
            by_instance.add(counter, std::move(values));
        else if (counter.kind == tool::CounterClass::thread_counter)
            by_thread.add(counter, std::move(values));
        else
            lines += line(counter, values[0]);
    }
    return lines + by_thread.print() + by_instance.print();
}

}  // namespace

void report_counters(objects::Process& process) {
    const std::string& selection = process.settings.counters;
    if (selection.empty()) return;
    const std::string lines = selected_lines(process, selection);
    if (lines.empty()) return;
    say(process, "counters of", lines);
}

}  // namespace heddle::api
