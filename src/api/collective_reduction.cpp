// SPDX-License-Identifier: BSD-3-Clause
/// Reductions (MPI 5.0, 6.9 to 6.11).

#include "api/collective_forms.hpp"

namespace heddle::api {
namespace {

using coll::Schedule;
using objects::Reduction;

std::string undefined(const Reduction& reduction) {
    return std::string("argument op: ") + reduction.operation->name + " is not defined for " +
           (reduction.type->name.empty() ? "a derived datatype" : reduction.type->name);
}

/// Sets the schedule's reduction.
int prepare(const Site& site, Op op, Type type) {
    site.schedule.reduction = Reduction(*op, *type);
    if (site.schedule.reduction.defined()) [[likely]]
        return MPI_SUCCESS;
    return site.fail(MPI_ERR_OP, undefined(site.schedule.reduction));
}

/// The buffers of a reduction; equal for MPI_IN_PLACE.
struct Operands {
    std::byte* in = nullptr;
    std::byte* out = nullptr;  ///< nullptr: this process gets no result
};

/// Input of `blocks` blocks of count elements; `result`: this process gets one such block.
int measure(const Site& site, In in, Result out, Count count, Type type, std::int64_t blocks,
            bool result, Operands& operands) {
    const bool in_place = is_in_place(in.address);
    Data from, to;
    if (result)
        if (const int error = site.measure(out, count, type, in_place ? blocks : 1,
                                           in_place ? Use::in_out : Use::out, to))
            return error;
    if (!result || !in_place)
        if (const int error = site.measure(in, count, type, blocks, Use::in, from)) return error;
    operands = {result && in_place ? to.address : from.address, to.address};
    return MPI_SUCCESS;
}

int reduce(const Site& site, In in, Result out, Count count, Type type, Op op, Root root) {
    Operands operands;
    if (const int error = prepare(site, op, type)) return error;
    if (const int error = measure(site, in, out, count, type, 1, site.is(root), operands))
        return error;
    coll::reduce(site.schedule, operands.in, operands.out, static_cast<std::uint64_t>(count.value),
                 root.rank);
    return MPI_SUCCESS;
}

int allreduce(const Site& site, In in, Result out, Count count, Type type, Op op) {
    Operands operands;
    if (const int error = prepare(site, op, type)) return error;
    if (const int error = measure(site, in, out, count, type, 1, true, operands)) return error;
    coll::allreduce(site.schedule, operands.in, operands.out,
                    static_cast<std::uint64_t>(count.value));
    return MPI_SUCCESS;
}

int scan(const Site& site, In in, Result out, Count count, Type type, Op op) {
    Operands operands;
    if (const int error = prepare(site, op, type)) return error;
    if (const int error = measure(site, in, out, count, type, 1, true, operands)) return error;
    coll::scan(site.schedule, operands.in, operands.out, static_cast<std::uint64_t>(count.value));
    return MPI_SUCCESS;
}

/// Rank 0 has no result, and its buffer is not looked at unless its operand is there.
int exscan(const Site& site, In in, Result out, Count count, Type type, Op op) {
    Operands operands;
    const bool result = site.schedule.rank != 0 || is_in_place(in.address);
    if (const int error = prepare(site, op, type)) return error;
    if (const int error = measure(site, in, out, count, type, 1, result, operands)) return error;
    coll::exscan(site.schedule, operands.in, operands.out,
                 static_cast<std::uint64_t>(count.value));
    return MPI_SUCCESS;
}

int reduce_scatter_block(const Site& site, In in, Result out, ResultCount count, Type type,
                         Op op) {
    Operands operands;
    Schedule& schedule = site.schedule;
    const Count each(*site.thread.process, count.value);
    if (const int error = prepare(site, op, type)) return error;
    if (const int error = measure(site, in, out, each, type, schedule.size, true, operands))
        return error;
    const auto size = static_cast<std::size_t>(schedule.size);
    const auto starts = schedule.scratch_of<std::uint64_t>(size + 1);
    for (std::size_t i = 0; i <= size; ++i) starts[i] = i * static_cast<std::uint64_t>(count.value);
    coll::reduce_scatter(schedule, operands.in, operands.out, starts);
    return MPI_SUCCESS;
}

int reduce_scatter(const Site& site, In in, Result out, ResultCounts counts, Type type, Op op) {
    if (const int error = prepare(site, op, type)) return error;
    Schedule& schedule = site.schedule;
    const auto starts =
        schedule.scratch_of<std::uint64_t>(static_cast<std::size_t>(schedule.size) + 1);
    std::int64_t total = 0;
    for (std::int32_t rank = 0; rank < schedule.size; ++rank) {
        starts[static_cast<std::size_t>(rank)] = static_cast<std::uint64_t>(total);
        if (__builtin_add_overflow(total, counts[rank], &total))
            return site.fail(MPI_ERR_COUNT, "argument recvcounts: more than 2^63 elements in all");
    }
    starts[static_cast<std::size_t>(schedule.size)] = static_cast<std::uint64_t>(total);
    const bool in_place = is_in_place(in.address);
    const Count all(*site.thread.process, total);
    const Count mine(*site.thread.process, counts[schedule.rank]);
    Data from, to;
    if (const int error = site.measure(out, in_place ? all : mine, type, 1,
                                       in_place ? Use::in_out : Use::out, to))
        return error;
    if (!in_place)
        if (const int error = site.measure(in, all, type, 1, Use::in, from)) return error;
    coll::reduce_scatter(schedule, in_place ? to.address : from.address, to.address, starts);
    return MPI_SUCCESS;
}

int reduce_local(Thread& thread, LocalIn in, LocalResult inout, Count count, Type type, Op op) {
    const Reduction reduction(*op, *type);
    if (!reduction.defined())
        return objects::fail(thread, nullptr, MPI_ERR_OP, undefined(reduction));
    if (is_in_place(in.address) || is_in_place(inout.address))
        return objects::fail(thread, nullptr, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed here");
    if ((in.address == nullptr || inout.address == nullptr) && count.value != 0)
        return objects::fail(thread, nullptr, MPI_ERR_BUFFER,
                             "argument inbuf or inoutbuf: a null pointer");
    reduction.combine(in.address, inout.address, static_cast<std::size_t>(count.value));
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
