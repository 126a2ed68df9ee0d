// SPDX-License-Identifier: BSD-3-Clause
#include "coll/collectives.hpp"

#include "coll/levels.hpp"
#include "coll/shared_scratch.hpp"
#include "objects/process.hpp"

namespace heddle::coll {
namespace {

/// Makes the algorithm for `bytes` write its steps. `operation` says whether operands may change
/// places.
void write(Schedule& schedule, Collective what, std::uint64_t bytes, const Arguments& arguments,
           Needs operation = Needs::commutative) {
    choose(schedule, what, bytes, operation).write(schedule, arguments);
}

void write_reduction(Schedule& schedule, Collective what, std::uint64_t count,
                     const Arguments& arguments) {
    const objects::Reduction& reduction = schedule.reduction;
    if (count * reduction.element_bytes == 0) return;
    write(schedule, what, count * reduction.element_bytes, arguments,
          reduction.commutative() ? Needs::commutative : Needs::nothing);
}

/// Returns whether it is known that the ranks are on one node.
bool is_on_one_node(const Schedule& schedule) noexcept {
    return schedule.communicator.nodes == nullptr && schedule.writer.process->numbers.is_one_node();
}

}  // namespace

Needs needs_met(const Schedule& schedule, const Call& call) {
    Needs met = call.has;
    if (schedule.blocking()) met = met | Needs::blocking;
    if (!is_on_one_node(schedule) && may_go_in_levels(schedule, call)) met = met | Needs::nodes;
    // Unless an element fits into a slot, no rank uses scratch memory.
    if (may_have_scratch(schedule) && schedule.reduction.element_bytes <= ScratchLayout::slot_bytes)
        met = met | Needs::shared;
    return met;
}

const Algorithm& choose(const Schedule& schedule, Collective what, std::uint64_t bytes,
                        Needs operation) {
    const tool::Settings& settings = schedule.writer.process->settings;
    Call call{what, schedule.size, bytes, operation};
    call.has = needs_met(schedule, call);
    const Algorithm& algorithm = select(call, settings);
    if (!includes(algorithm.needs, Needs::shared) || find_scratch(schedule)) return algorithm;
    call.has = without(call.has, Needs::shared);
    return select(call, settings);
}

// If all ranks know that there are no bytes, no rank waits for another.

void barrier(Schedule& schedule) { write(schedule, Collective::barrier, 0, {}); }

void bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes, std::int32_t root) {
    if (bytes == 0) return;
    write(schedule, Collective::bcast, bytes, {.out = data, .count = bytes, .root = root});
}

void reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
            std::int32_t root) {
    write_reduction(schedule, Collective::reduce, count,
                    {.in = in, .out = out, .count = count, .root = root});
}

void allreduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count) {
    write_reduction(schedule, Collective::allreduce, count, {.in = in, .out = out, .count = count});
}

void scan(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count) {
    write_reduction(schedule, Collective::scan, count, {.in = in, .out = out, .count = count});
}

void exscan(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count) {
    write_reduction(schedule, Collective::exscan, count, {.in = in, .out = out, .count = count});
}

void reduce_scatter(Schedule& schedule, Collective what, const std::byte* in, std::byte* out,
                    std::span<const std::uint64_t> starts) {
    write(schedule, what, 0, {.in = in, .out = out, .starts = starts});
}

void gather(Schedule& schedule, Collective what, Block mine, const Blocks& all, std::int32_t root) {
    if (what == Collective::gather && mine.bytes == 0) return;
    write(schedule, what, what == Collective::gather ? mine.bytes : 0,
          {.root = root, .mine = mine, .to = all});
}

void scatter(Schedule& schedule, Collective what, const Blocks& all, Block mine,
             std::int32_t root) {
    if (what == Collective::scatter && mine.bytes == 0) return;
    write(schedule, what, what == Collective::scatter ? mine.bytes : 0,
          {.root = root, .mine = mine, .from = all});
}

void allgather(Schedule& schedule, Block mine, const Blocks& all) {
    if (!all.regular())
        return write(schedule, Collective::allgatherv, 0, {.mine = mine, .to = all});
    if (mine.bytes != 0)
        write(schedule, Collective::allgather, mine.bytes, {.mine = mine, .to = all});
}

void alltoall(Schedule& schedule, Collective what, const Blocks& out, const Blocks& in,
              bool in_place) {
    if (what == Collective::alltoall && in[0].bytes == 0) return;
    write(schedule, what, what == Collective::alltoall ? in[0].bytes : 0,
          {.from = out, .to = in, .in_place = in_place});
}

}  // namespace heddle::coll
