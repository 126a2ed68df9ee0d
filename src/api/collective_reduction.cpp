// SPDX-License-Identifier: BSD-3-Clause
/// Reductions (MPI 5.0, 6.9 to 6.11).

#include "api/collective_forms.hpp"

namespace heddle::api {
namespace {

using coll::Collective;
using coll::Schedule;
using objects::Reduction;

std::string undefined(const Reduction& reduction) {
    return std::string("argument op: ") + reduction.operation->name + " is not defined for " +
        (reduction.type->name.empty() ? "a derived datatype" : reduction.type->name);
}

/// Sets the schedule's reduction.
int prepare(const Site& site, Op op, Type type) {
    site.schedule.reduction = Reduction(*op, *type);
    site.schedule.prepare_reduction();
    if (site.schedule.reduction.defined()) [[likely]]
        return MPI_SUCCESS;
    return site.fail(MPI_ERR_OP, undefined(site.schedule.reduction));
}

/// The buffers of a reduction. They are equal for MPI_IN_PLACE.
struct Operands {
    std::byte* in = nullptr;   ///< nullptr if this process has no operand
    std::byte* out = nullptr;  ///< nullptr if this process gets no result
};

/// Measures the buffers: `given` elements of this process, `taken` of the result.
int measure(const Site& site, In in, Count given, Result out, Count taken, Type type, Part part,
            Operands& operands) {
    const bool in_place = part.root && part.member && site.in_place(in.address);
    const bool packed = site.schedule.reduction.packed;
    Data from, to;
    if (part.root)
        if (const int error = site.measure(out, in_place ? given : taken, type, 1,
                                           in_place ? Use::in_out : Use::out, packed, to))
            return error;
    if (part.member && !in_place)
        if (const int error = site.measure(in, given, type, 1, Use::in, packed, from)) return error;
    if (const int error = site.apart(from.memory, to.memory)) return error;
    operands = {in_place ? to.address : from.address, to.address};
    return MPI_SUCCESS;
}

constexpr Part everyone{true, true};

std::uint64_t number(Count count) noexcept { return static_cast<std::uint64_t>(count.value); }

int reduce(const Site& site, In in, Result out, Count count, Type type, Op op, Root root) {
    Operands operands;
    const Part part = site.part(root);
    // For other processes of the root's group neither the buffer nor its elements are significant.
    if (part.root || part.member)
        if (const int error = prepare(site, op, type)) return error;
    if (const int error = measure(site, in, count, out, count, type, part, operands)) return error;
    if (site.inter())
        coll::inter::reduce(site.schedule, operands.in, operands.out, number(count), root.rank);
    else
        coll::reduce(site.schedule, operands.in, operands.out, number(count), root.rank);
    return MPI_SUCCESS;
}

int allreduce(const Site& site, In in, Result out, Count count, Type type, Op op) {
    Operands operands;
    if (const int error = prepare(site, op, type)) return error;
    if (const int error = measure(site, in, count, out, count, type, everyone, operands))
        return error;
    if (site.inter()) {
        coll::inter::allreduce(site.schedule, operands.in, operands.out, number(count));
        return MPI_SUCCESS;
    }
    coll::allreduce(site.schedule, operands.in, operands.out, number(count));
    return MPI_SUCCESS;
}

int in_one_group(const Site& site) {
    if (!site.inter()) return MPI_SUCCESS;
    return site.fail(MPI_ERR_COMM,
                     "argument comm: ranks of an intercommunicator have no order "
                     "between them to combine in");
}

int scan(const Site& site, In in, Result out, Count count, Type type, Op op) {
    Operands operands;
    if (const int error = in_one_group(site)) return error;
    if (const int error = prepare(site, op, type)) return error;
    if (const int error = measure(site, in, count, out, count, type, everyone, operands))
        return error;
    coll::scan(site.schedule, operands.in, operands.out, number(count));
    return MPI_SUCCESS;
}

/// Rank 0 has no result: its result buffer is ignored unless its operand is there. A process that
/// is alone needs no operand: its buffer is checked, and not read.
int exscan(const Site& site, In in, Result out, Count count, Type type, Op op) {
    Operands operands;
    const Part part{site.schedule.rank != 0 || is_in_place(in.address), true};
    if (const int error = in_one_group(site)) return error;
    if (const int error = prepare(site, op, type)) return error;
    const bool alone = site.schedule.size == 1;
    if (alone) site.schedule.reduction.packed = false;
    if (const int error = measure(site, in, count, out, count, type, part, operands)) return error;
    if (!alone) coll::exscan(site.schedule, operands.in, operands.out, number(count));
    return MPI_SUCCESS;
}

/// `counts(rank)` is how many elements of the result a rank of the group gets.
template <class Counts>
int reduce_scatter_all(const Site& site, Collective what, In in, Result out, Type type, Op op,
                       Counts&& counts) {
    if (const int error = prepare(site, op, type)) return error;
    Schedule& schedule = site.schedule;
    const auto size = static_cast<std::size_t>(site.communicator.size());
    const auto starts = schedule.scratch_of<std::uint64_t>(size + 1);
    std::int64_t total = 0;
    for (std::size_t rank = 0; rank < size; ++rank) {
        starts[rank] = static_cast<std::uint64_t>(total);
        if (__builtin_add_overflow(total, counts(static_cast<std::int32_t>(rank)), &total))
            return site.fail(MPI_ERR_COUNT, "more than 2^63 elements in all");
    }
    starts[size] = static_cast<std::uint64_t>(total);
    Operands operands;
    objects::Process& process = *site.thread.process;
    if (const int error = measure(site, in, Count(process, total), out,
                                  Count(process, counts(schedule.rank)), type, everyone, operands))
        return error;
    if (site.inter())
        coll::inter::reduce_scatter(schedule, operands.in, operands.out, starts);
    else
        coll::reduce_scatter(schedule, what, operands.in, operands.out, starts);
    return MPI_SUCCESS;
}

int reduce_scatter_block(const Site& site, In in, Result out, ResultCount count, Type type, Op op) {
    return reduce_scatter_all(site, Collective::reduce_scatter_block, in, out, type, op,
                              [&](std::int32_t) { return count.value; });
}

int reduce_scatter(const Site& site, In in, Result out, ResultGroupCounts counts, Type type,
                   Op op) {
    return reduce_scatter_all(site, Collective::reduce_scatter, in, out, type, op,
                              [&](std::int32_t rank) { return counts[rank]; });
}

template <class Buffer>
int check_operand(Thread& thread, const Buffer& buffer, Count count, Type type) {
    if (is_memory(buffer.address) || count.value == 0) return MPI_SUCCESS;
    if (buffer.address == nullptr && !type->contiguous) return MPI_SUCCESS;
    return refuse(thread, nullptr, MPI_ERR_BUFFER, Buffer::name, no_memory(buffer.address));
}

/// Returns whether an element of one may lie where one of the other does. If elements have gaps,
/// only buffers that begin at the same place are known to be wrong.
bool may_overlap(const std::byte* one, const std::byte* other, std::uint64_t count,
                 const objects::Datatype& type) noexcept {
    if (count == 0 || type.size == 0) return false;
    const auto apart = static_cast<std::uint64_t>(one < other ? other - one : one - other);
    return apart == 0 || (type.contiguous && apart < count * static_cast<std::uint64_t>(type.size));
}

int reduce_local(Thread& thread, LocalIn in, LocalResult inout, Count count, Type type, Op op) {
    const Reduction reduction(*op, *type);
    if (!reduction.defined())
        return objects::fail(thread, nullptr, MPI_ERR_OP, undefined(reduction));
    if (const int error = check_operand(thread, in, count, type)) return error;
    if (const int error = check_operand(thread, inout, count, type)) return error;
    if (may_overlap(in.address, inout.address, static_cast<std::uint64_t>(count.value), *type))
        return refuse(thread, nullptr, MPI_ERR_BUFFER, LocalIn::name,
                      "it overlaps inoutbuf, and the two must be apart");
    reduction.combine(in.address, inout.address, inout.address,
                      static_cast<std::size_t>(count.value));
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

HEDDLE_COLLECTIVE_C(7, Reduce, 8, Ireduce, 9, Reduce_init, reduce)
HEDDLE_COLLECTIVE_C(6, Allreduce, 7, Iallreduce, 8, Allreduce_init, allreduce)
HEDDLE_COLLECTIVE_C(6, Scan, 7, Iscan, 8, Scan_init, scan)
HEDDLE_COLLECTIVE_C(6, Exscan, 7, Iexscan, 8, Exscan_init, exscan)
HEDDLE_COLLECTIVE_C(6, Reduce_scatter_block, 7, Ireduce_scatter_block, 8, Reduce_scatter_block_init,
                    reduce_scatter_block)
HEDDLE_COLLECTIVE_C(6, Reduce_scatter, 7, Ireduce_scatter, 8, Reduce_scatter_init, reduce_scatter)
MPI_ENTRY_C(5, Reduce_local, reduce_local)
