// SPDX-License-Identifier: BSD-3-Clause
#include "coll/inter.hpp"

#include "coll/collectives.hpp"

namespace heddle::coll::inter {
namespace {

/// Sends the data that all of a group have to all of the other. Each process gets them from one.
void cross(Schedule& schedule, const std::byte* ours, std::byte* theirs, std::uint64_t bytes) {
    const std::int32_t group = schedule.communicator.size();
    schedule.receive(theirs, bytes, schedule.rank % schedule.size);
    for (std::int32_t to = schedule.rank; to < schedule.size; to += group)
        schedule.send(ours, bytes, to);
}

std::uint64_t bytes_of(const Schedule& schedule, std::uint64_t count) {
    return count * schedule.reduction.element_bytes;
}

/// Returns the combination of the group, at its rank 0 only.
std::byte* combine_group(Schedule& schedule, const std::byte* in, std::uint64_t count) {
    std::byte* const all =
        schedule.rank == 0 ? schedule.scratch(bytes_of(schedule, count)) : nullptr;
    schedule.enter_group();
    coll::reduce(schedule, in, all, count, 0);
    schedule.leave_group();
    return all;
}

}  // namespace

void barrier(Schedule& schedule) {
    schedule.enter_group();
    coll::barrier(schedule);
    schedule.leave_group();
    cross(schedule, nullptr, nullptr, 0);
}

void bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes, std::int32_t root) {
    if (root == MPI_PROC_NULL) return;
    if (root == MPI_ROOT) return schedule.send(data, bytes, 0);
    if (schedule.rank == 0) {
        schedule.receive(data, bytes, root);
        schedule.wait();
    }
    schedule.enter_group();
    coll::bcast(schedule, data, bytes, 0);
    schedule.leave_group();
}

void gather(Schedule& schedule, Block mine, const Blocks& all, std::int32_t root) {
    if (root == MPI_PROC_NULL) return;
    if (root != MPI_ROOT) return schedule.send(mine.data, mine.bytes, root);
    for (std::int32_t from = 0; from < schedule.size; ++from)
        schedule.receive(all[from].data, all[from].bytes, from);
}

void scatter(Schedule& schedule, const Blocks& all, Block mine, std::int32_t root) {
    if (root == MPI_PROC_NULL) return;
    if (root != MPI_ROOT) return schedule.receive(mine.data, mine.bytes, root);
    for (std::int32_t to = 0; to < schedule.size; ++to)
        schedule.send(all[to].data, all[to].bytes, to);
}

void allgather(Schedule& schedule, Block mine, const Blocks& all) {
    for (std::int32_t from = 0; from < schedule.size; ++from)
        schedule.receive(all[from].data, all[from].bytes, from);
    for (std::int32_t to = 0; to < schedule.size; ++to) schedule.send(mine.data, mine.bytes, to);
}

void alltoall(Schedule& schedule, const Blocks& out, const Blocks& in) {
    for (std::int32_t from = 0; from < schedule.size; ++from)
        schedule.receive(in[from].data, in[from].bytes, from);
    for (std::int32_t to = 0; to < schedule.size; ++to)
        schedule.send(out[to].data, out[to].bytes, to);
}

void reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
            std::int32_t root) {
    if (root == MPI_PROC_NULL) return;
    if (root == MPI_ROOT) return schedule.receive(out, bytes_of(schedule, count), 0);
    std::byte* const all = combine_group(schedule, in, count);
    if (schedule.rank == 0) schedule.send(all, bytes_of(schedule, count), root);
}

void allreduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count) {
    std::byte* const ours = schedule.scratch(bytes_of(schedule, count));
    schedule.enter_group();
    coll::allreduce(schedule, in, ours, count);
    schedule.leave_group();
    cross(schedule, ours, out, bytes_of(schedule, count));
}

void reduce_scatter(Schedule& schedule, const std::byte* in, std::byte* out,
                    std::span<const std::uint64_t> starts) {
    const std::uint64_t each = schedule.reduction.element_bytes;
    const std::uint64_t total = starts.back() * each;
    const auto bytes = [&](std::size_t rank) { return (starts[rank + 1] - starts[rank]) * each; };
    // No process knows how the other group divides its result, so that it crosses over in one
    // piece.
    std::byte* const ours = combine_group(schedule, in, starts.back());
    std::byte* theirs = nullptr;
    if (schedule.rank == 0) {
        theirs = schedule.scratch(total);
        schedule.receive(theirs, total, 0);
        schedule.send(ours, total, 0);
        schedule.wait();
    }
    const auto blocks = schedule.scratch_of<Block>(starts.size() - 1);
    for (std::size_t i = 0; i < blocks.size(); ++i)
        blocks[i] = {theirs == nullptr ? nullptr : theirs + starts[i] * each, bytes(i)};
    schedule.enter_group();
    direct_scatter(schedule, Blocks(blocks), {out, bytes(static_cast<std::size_t>(schedule.rank))},
                   0);
    schedule.leave_group();
}

}  // namespace heddle::coll::inter
