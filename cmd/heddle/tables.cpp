// SPDX-License-Identifier: BSD-3-Clause
#include "tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "tool/counters.hpp"
#include "tool/events.hpp"
#include "tool/knobs.hpp"

namespace heddle::cmd {
namespace {

template <std::size_t columns>
using Rows = std::vector<std::array<std::string, columns>>;

/// Returns the rows with columns as wide as their longest entries. The last column has no padding.
template <std::size_t columns>
std::string aligned(const Rows<columns>& rows) {
    std::array<std::size_t, columns> width{};
    for (const auto& row : rows)
        for (std::size_t i = 0; i < columns; ++i) width[i] = std::max(width[i], row[i].size());
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t i = 0; i + 1 < columns; ++i)
            text += fmt::format("{:<{}}  ", row[i], width[i]);
        text += row[columns - 1] + "\n";
    }
    return text;
}

template <std::size_t columns>
std::string markdown(const Rows<columns>& rows) {
    std::string text;
    for (const auto& row : rows) {
        for (const std::string& entry : row) text += "| " + entry + " ";
        text += "|\n";
        if (&row != &rows.front()) continue;
        for (std::size_t i = 0; i < columns; ++i) text += "|---";
        text += "|\n";
    }
    return text;
}

std::string name_of(tool::SetBy who) {
    switch (who) {
        case tool::SetBy::standard: return "default";
        case tool::SetBy::environment: return "environment";
        default: return "MPI_T";
    }
}

std::string name_of(tool::CounterClass kind) {
    switch (kind) {
        case tool::CounterClass::counter: return "counter";
        case tool::CounterClass::level: return "level";
        case tool::CounterClass::most: return "most";
        case tool::CounterClass::thread_counter: return "counter, of each thread";
        case tool::CounterClass::instance_counter: return "counter, of each instance";
        case tool::CounterClass::instance_level: return "level, of each instance";
        case tool::CounterClass::instance_most: return "most, of each instance";
        default: return "level, of a communicator";
    }
}

/// Returns a value as the user writes it, and "-" for an empty one.
std::string shown(const std::string& value) { return value.empty() ? "-" : value; }

/// Escapes characters that troff would misread.
std::string troff(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '\\' || c == '-') result += '\\';
        result += c;
    }
    return result;
}

}  // namespace

std::string knobs_as_text() {
    const tool::Settings now = tool::settings_now();
    Rows<6> rows{{"variable", "type", "now", "default", "set by", "what"}};
    for (const tool::Knob& knob : tool::knob_table())
        rows.push_back({knob.variable(), knob.type, shown(knob.print(now)), shown(knob.standard),
                        name_of(tool::set_by(knob)), knob.doc});
    return aligned(rows);
}

std::string counters_as_text() {
    Rows<4> rows{{"counter", "unit", "class", "what"}};
    for (const tool::CounterInfo& counter : tool::counter_table())
        rows.push_back({counter.name, counter.unit, name_of(counter.kind), counter.doc});
    return aligned(rows);
}

std::string tables_as_markdown() {
    Rows<4> knobs{{"variable", "allowed", "default", "what"}};
    for (const tool::Knob& knob : tool::knob_table())
        knobs.push_back(
            {fmt::format("`{}`", knob.variable()), knob.allowed(), shown(knob.standard), knob.doc});
    Rows<4> counters{{"counter", "unit", "class", "what"}};
    for (const tool::CounterInfo& counter : tool::counter_table())
        counters.push_back(
            {fmt::format("`{}`", counter.name), counter.unit, name_of(counter.kind), counter.doc});
    Rows<2> events{{"event", "what"}};
    for (const tool::EventInfo& event : tool::event_table())
        events.push_back({fmt::format("`{}`", event.name), event.doc});
    return "### Knobs\n\n" + markdown(knobs) + "\n### Counters\n\n" + markdown(counters) +
        "\n### Events\n\n" + markdown(events);
}

std::string manual_page() {
    std::string text =
        ".TH HEDDLE 7 \"\" \"Heddle " HEDDLE_VERSION
        "\"\n"
        ".SH NAME\nheddle \\- MPI for programs with threads: its knobs and counters\n"
        ".SH DESCRIPTION\nHeddle is set by variables in the environment, or by control variables "
        "of MPI_T\n"
        "that are written before MPI_Init; what it counts can be read as performance variables of "
        "MPI_T.\n"
        ".BR \"heddle info \\-\\-knobs\" \" and \" \"heddle info \\-\\-counters\"\nlist both.\n"
        ".SH ENVIRONMENT\nA variable that is empty counts as not set. A value that is not allowed "
        "ends\n"
        "MPI_Init with an error that names it.\n";
    for (const tool::Knob& knob : tool::knob_table())
        text += fmt::format(
            ".TP\n.B {}\n{}\nAllowed are {}; the default is {}. MPI_T knows it as\n.IR {} .\n",
            knob.variable(), troff(knob.doc), troff(knob.allowed()),
            *knob.standard == '\0' ? "nothing" : troff(knob.standard), knob.name);
    text += ".SH COUNTERS\n";
    for (const tool::CounterInfo& counter : tool::counter_table())
        text += fmt::format(".TP\n.BR {} \" ({}, {})\"\n{}\n", counter.name, counter.unit,
                            name_of(counter.kind), troff(counter.doc));
    text += ".SH EVENTS\n";
    for (const tool::EventInfo& event : tool::event_table())
        text += fmt::format(".TP\n.B {}\n{}\n", event.name, troff(event.doc));
    return text;
}

std::string wrong_knobs() {
    try {
        (void)tool::settings_for_start();
        return {};
    } catch (const std::runtime_error& problem) {
        return problem.what();
    }
}

}  // namespace heddle::cmd
