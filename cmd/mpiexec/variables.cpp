// SPDX-License-Identifier: BSD-3-Clause
#include "variables.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>

#include "nearest.hpp"
#include "say.hpp"
#include "text.hpp"

namespace heddle::mpiexec {

namespace {

constexpr std::string_view prefix = "HEDDLE_";

/// The knobs of the library, in small letters and without the prefix.
constexpr std::array knobs{
#define KNOB(type, name, standard, doc) std::string_view(#name),
#include "tool/all.def"
};

/// The variables that the launcher, the wrappers and the tests read.
constexpr std::array<std::string_view, 13> others{"check",
                                                  "check_memory",
                                                  "node_fd",
                                                  "deadlock",
                                                  "parent",
                                                  "spawn_options",
                                                  "print_fd",
                                                  "cc",
                                                  "cxx",
                                                  "fc",
                                                  "test_mark",
                                                  "stress_seconds",
                                                  "stress_without_probes"};

bool is_known(const std::string& name) {
    return std::find(knobs.begin(), knobs.end(), name) != knobs.end() ||
        std::find(others.begin(), others.end(), name) != others.end();
}

std::string hint(const std::string& name) {
    const auto nearer = [&](std::string_view a, std::string_view b) {
        return edit_distance(name, a) < edit_distance(name, b);
    };
    const std::string_view nearest = *std::min_element(knobs.begin(), knobs.end(), nearer);
    if (edit_distance(name, nearest) > most_distance(name))
        return "; heddle info --knobs lists those that are";
    std::string meant(nearest);
    std::transform(meant.begin(), meant.end(), meant.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return fmt::format("; did you mean {}{}?", prefix, meant);
}

void collect_names(const EnvironmentRule& rule, std::set<std::string>& names) {
    for (const auto& [name, value] : rule.set) names.insert(name);
}

}  // namespace

std::vector<std::string> unknown_variables(const Job& job) {
    std::set<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        names.emplace(text.substr(0, text.find('=')));
    }
    collect_names(job.environment, names);
    for (const Program& program : job.programs) collect_names(program.environment, names);

    std::vector<std::string> sentences;
    for (const std::string& name : names) {
        if (!name.starts_with(prefix)) continue;
        const std::string knob = lower(std::string_view(name).substr(prefix.size()));
        if (!is_known(knob))
            sentences.push_back(fmt::format("{} is no variable of Heddle{}", name, hint(knob)));
    }
    return sentences;
}

}  // namespace heddle::mpiexec
