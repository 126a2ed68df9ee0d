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
    if (placement.map == Map::node) return Map::core;  // all ranks are on this node
    if (placement.map != Map::unset) return placement.map;
    if (placement.bind == Bind::socket) return Map::socket;
    if (placement.bind == Bind::numa) return Map::numa;
    if (placement.bind == Bind::l3cache) return Map::l3cache;
    return Map::core;
}

int object_of(const Core& core, Map map) {
    switch (map) {
        case Map::socket: return core.package;
        case Map::numa: return core.numa;
        case Map::l3cache: return core.l3cache;
        default: return 0;
    }
}

/// Returns the cores in groups, one for each object (package, node, cache) that ranks are dealt to.
std::vector<Group> split_cores(const std::vector<Core>& cores, Map map) {
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

/// The share of one rank in the cores of its group. `before` is the sum of the widths of the ranks
/// before it, `all` that of all ranks.
struct Part {
    std::size_t before = 0, width = 1, all = 1;
};

/// Returns the part's share of the cores, or all of them if they are too few for all ranks.
Threads share(const Group& group, const Part& part) {
    if (part.all > group.size()) return all_threads(group);
    Threads threads;
    const std::size_t end = (part.before + part.width) * group.size() / part.all;
    for (std::size_t i = part.before * group.size() / part.all; i < end; ++i)
        append(threads, *group[i]);
    return threads;
}

/// Returns `count` cores beginning with number `first`. After the last core it goes on at the
/// first.
Threads some_cores(const Group& group, std::size_t first, std::size_t count) {
    Threads threads;
    for (std::size_t i = 0; i < std::min(count, group.size()); ++i)
        append(threads, *group[(first + i) % group.size()]);
    return threads;
}

/// Returns the threads of all `cores` in the same package, NUMA node or cache as `home`.
Threads around(const std::vector<Core>& cores, const Core& home, Map map) {
    Threads threads;
    for (const Core& core : cores)
        if (object_of(core, map) == object_of(home, map)) append(threads, core);
    return threads;
}

std::size_t width_of(const Placement& placement, int threads) {
    return static_cast<std::size_t>(
        std::max(1, placement.cores_per_rank > 0 ? placement.cores_per_rank : threads));
}

/// Returns for each rank its part of the group that it is dealt to.
std::vector<Part> parts(const Placement& placement, const std::vector<int>& threads,
                        std::size_t groups) {
    std::vector<std::size_t> all(groups, 0);
    std::vector<Part> result;
    for (std::size_t rank = 0; rank < threads.size(); ++rank) {
        const std::size_t width = width_of(placement, threads[rank]);
        result.push_back({all[rank % groups], width, 0});
        all[rank % groups] += width;
    }
    for (std::size_t rank = 0; rank < result.size(); ++rank) result[rank].all = all[rank % groups];
    return result;
}

/// Makes the parts of a group equal if they exceed it. Every rank still gets a core.
void make_room(std::vector<Part>& parts, const std::vector<Group>& groups) {
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
        const std::size_t turn = rank % groups.size();
        const std::size_t ranks = (parts.size() - turn + groups.size() - 1) / groups.size();
        if (parts[rank].all > groups[turn].size()) parts[rank] = {rank / groups.size(), 1, ranks};
    }
}

/// Returns why ranks should not be bound. Returns an empty text if they should.
std::string why_not(const std::vector<Core>& cores, const std::vector<int>& threads,
                    const Surroundings& surroundings) {
    if (threads.size() > cores.size())
        return fmt::format("{} ranks outnumber {} cores", threads.size(), cores.size());
    if (surroundings.own || surroundings.busy == 0) return {};
    std::size_t wanted = static_cast<std::size_t>(surroundings.busy);
    for (const int own : threads) wanted += static_cast<std::size_t>(std::max(own, 1));
    if (wanted <= cores.size()) return {};
    return fmt::format("{} other {} on the {} cores; --bind-to share binds all the same",
                       surroundings.busy, surroundings.busy == 1 ? "thread runs" : "threads run",
                       cores.size());
}

/// Returns the binding to use: the user's, or the default.
Bind effective_bind(const Placement& placement) {
    if (placement.bind != Bind::unset) return placement.bind;
    return placement.cores_per_rank > 0 ? Bind::core : Bind::share;
}

}  // namespace

Bindings place(const Placement& placement, const std::vector<Core>& cores,
               const std::vector<int>& threads, const Surroundings& surroundings) {
    Bindings result;
    result.threads.resize(threads.size());
    const Bind bind = effective_bind(placement);
    if (bind == Bind::none) return result;
    const bool asked = placement.bind != Bind::unset || placement.map != Map::unset;
    if (bind == Bind::share)
        result.why_not = why_not(cores, threads, asked ? Surroundings{true, 0} : surroundings);
    if (!result.why_not.empty()) return result;

    const std::vector<Group> groups = split_cores(cores, effective_map(placement));
    std::vector<Part> taken = parts(placement, threads, groups.size());
    if (bind == Bind::share) make_room(taken, groups);
    for (std::size_t rank = 0; rank < threads.size(); ++rank) {
        const Group& group = groups[rank % groups.size()];
        const Part& part = taken[rank];
        const Core& home = *group[part.before % group.size()];
        Threads& own = result.threads[rank];
        switch (bind) {
            case Bind::unset:
            case Bind::none: break;
            case Bind::share: own = share(group, part); break;
            case Bind::core: own = some_cores(group, part.before, part.width); break;
            case Bind::socket: own = around(cores, home, Map::socket); break;
            case Bind::numa: own = around(cores, home, Map::numa); break;
            case Bind::l3cache: own = around(cores, home, Map::l3cache); break;
            case Bind::hwthread: {
                const Threads all = all_threads(group);
                own = {all[rank / groups.size() % all.size()]};
                break;
            }
        }
        std::sort(own.begin(), own.end());
    }
    return result;
}

std::string impossible_placement(const Placement& placement, const std::vector<Core>& cores,
                                 int ranks) {
    const auto wanted = static_cast<std::size_t>(placement.cores_per_rank);
    if (wanted == 0 || placement.bind == Bind::none) return {};
    const std::vector<Group> groups = split_cores(cores, effective_map(placement));
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

void report_bindings(const Bindings& bindings) {
    const std::string why = bindings.why_not.empty() ? "" : ": " + bindings.why_not;
    for (std::size_t rank = 0; rank < bindings.threads.size(); ++rank) {
        const std::vector<int>& threads = bindings.threads[rank];
        if (threads.empty())
            say(fmt::format("rank {} is not bound{}", rank, why));
        else
            say(fmt::format("rank {} is bound to cpu {}", rank, format_cpu_list(threads)));
    }
}

}  // namespace heddle::mpiexec
