// SPDX-License-Identifier: BSD-3-Clause
#include "objects/group.hpp"

#include <algorithm>
#include <unordered_map>

#include "objects/process.hpp"

namespace heddle::objects {
namespace {

class Ranks {
public:
    explicit Ranks(MembersView group) {
        ranks_.reserve(group.size());
        for (std::size_t i = 0; i < group.size(); ++i)
            ranks_.emplace(group[i], static_cast<std::int32_t>(i));
    }
    std::int32_t of(std::int32_t process) const {
        const auto at = ranks_.find(process);
        return at == ranks_.end() ? MPI_UNDEFINED : at->second;
    }
    bool holds(std::int32_t process) const { return ranks_.contains(process); }

private:
    std::unordered_map<std::int32_t, std::int32_t> ranks_;
};

/// Returns the members of `first` that are, or are not, in `second`.
Members filtered(MembersView first, MembersView second, bool in_second) {
    const Ranks other(second);
    Members result;
    for (const std::int32_t process : first)
        if (other.holds(process) == in_second) result.push_back(process);
    return result;
}

/// Returns the part of MPI_COMM_WORLD's group that is equal to these processes, or nothing.
MembersView part_of_world(const Process& process, MembersView processes) {
    if (process.world == nullptr || processes.empty() ||
        process.numbers.is_guest(processes.front()))
        return {};
    const MembersView world = process.world->group->processes;
    const auto first = static_cast<std::size_t>(process.numbers.rank_of(processes.front()));
    if (processes.size() > world.size() - first) return {};
    const MembersView part = world.subspan(first, processes.size());
    return std::ranges::equal(part, processes) ? part : MembersView{};
}

}  // namespace

Group& make_group(Process& process, std::vector<std::int32_t> processes, Session* session) {
    Group* group = Process::make(process.groups, core::Kind::group);
    if (group == nullptr) throw std::bad_alloc();
    group->handles.store(0, relaxed);
    group->processes = part_of_world(process, processes);
    if (group->processes.empty()) {
        group->own = std::move(processes);
        group->processes = group->own;
    }
    const MembersView members = group->processes;
    const auto at = std::find(members.begin(), members.end(), process.number());
    group->rank =
        at == members.end() ? MPI_UNDEFINED : static_cast<std::int32_t>(at - members.begin());
    process.count_mentions(members, +1);
    group->session = session;
    if (session != nullptr) session->retain();
    return *group;
}

void drop(Process& process, Group& group) noexcept {
    if (!group.release_reference()) return;
    process.count_mentions(group.processes, -1);
    group.processes = {};
    Members().swap(group.own);  // an assignment of {} would keep the memory
    if (group.session != nullptr) drop(process, *group.session);
    group.session = nullptr;
    Process::destroy(process.groups, group);
}

MPI_Group handle_of(Process& process, Group& group) noexcept {
    if (group.size() != 0) {
        group.become_handle();
        return reinterpret_cast<MPI_Group>(&group);
    }
    if (&group != process.empty_group) drop(process, group);
    return MPI_GROUP_EMPTY;
}

Members ranks_of(MembersView processes, MembersView group) {
    const Ranks ranks(group);
    Members result;
    result.reserve(processes.size());
    for (const std::int32_t process : processes) result.push_back(ranks.of(process));
    return result;
}

Members united(MembersView first, MembersView second) {
    Members result(first.begin(), first.end());
    const Members rest = filtered(second, first, false);
    result.insert(result.end(), rest.begin(), rest.end());
    return result;
}

Members intersected(MembersView first, MembersView second) { return filtered(first, second, true); }

Members without(MembersView first, MembersView second) { return filtered(first, second, false); }

int compared(MembersView first, MembersView second) {
    if (std::ranges::equal(first, second)) return MPI_IDENT;
    if (first.size() != second.size()) return MPI_UNEQUAL;
    return intersected(first, second).size() == first.size() ? MPI_SIMILAR : MPI_UNEQUAL;
}

int weaker(int first, int second) noexcept {
    for (const int relation : {MPI_UNEQUAL, MPI_SIMILAR})
        if (first == relation || second == relation) return relation;
    return MPI_IDENT;
}

}  // namespace heddle::objects
