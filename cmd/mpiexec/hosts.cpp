// SPDX-License-Identifier: BSD-3-Clause
#include "hosts.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "options.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

namespace {

std::string short_name(const std::string& host) { return host.substr(0, host.find('.')); }

bool is_this_machine(const std::string& host) {
    const std::string own = own_host_name();
    return host == "localhost" || host == "127.0.0.1" || host == own || host == short_name(own) ||
        short_name(host) == own;
}

/// Returns the whole number that the variable holds, or -1 if it holds none.
long number_of_variable(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr || *text == '\0') return -1;
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    return *end == '\0' ? number : -1;
}

/// Returns true in a task of srun, which has a step. Shells of sbatch and salloc have none, or one
/// that Slurm reserves.
bool is_task_of_srun() {
    constexpr long last_step = 0xffff'fff0;
    const long step = number_of_variable("SLURM_STEP_ID");
    return step >= 0 && step < last_step;
}

void merge_host(std::vector<Host>& hosts, Host host) {
    const auto same = std::find_if(hosts.begin(), hosts.end(),
                                   [&](const Host& one) { return one.name == host.name; });
    if (same == hosts.end()) return hosts.push_back(std::move(host));
    same->ranks = std::max(same->ranks, 1) + std::max(host.ranks, 1);
}

/// Returns true for a DNS name or an address. A user may stand before it, as in ssh.
bool can_be_host(std::string_view name) {
    constexpr std::size_t longest = 253;
    const auto can_be_in_it = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '@';
    };
    return !name.empty() && name.size() <= longest && name.front() != '-' && name.front() != '.' &&
        std::all_of(name.begin(), name.end(), can_be_in_it);
}

int ranks_of(std::string_view text) {
    return whole_number("ranks of a host", text, 1, INT_MAX / 2);
}

}  // namespace

std::string own_host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

void add_host(std::vector<Host>& hosts, std::string_view entry) {
    const std::size_t colon = entry.find(':');
    Host host{std::string(entry.substr(0, colon)), 0};
    if (!can_be_host(host.name))
        throw Failure(exit_usage, fmt::format("'{}' is not the name of a host", printable(entry)));
    if (colon != std::string_view::npos) host.ranks = ranks_of(entry.substr(colon + 1));
    merge_host(hosts, std::move(host));
}

int read_hostfile(std::vector<Host>& hosts, std::istream& file) {
    int lines = 0;
    constexpr std::string_view slots = "slots=";
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string host;
        if (!(words >> host)) continue;
        for (std::string word; words >> word;)
            if (word.starts_with(slots)) host.append(":").append(word.substr(slots.size()));
        add_host(hosts, host);
        ++lines;
    }
    return lines;
}

bool is_rank() {
    return std::getenv("PMI_RANK") != nullptr || std::getenv("PMIX_RANK") != nullptr ||
        is_task_of_srun();
}

bool in_slurm_allocation() { return std::getenv("SLURM_JOB_ID") != nullptr; }

bool takes_other_machines(const Job& job) {
    if (!job.hosts.empty())
        return !std::all_of(job.hosts.begin(), job.hosts.end(),
                            [](const Host& host) { return is_this_machine(host.name); });
    if (is_rank() || !in_slurm_allocation()) return false;
    return std::max(number_of_variable("SLURM_JOB_NUM_NODES"), number_of_variable("SLURM_NNODES")) >
        1;
}

std::vector<Host> share_out(const Job& job) {
    std::vector<Host> hosts = job.hosts;
    int known = 0, unknown = 0;
    for (Host& host : hosts) {
        if (job.ranks_per_host > 0) host.ranks = job.ranks_per_host;
        known += host.ranks;
        unknown += host.ranks == 0;
    }
    const int left = std::max(job.size() - known, 0);
    for (Host& host : hosts)
        if (host.ranks == 0) host.ranks = std::max((left + unknown - 1) / unknown, 1);
    int room = 0;
    for (const Host& host : hosts) room += host.ranks;
    const int times = room > 0 ? (job.size() + room - 1) / room : 1;
    for (Host& host : hosts) host.ranks *= std::max(times, 1);
    return hosts;
}

}  // namespace heddle::mpiexec
