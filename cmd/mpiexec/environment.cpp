// SPDX-License-Identifier: BSD-3-Clause
#include "environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "launch/children_wire.hpp"

namespace heddle::mpiexec {

namespace {

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

/// Returns true for variables that name a rank of another job. A job that another launcher or a
/// rank has started is a job of its own.
bool names_another_rank(std::string_view name) {
    return name.starts_with("PMI_") || name.starts_with("PMIX_") || name.starts_with("MPI_LOCAL") ||
        name == "HEDDLE_NODE_FD" || name == "HEDDLE_KEEPER_FD" || name == "HEDDLE_PRINT_FD" ||
        name == launch::parent_variable;
}

/// Returns true for variables by which a rank of another launcher finds the other ranks.
bool is_of_launcher(std::string_view name) {
    for (const std::string_view prefix : {"PRTE_", "OMPI_", "SLURM_", "HYDI_", "MPIEXEC_"})
        if (name.starts_with(prefix)) return true;
    return names_another_rank(name);
}

bool is_listed(const EnvironmentRule& rule, std::string_view name) {
    return std::find(rule.inherit.begin(), rule.inherit.end(), name) != rule.inherit.end();
}

}  // namespace

Environment::Environment(const EnvironmentRule& first, const EnvironmentRule& second,
                         bool of_other_launcher) {
    const bool all = second.inherit_all.value_or(first.inherit_all.value_or(true));
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view name = name_of(*entry);
        if (!of_other_launcher && names_another_rank(name)) continue;
        if (all || (of_other_launcher && is_of_launcher(name)) || is_listed(first, name) ||
            is_listed(second, name))
            entries_.emplace_back(*entry);
    }
    for (const auto& [name, value] : first.set) set(name, value);
    for (const auto& [name, value] : second.set) set(name, value);
}

void Environment::set(const std::string& name, const std::string& value) {
    std::string entry = name + "=" + value;
    const auto old = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const std::string& one) { return name_of(one) == name; });
    if (old == entries_.end())
        entries_.push_back(std::move(entry));
    else
        *old = std::move(entry);
}

void Environment::set_default(const std::string& name, const std::string& value) {
    const auto is = [&](const std::string& one) { return name_of(one) == name; };
    if (std::none_of(entries_.begin(), entries_.end(), is)) set(name, value);
}

std::string_view Environment::value(std::string_view name) const {
    for (const std::string& entry : entries_)
        if (name_of(entry) == name && entry.size() > name.size())
            return std::string_view(entry).substr(name.size() + 1);
    return {};
}

std::vector<char*> Environment::pointers() {
    std::vector<char*> result;
    result.reserve(entries_.size() + 1);
    for (std::string& entry : entries_) result.push_back(entry.data());
    result.push_back(nullptr);
    return result;
}

}  // namespace heddle::mpiexec
