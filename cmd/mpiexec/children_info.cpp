// SPDX-License-Identifier: BSD-3-Clause
#include "children_info.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "foreign.hpp"
#include "launch/children_wire.hpp"
#include "options.hpp"
#include "say.hpp"
#include "text.hpp"
#include "topology.hpp"

namespace heddle::mpiexec {

namespace {

void apply_option(std::string_view name, std::string_view shown, const std::string& value, Job& job,
                  Program& program) {
    const Option* option = find_option(name);
    const std::array values{value};
    option->apply(Parsing{job, program, shown, values, option->help});
}

/// Sets the variables in `lines`, which has one NAME=VALUE in each line.
void set_variables(const std::string& lines, Program& program) {
    for (const std::string& line : split(lines, '\n')) {
        const std::size_t equals = line.find('=');
        if (line.empty()) continue;
        if (equals == std::string::npos || equals == 0)
            throw Failure(exit_usage,
                          fmt::format("info key env: '{}' is not NAME=VALUE", printable(line)));
        program.environment.set.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    }
}

struct Key {
    std::string_view name, option;
};

/// The keys of the standard, Open MPI, PMIx and MPICH.
constexpr std::array keys{
    Key{"host", "host"},
    Key{"hosts", "host"},
    Key{"add-host", "host"},
    Key{"add_host", "host"},
    Key{"hostfile", "hostfile"},
    Key{"add-hostfile", "hostfile"},
    Key{"add_hostfile", "hostfile"},
    Key{"wdir", "wdir"},
    Key{"wd", "wdir"},
    Key{"map-by", "map-by"},
    Key{"map_by", "map-by"},
    Key{"mapby", "map-by"},
    Key{"mapper", "map-by"},
    Key{"bind-to", "bind-to"},
    Key{"bind_to", "bind-to"},
    Key{"bindto", "bind-to"},
    Key{"cpu-set", "cpu-set"},
    Key{"cpu_set", "cpu-set"},
    Key{"ppn", "ppn"},
    Key{"mpi_initial_errhandler", "initial-errhandler"},
};

}  // namespace

void apply_info(const launch::InfoPairs& info, Job& job, Program& program) {
    for (const auto& [key, value] : info) {
        const std::string shown = "info key " + key;
        if (key == "env") set_variables(value, program);
        if (key == "path") program.search = value;
        if (key == "ompi_param") {
            const std::size_t equals = std::min(value.find('='), value.size());
            hear_parameter(job, shown, value.substr(0, equals),
                           equals < value.size() ? value.substr(equals + 1) : "");
        }
        for (const Key& row : keys)
            if (row.name == key) apply_option(row.option, shown, value, job, program);
    }
}

void apply_spawn_options(std::string_view text, Job& job) {
    Program nobody;
    const std::vector<std::string> words = split(text, ' ');
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i].empty()) continue;
        const Option* option = words[i].front() == '-' ? find_option(words[i].substr(1)) : nullptr;
        const bool takes_value = option != nullptr && !option->values.empty();
        if (option == nullptr || (takes_value && i + 1 == words.size()))
            throw Failure(exit_usage,
                          fmt::format("{}: '{}' is not understood", launch::spawn_options_variable,
                                      printable(words[i])));
        const std::string& shown = words[i];
        const std::string value = takes_value ? words[++i] : "";
        apply_option(shown.substr(1), shown, value, job, nobody);
    }
}

std::string spawn_options(const Job& job) {
    std::string text;
    const auto add = [&](const std::string& words) { text += (text.empty() ? "" : " ") + words; };
    if (job.tag_output) add("-l");
    if (job.raw_output) add("-raw-output");
    if (job.quiet) add("-q");
    if (job.verbose) add("-v");
    if (job.children == Children::ranks) {
        add(fmt::format("-usize {}", universe_size(job)));
        const std::vector<int> cpus =
            job.placement.cpus.empty() ? allowed_threads() : job.placement.cpus;
        add("-cpu-set " + format_cpu_list(cpus));
    }
    return text;
}

}  // namespace heddle::mpiexec
