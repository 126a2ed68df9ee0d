// SPDX-License-Identifier: BSD-3-Clause
#include "placement_options.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include "options.hpp"
#include "say.hpp"
#include "text.hpp"

namespace heddle::mpiexec {

namespace {

struct BindWord {
    std::string_view word;
    Bind bind;
};
constexpr std::array bind_words{
    BindWord{"none", Bind::none},       BindWord{"share", Bind::share},
    BindWord{"core", Bind::core},       BindWord{"hwthread", Bind::hwthread},
    BindWord{"socket", Bind::socket},   BindWord{"numa", Bind::numa},
    BindWord{"l3cache", Bind::l3cache}, BindWord{"package", Bind::socket},
    BindWord{"l3", Bind::l3cache},      BindWord{"l1cache", Bind::core},
    BindWord{"l2cache", Bind::core},    BindWord{"l1", Bind::core},
    BindWord{"l2", Bind::core},         BindWord{"rr", Bind::core},
    BindWord{"machine", Bind::none},    BindWord{"board", Bind::none},
    BindWord{"numanode", Bind::numa},   BindWord{"slot", Bind::core},
};

struct MapWord {
    std::string_view word;
    Map map;
};
constexpr std::array map_words{
    MapWord{"core", Map::core},     MapWord{"slot", Map::core},
    MapWord{"hwthread", Map::core}, MapWord{"socket", Map::socket},
    MapWord{"numa", Map::numa},     MapWord{"l3cache", Map::l3cache},
    MapWord{"node", Map::node},     MapWord{"package", Map::socket},
    MapWord{"l3", Map::l3cache},    MapWord{"l1cache", Map::core},
    MapWord{"l2cache", Map::core},  MapWord{"board", Map::core},
    MapWord{"numanode", Map::numa},
};

/// Returns true if `text` is one of the words, which are in small letters.
bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns the words that help shows: the first ones of a table.
template <class Table>
std::string first_words(const Table& table, std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i)
        list += (i == 0 ? "" : ", ") + std::string(table[i].word);
    return list;
}

[[noreturn]] void no_such(std::string_view option, std::string_view word,
                          const std::string& words) {
    throw Failure(exit_usage, fmt::format("{}: '{}' is not one of {}", option, word, words));
}

template <class Table>
auto row_of(std::string_view option, std::string_view word, const Table& table, std::size_t shown) {
    const auto row =
        std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.word == word; });
    if (row == table.end()) no_such(option, word, first_words(table, shown));
    return *row;
}

void set_binding_qualifier(Job& job, std::string_view option, const std::string& text) {
    if (text == "report") {
        job.placement.report = true;
    } else if (is_number(text) && job.placement.bind == Bind::core) {
        job.placement.cores_per_rank = whole_number(option, text, 1, INT_MAX);
    } else if (!is_one_of(text, {"overload-allowed", "no-overload", "if-supported", "1"})) {
        ignore(job, fmt::format("{} ...:{}", option, text), "");
    }
}

/// Parses "ppr:N:node": N ranks on each node. Smaller objects than nodes set only the mapping.
void set_ranks_per(Job& job, std::string_view option, const std::vector<std::string>& parts) {
    if (parts.size() < 3)
        throw Failure(exit_usage, fmt::format("{}: it is ppr:N:WHAT, as ppr:4:node", option));
    const int ranks = whole_number(option, parts[1], 1, INT_MAX);
    if (parts[2] == "node")
        job.ranks_per_host = ranks;
    else
        job.placement.map = row_of(option, parts[2], map_words, 7).map;
}

void set_mapping_qualifier(Job& job, std::string_view option, const std::string& text) {
    constexpr std::string_view width = "pe=";
    if (text.starts_with(width)) {
        const std::string_view number = std::string_view(text).substr(width.size());
        job.placement.cores_per_rank = whole_number(option, number, 1, INT_MAX);
    } else if (is_one_of(text, {"display", "displaydevel"})) {
        job.placement.report = true;
    } else if (is_one_of(text,
                         {"span", "nolocal", "noinherit", "inherit", "ordered", "displayalloc"})) {
        ignore(job, fmt::format("{} ...:{}", option, text), "");
    } else if (!is_one_of(text, {"oversubscribe", "nooversubscribe", "hwtcpus", "corecpus"})) {
        throw Failure(exit_usage,
                      fmt::format("{}: '{}' is not understood; use PE=N", option, text));
    }
}

}  // namespace

void ignore(Job& job, std::string_view what, std::string_view why) {
    const std::string because = why.empty() ? "" : fmt::format(" ({})", why);
    job.ignored.push_back(fmt::format("ignored: {}{}", what, because));
}

void set_binding(Job& job, std::string_view option, std::string_view value) {
    const std::vector<std::string> parts = split(lower(value), ':');
    if (is_one_of(parts[0], {"user", "cpu-list", "cpuset"}))
        return ignore(job, fmt::format("{} {}", option, value), "--cpu-set says which cores");
    job.placement.bind = row_of(option, parts[0], bind_words, 7).bind;
    for (std::size_t i = 1; i < parts.size(); ++i) set_binding_qualifier(job, option, parts[i]);
}

void set_mapping(Job& job, std::string_view option, std::string_view value) {
    const std::vector<std::string> parts = split(lower(value), ':');
    std::size_t next = 1;
    if (parts[0] == "ppr") {
        set_ranks_per(job, option, parts);
        next = 3;
    } else if (is_one_of(parts[0], {"dist", "seq", "rankfile"}) ||
               parts[0].starts_with("pe-list")) {
        return ignore(job, fmt::format("{} {}", option, value),
                      "--map-by core, socket, numa, node");
    } else if (!parts[0].empty()) {
        job.placement.map = row_of(option, parts[0], map_words, 7).map;
    }
    for (; next < parts.size(); ++next) set_mapping_qualifier(job, option, parts[next]);
}

}  // namespace heddle::mpiexec
