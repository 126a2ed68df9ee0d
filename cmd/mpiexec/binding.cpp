// SPDX-License-Identifier: BSD-3-Clause
#include "binding.hpp"

#include <sched.h>

#include <algorithm>

#include "say.hpp"

namespace heddle::mpiexec {

namespace {

using Threads = std::vector<int>;
using Group = std::vector<const Core*>;

Map effective_map(const Placement& placement) {
    if (placement.map == Map::node) return Map::core;  // all are on this one
    if (placement.map != Map::unset) return placement.map;
    if (placement.bind == Bind::socket) return Map::socket;
    if (placement.bind == Bind::numa) return Map::numa;
    return Map::core;
}

int object_of(const Core& core, Map map) {
    return map == Map::socket ? core.package : map == Map::numa ? core.numa : 0;
}

/// The cores, split by what ranks are dealt out to.
std::vector<Group> split(const std::vector<Core>& cores, Map map) {
    std::vector<Group> groups;
    for (const Core& core : cores) {
        const auto same = [&](const Group& group) {
            return object_of(*group.front(), map) == object_of(core, map);
        };
        auto group = std::find_if(groups.begin(), groups.end(), same);
        if (group == groups.end()) group = groups.insert(groups.end(), Group{});
        group->push_back(&core);
    }
    return groups;
}

void append(Threads& threads, const Core& core) {
    threads.insert(threads.end(), core.threads.begin(), core.threads.end());
}

Threads all_threads(const Group& group) {
    Threads threads;
    for (const Core* core : group) append(threads, *core);
    return threads;
}

/// Part `index` of `count` nearly equal parts; all of it when there are too few cores.
Threads share(const Group& group, std::size_t index, std::size_t count) {
    if (count > group.size()) return all_threads(group);
    Threads threads;
    for (std::size_t i = index * group.size() / count; i < (index + 1) * group.size() / count; ++i)
        append(threads, *group[i]);
    return threads;
}

/// `count` cores from number `first` on, around the end.
Threads some_cores(const Group& group, std::size_t first, std::size_t count) {
    Threads threads;
    for (std::size_t i = 0; i < std::min(count, group.size()); ++i)
        append(threads, *group[(first + i) % group.size()]);
    return threads;
}

/// Everything in `cores` that lies in the same package or NUMA node as `home`.
Threads around(const std::vector<Core>& cores, const Core& home, Map map) {
    Threads threads;
    for (const Core& core : cores)
        if (object_of(core, map) == object_of(home, map)) append(threads, core);
    return threads;
}

}  // namespace

std::vector<std::vector<int>> place(const Placement& placement, const std::vector<Core>& cores,
                                    int ranks) {
    const auto count = static_cast<std::size_t>(ranks);
    std::vector<Threads> result(count);
    Bind bind = placement.bind;
    if (bind == Bind::share && placement.cores_per_rank > 0) bind = Bind::core;
    if (bind == Bind::none || (bind == Bind::share && count > cores.size())) return result;

    const std::vector<Group> groups = split(cores, effective_map(placement));
    const std::size_t width = static_cast<std::size_t>(std::max(1, placement.cores_per_rank));
    for (std::size_t rank = 0; rank < count; ++rank) {
        const std::size_t turn = rank % groups.size();
        const Group& group = groups[turn];
        const std::size_t index = rank / groups.size();
        const std::size_t neighbours = (count - turn + groups.size() - 1) / groups.size();
        const Core& home = *group[index * width % group.size()];
        Threads& threads = result[rank];
        switch (bind) {
            case Bind::none: break;
            case Bind::share: threads = share(group, index, neighbours); break;
            case Bind::core: threads = some_cores(group, index * width, width); break;
            case Bind::socket: threads = around(cores, home, Map::socket); break;
            case Bind::numa: threads = around(cores, home, Map::numa); break;
            case Bind::hwthread: {
                const Threads all = all_threads(group);
                threads = {all[index % all.size()]};
                break;
            }
        }
        std::sort(threads.begin(), threads.end());
    }
    return result;
}

std::string impossible_placement(const Placement& placement, const std::vector<Core>& cores,
                                 int ranks) {
    const auto wanted = static_cast<std::size_t>(placement.cores_per_rank);
    if (wanted == 0 || placement.bind == Bind::none) return {};
    const std::vector<Group> groups = split(cores, effective_map(placement));
    const auto fewer = [](const Group& a, const Group& b) { return a.size() < b.size(); };
    const std::size_t least = std::min_element(groups.begin(), groups.end(), fewer)->size();
    if (wanted > least)
        return fmt::format("PE={}: a rank gets {} cores, since there are no more{}", wanted, least,
                           groups.size() > 1 ? " in its part of the machine" : "");
    if (wanted * static_cast<std::size_t>(ranks) > cores.size())
        return fmt::format(
            "PE={}: {} ranks would take {} cores, and {} may be used; ranks share them", wanted,
            ranks, wanted * static_cast<std::size_t>(ranks), cores.size());
    return {};
}

bool bind_here(const std::vector<int>& threads) noexcept {
    if (threads.empty()) return true;
    const int most = threads.back() + 1;
    cpu_set_t* set = CPU_ALLOC(most);
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(bytes, set);
    for (int thread : threads) CPU_SET_S(thread, bytes, set);
    const bool done = ::sched_setaffinity(0, bytes, set) == 0;
    CPU_FREE(set);
    return done;
}

void report_bindings(const std::vector<std::vector<int>>& bindings) {
    for (std::size_t rank = 0; rank < bindings.size(); ++rank) {
        if (bindings[rank].empty())
            say(fmt::format("rank {} is not bound", rank));
        else
            say(fmt::format("rank {} is bound to cpu {}", rank, format_cpu_list(bindings[rank])));
    }
}

}  // namespace heddle::mpiexec
