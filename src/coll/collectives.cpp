// SPDX-License-Identifier: BSD-3-Clause
#include "coll/collectives.hpp"

namespace heddle::coll {
namespace {

Algorithm choose(const Schedule& schedule, Collective what, std::uint64_t bytes) noexcept {
    return select({what, schedule.size, bytes, true}).algorithm;
}
Algorithm choose_reduction(const Schedule& schedule, Collective what,
                           std::uint64_t count) noexcept {
    const std::uint64_t bytes = count * schedule.reduction.element_bytes;
    return select({what, schedule.size, bytes, schedule.reduction.commutative()}).algorithm;
}

}  // namespace

void barrier(Schedule& schedule) {
    switch (choose(schedule, Collective::barrier, 0)) {
        case Algorithm::direct: return direct_barrier(schedule);
        default: return dissemination_barrier(schedule);
    }
}

void bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes, std::int32_t root) {
    switch (choose(schedule, Collective::bcast, bytes)) {
        case Algorithm::scatter_ring: return scatter_ring_bcast(schedule, data, bytes, root);
        default: return binomial_bcast(schedule, data, bytes, root);
    }
}

void reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
            std::int32_t root) {
    switch (choose_reduction(schedule, Collective::reduce, count)) {
        case Algorithm::scattered: return scattered_reduce(schedule, in, out, count, root);
        case Algorithm::ordered: return ordered_reduce(schedule, in, out, count, root);
        default: return binomial_reduce(schedule, in, out, count, root);
    }
}

void allreduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count) {
    switch (choose_reduction(schedule, Collective::allreduce, count)) {
        case Algorithm::direct: return direct_allreduce(schedule, in, out, count);
        case Algorithm::accumulated:
            if (schedule.blocking()) return accumulated_allreduce(schedule, in, out, count);
            [[fallthrough]];
        case Algorithm::scattered: return scattered_allreduce(schedule, in, out, count);
        default: return doubling_allreduce(schedule, in, out, count);
    }
}

void scan(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count) {
    doubling_scan(schedule, in, out, count);
}

void exscan(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count) {
    doubling_exscan(schedule, in, out, count);
}

void reduce_scatter(Schedule& schedule, const std::byte* in, std::byte* out,
                    std::span<const std::uint64_t> starts) {
    direct_reduce_scatter(schedule, in, out, starts, in == out);
}

void gather(Schedule& schedule, Collective what, Block mine, const Blocks& all, std::int32_t root) {
    const std::uint64_t bytes = what == Collective::gather ? mine.bytes : 0;
    switch (choose(schedule, what, bytes)) {
        case Algorithm::binomial: return binomial_gather(schedule, mine, all, root);
        default: return direct_gather(schedule, mine, all, root);
    }
}

void scatter(Schedule& schedule, Collective what, const Blocks& all, Block mine,
             std::int32_t root) {
    const std::uint64_t bytes = what == Collective::scatter ? mine.bytes : 0;
    switch (choose(schedule, what, bytes)) {
        case Algorithm::binomial: return binomial_scatter(schedule, all, mine, root);
        default: return direct_scatter(schedule, all, mine, root);
    }
}

void allgather(Schedule& schedule, Block mine, const Blocks& all) {
    schedule.copy(mine.data, all[schedule.rank].data, mine.bytes);
    const Algorithm algorithm = all.regular() ? choose(schedule, Collective::allgather, mine.bytes)
                                              : choose(schedule, Collective::allgatherv, 0);
    switch (algorithm) {
        case Algorithm::bruck: return bruck_allgather(schedule, all);
        case Algorithm::ring: return ring_allgather(schedule, all);
        default: return direct_allgather(schedule, all);
    }
}

void alltoall(Schedule& schedule, Collective what, const Blocks& out, const Blocks& in,
              bool in_place) {
    const Blocks from = in_place ? copied(schedule, out) : out;
    const std::uint64_t bytes = what == Collective::alltoall ? in[0].bytes : 0;
    switch (choose(schedule, what, bytes)) {
        case Algorithm::pairwise: return pairwise_alltoall(schedule, from, in);
        default: return direct_alltoall(schedule, from, in);
    }
}

}  // namespace heddle::coll
