// SPDX-License-Identifier: BSD-3-Clause
/// Groups (MPI 5.0, 7.3).

#include <algorithm>
#include <span>

#include "api/entry.hpp"
#include "api/object_arguments.hpp"

namespace heddle::api {
namespace {

using core::Thread;
using objects::Members;

/// Checks a list of ranks of a group, as most functions here take one.
int check_list(Thread& thread, int n, const void* list) {
    if (n < 0)
        return objects::fail(thread, nullptr, MPI_ERR_ARG,
                             "argument n: " + std::to_string(n) + " is negative");
    if (n > 0 && list == nullptr)
        return objects::fail(thread, nullptr, MPI_ERR_ARG, "argument ranks: a null pointer");
    return MPI_SUCCESS;
}

int outside_group(Thread& thread, const objects::Group& group, int rank) {
    return objects::fail(thread, nullptr, MPI_ERR_RANK,
                         "argument ranks: rank " + std::to_string(rank) +
                             " is not in the group, which has " + std::to_string(group.size()) +
                             " processes");
}

/// Marks each rank in `ranks`. Ranks must be the group's, and none twice.
int mark(Thread& thread, const objects::Group& group, std::span<const int> ranks,
         std::vector<bool>& marked) {
    marked.assign(group.processes.size(), false);
    for (const int rank : ranks) {
        if (rank < 0 || rank >= group.size()) return outside_group(thread, group, rank);
        if (marked[static_cast<std::size_t>(rank)])
            return objects::fail(
                thread, nullptr, MPI_ERR_RANK,
                "argument ranks: rank " + std::to_string(rank) + " is there twice");
        marked[static_cast<std::size_t>(rank)] = true;
    }
    return MPI_SUCCESS;
}

/// Hands out a new group. `from` is the group that it comes from.
int hand_out_group(Thread& thread, const objects::Group& from, Members members, MPI_Group& result) {
    Process& process = *thread.process;
    result =
        objects::handle_of(process, objects::make_group(process, std::move(members), from.session));
    return MPI_SUCCESS;
}

int group_size(Thread&, Group group, Out<int> size) {
    *size = group->size();
    return MPI_SUCCESS;
}

int group_rank(Thread&, Group group, Out<int> rank) {
    *rank = group->rank;
    return MPI_SUCCESS;
}

int translate_ranks(Thread& thread, Group from, Raw<int> n, Array<const int> ranks, Group to,
                    Array<int> results) {
    if (const int error = check_list(thread, n.value, ranks.value)) return error;
    if (const int error = check_list(thread, n.value, results.value)) return error;
    const std::span<const int> wanted(ranks.value, static_cast<std::size_t>(n.value));
    Members processes;
    for (const int rank : wanted) {
        if (rank != MPI_PROC_NULL && (rank < 0 || rank >= from->size()))
            return outside_group(thread, *from, rank);
        processes.push_back(
            rank == MPI_PROC_NULL ? -1 : from->processes[static_cast<std::size_t>(rank)]);
    }
    const Members found = objects::ranks_of(processes, to->processes);
    for (std::size_t i = 0; i < wanted.size(); ++i)
        results.value[i] = wanted[i] == MPI_PROC_NULL ? MPI_PROC_NULL : found[i];
    return MPI_SUCCESS;
}

int compare_groups(Thread&, Group first, Group second, Out<int> result) {
    *result = objects::compared(first->processes, second->processes);
    return MPI_SUCCESS;
}

template <Members (*operation)(objects::MembersView, objects::MembersView)>
int combine(Thread& thread, Group first, Group second, Out<MPI_Group> result) {
    return hand_out_group(thread, *first, operation(first->processes, second->processes), *result);
}

int include(Thread& thread, const objects::Group& group, std::span<const int> ranks,
            MPI_Group& result) {
    std::vector<bool> marked;
    if (const int error = mark(thread, group, ranks, marked)) return error;
    Members members;
    members.reserve(ranks.size());
    for (const int rank : ranks) members.push_back(group.processes[static_cast<std::size_t>(rank)]);
    return hand_out_group(thread, group, std::move(members), result);
}

int exclude(Thread& thread, const objects::Group& group, std::span<const int> ranks,
            MPI_Group& result) {
    std::vector<bool> marked;
    if (const int error = mark(thread, group, ranks, marked)) return error;
    Members members;
    members.reserve(marked.size() - ranks.size());
    for (std::size_t i = 0; i < marked.size(); ++i)
        if (!marked[i]) members.push_back(group.processes[i]);
    return hand_out_group(thread, group, std::move(members), result);
}

using Choose = int (*)(Thread&, const objects::Group&, std::span<const int>, MPI_Group&);

template <Choose choose>
int by_list(Thread& thread, Group group, Raw<int> n, Array<const int> ranks,
            Out<MPI_Group> result) {
    if (const int error = check_list(thread, n.value, ranks.value)) return error;
    return choose(thread, *group, {ranks.value, static_cast<std::size_t>(n.value)}, *result);
}

/// Replaces triplets (first, last, stride) by the list that they stand for.
template <Choose choose>
int by_ranges(Thread& thread, Group group, Raw<int> n, Array<int[3]> ranges,
              Out<MPI_Group> result) {
    if (const int error = check_list(thread, n.value, ranges.value)) return error;
    std::vector<int> ranks;
    for (int i = 0; i < n.value; ++i) {
        const auto [first, last, stride] = std::to_array(ranges.value[i]);
        if (stride == 0)
            return objects::fail(thread, nullptr, MPI_ERR_ARG, "argument ranges: a stride of zero");
        for (const int end : {first, last})
            if (end < 0 || end >= group->size()) return outside_group(thread, *group, end);
        for (std::int64_t rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride)
            ranks.push_back(static_cast<int>(rank));
    }
    return choose(thread, *group, ranks, *result);
}

int group_free(Thread& thread, InOut<MPI_Group> group) {
    const Group found(*thread.process, *group);
    if (found.object == nullptr)
        return objects::fail(thread, nullptr, MPI_ERR_GROUP,
                             "argument group: " + found.wrong(nullptr));
    if (*group != MPI_GROUP_EMPTY) {
        found->take_handle();
        objects::drop(*thread.process, *found);
    }
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

int comm_group(Thread&, Comm comm, Out<MPI_Group> result) {
    comm->group->hand_out();
    *result = reinterpret_cast<MPI_Group>(comm->group);
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;
namespace objects = heddle::objects;

MPI_ENTRY(2, Group_size, group_size)
MPI_ENTRY(2, Group_rank, group_rank)
MPI_ENTRY(5, Group_translate_ranks, translate_ranks)
MPI_ENTRY(3, Group_compare, compare_groups)
MPI_ENTRY(3, Group_union, combine<objects::united>)
MPI_ENTRY(3, Group_intersection, combine<objects::intersected>)
MPI_ENTRY(3, Group_difference, combine<objects::without>)
MPI_ENTRY(4, Group_incl, by_list<include>)
MPI_ENTRY(4, Group_excl, by_list<exclude>)
MPI_ENTRY(4, Group_range_incl, by_ranges<include>)
MPI_ENTRY(4, Group_range_excl, by_ranges<exclude>)
MPI_ENTRY(1, Group_free, group_free)
MPI_ENTRY(2, Comm_group, comm_group)
