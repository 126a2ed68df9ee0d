// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <sstream>

#include "foreign.hpp"
#include "hosts.hpp"
#include "placement_options.hpp"
#include "say.hpp"
#include "small_file.hpp"
#include "text.hpp"

namespace heddle::mpiexec {

namespace {

/// A variable or parameter: its name as the user wrote it, and its value.
struct Setting {
    Job& job;
    std::string_view name;
    const std::string& value;
};

void bind(const Setting& at) {
    if (at.job.placement.bind == Bind::unset) set_binding(at.job, at.name, at.value);
}

void map(const Setting& at) {
    if (at.job.placement.map == Map::unset) set_mapping(at.job, at.name, at.value);
}

/// Applies I_MPI_PIN, a switch.
void pin(const Setting& at) {
    const std::string off = lower(at.value);
    const bool is_off = off == "0" || off == "off" || off == "no" || off == "disable";
    if (is_off && at.job.placement.bind == Bind::unset) at.job.placement.bind = Bind::none;
}

/// Applies I_MPI_PIN_DOMAIN, the cores that the threads of a rank share. mpiexec's own default
/// follows OMP_NUM_THREADS, or is equal.
void pin_domain(const Setting& at) {
    const std::string what = split(lower(at.value), ':')[0];
    if (what == "omp" || what == "auto") return;
    if (what == "core" || what == "socket" || what == "numa" || what == "node")
        return bind({at.job, at.name, what == "node" ? "socket" : what});
    ignore(at.job, fmt::format("{}={}", at.name, printable(at.value)),
           "--bind-to and --map-by WHAT:PE=N place ranks");
}

void take_ranks_per_host(const Setting& at) {
    if (at.job.ranks_per_host == 0 && at.value.find_first_not_of("0123456789") == std::string::npos)
        at.job.ranks_per_host = whole_number(at.name, at.value, 1, INT_MAX);
}

void hosts_of_file(const Setting& at) {
    if (!at.job.hosts.empty()) return;
    std::istringstream file(read_small_file(at.name, at.value));
    read_hostfile(at.job.hosts, file);
}

/// Sets one of Heddle's variables, unless the user has set it.
void set_ours(const Setting& at, const char* ours) {
    const std::string first = split(at.value, ',')[0];
    if (std::getenv(ours) == nullptr)
        at.job.environment.set.insert(at.job.environment.set.begin(), {ours, first});
}
void interface(const Setting& at) { set_ours(at, "HEDDLE_INTERFACE"); }
void fabric(const Setting& at) { set_ours(at, "HEDDLE_FABRIC"); }

/// Set the variables that Hydra reads if it starts the ranks.
void launcher(const Setting& at) { ::setenv("HYDRA_LAUNCHER", at.value.c_str(), 0); }
void launcher_file(const Setting& at) { ::setenv("HYDRA_LAUNCHER_EXEC", at.value.c_str(), 0); }
void hydra_interface(const Setting& at) { ::setenv("HYDRA_IFACE", at.value.c_str(), 0); }

void tag(const Setting& at) { at.job.tag_output |= at.value != "0" && lower(at.value) != "false"; }
void time(const Setting& at) {
    at.job.time_output |= at.value != "0" && lower(at.value) != "false";
}

/// Accepts a setting that changes nothing here, or that others read.
void hear_in_silence(const Setting&) {}

struct Row {
    std::string_view name;
    void (*hear)(const Setting&);
};

/// The parameters of Open MPI, set by --mca or OMPI_MCA_*.
constexpr std::array parameters{
    Row{"hwloc_base_binding_policy", bind},
    Row{"hwloc_default_binding_policy", bind},
    Row{"rmaps_base_mapping_policy", map},
    Row{"rmaps_default_mapping_policy", map},
    Row{"btl_tcp_if_include", interface},
    Row{"oob_tcp_if_include", interface},
    Row{"prte_if_include", interface},
    Row{"orte_tag_output", tag},
    Row{"orte_timestamp_output", time},
    Row{"rmaps_base_oversubscribe", hear_in_silence},
    Row{"orte_base_help_aggregate", hear_in_silence},
    Row{"mpi_show_mca_params", hear_in_silence},
    Row{"mpi_yield_when_idle", hear_in_silence},
    Row{"btl_base_warn_component_unused", hear_in_silence},
    Row{"btl_vader_single_copy_mechanism", hear_in_silence},
    Row{"plm_rsh_agent", launcher_file},
    Row{"plm_ssh_agent", launcher_file},
};

/// The variables of Intel MPI and Hydra. Those that name folders and compilers are read by others.
constexpr std::array variables{
    Row{"I_MPI_PIN", pin},
    Row{"I_MPI_PIN_DOMAIN", pin_domain},
    Row{"I_MPI_PERHOST", take_ranks_per_host},
    Row{"I_MPI_HYDRA_HOST_FILE", hosts_of_file},
    Row{"HYDRA_HOST_FILE", hosts_of_file},
    Row{"I_MPI_HYDRA_BOOTSTRAP", launcher},
    Row{"I_MPI_HYDRA_BOOTSTRAP_EXEC", launcher_file},
    Row{"I_MPI_HYDRA_IFACE", hydra_interface},
    Row{"I_MPI_OFI_PROVIDER", fabric},
    Row{"I_MPI_ROOT", hear_in_silence},
    Row{"I_MPI_CC", hear_in_silence},
    Row{"I_MPI_CXX", hear_in_silence},
    Row{"I_MPI_FC", hear_in_silence},
    Row{"I_MPI_F77", hear_in_silence},
    Row{"I_MPI_F90", hear_in_silence},
    Row{"I_MPI_OFI_LIBRARY_INTERNAL", hear_in_silence},
};

constexpr std::string_view of_open_mpi = "OMPI_MCA_";
constexpr std::array<std::string_view, 4> families{"I_MPI_", of_open_mpi, "PRTE_MCA_",
                                                   "MPIR_CVAR_"};

/// Returns false if `name` has no row.
template <class Table>
bool hear(const Table& table, std::string_view name, const Setting& setting) {
    const auto row =
        std::find_if(table.begin(), table.end(), [&](const Row& one) { return one.name == name; });
    if (row == table.end()) return false;
    row->hear(setting);
    return true;
}

bool is_of_a_family(std::string_view name) {
    return std::any_of(families.begin(), families.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

void hear_variable(Job& job, std::string_view name, const std::string& value,
                   std::string& without_effect) {
    const Setting setting{job, name, value};
    if (hear(variables, name, setting)) return;
    if (name.starts_with(of_open_mpi) && hear(parameters, name.substr(of_open_mpi.size()), setting))
        return;
    if (is_of_a_family(name))
        without_effect.append(without_effect.empty() ? "" : ", ").append(name);
}

}  // namespace

void hear_parameter(Job& job, std::string_view option, std::string_view key,
                    const std::string& value) {
    if (!hear(parameters, key, {job, key, value}))
        ignore(job, fmt::format("{} {}", option, printable(key)),
               "'heddle info --knobs' lists what can be set");
}

void hear_variables(Job& job) {
    if (is_rank()) return;
    std::string without_effect;
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
    std::sort(entries.begin(), entries.end());
    for (const std::string& entry : entries) {
        const std::size_t equals = std::min(entry.find('='), entry.size() - 1);
        hear_variable(job, std::string_view(entry).substr(0, equals), entry.substr(equals + 1),
                      without_effect);
    }
    if (!without_effect.empty())
        ignore(job, without_effect, "'heddle info --knobs' lists what can be set");
}

}  // namespace heddle::mpiexec
