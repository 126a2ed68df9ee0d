// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "coll/algorithms.hpp"

namespace heddle::coll {
namespace {

/// Calls result(operand) for each combination of ranks that stand directly to the left of those in
/// the result so far. `block` is this process's input in memory that may be overwritten. It becomes
/// the combination of ever larger neighbourhoods.
template <class Result>
void double_neighbourhoods(Schedule& schedule, std::byte* block, std::uint64_t count,
                           std::uint64_t bytes, Result&& result) {
    std::byte* operand = schedule.scratch(bytes);
    for (std::int32_t distance = 1; distance < schedule.size; distance *= 2) {
        const std::int32_t peer = schedule.rank ^ distance;
        if (peer >= schedule.size) continue;
        schedule.receive(operand, bytes, peer);
        schedule.send(block, bytes, peer);
        schedule.wait();
        if (peer < schedule.rank) {
            result(operand);
            schedule.combine(operand, block, count);
        } else {
            schedule.combine(block, operand, count);
            std::swap(block, operand);
        }
    }
}

}  // namespace

void doubling_scan(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count) {
    const std::uint64_t bytes = count * schedule.reduction.element_bytes;
    std::byte* block = schedule.scratch(bytes);
    schedule.copy(in, block, bytes);
    schedule.copy(in, out, bytes);
    double_neighbourhoods(schedule, block, count, bytes,
                          [&](const std::byte* operand) { schedule.combine(operand, out, count); });
}

void doubling_exscan(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count) {
    const std::uint64_t bytes = count * schedule.reduction.element_bytes;
    std::byte* block = schedule.scratch(bytes);
    schedule.copy(in, block, bytes);
    bool first = true;
    double_neighbourhoods(schedule, block, count, bytes, [&](const std::byte* operand) {
        if (std::exchange(first, false))
            schedule.copy(operand, out, bytes);
        else
            schedule.combine(operand, out, count);
    });
}

}  // namespace heddle::coll
