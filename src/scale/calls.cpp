// SPDX-License-Identifier: BSD-3-Clause
#include "scale/calls.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <new>

#include "coll/collectives.hpp"

namespace heddle::scale {
namespace {

using coll::Collective;
using enum coll::Collective;

constexpr std::int32_t root = 0;

/// Returns the i-th byte that one rank has for another.
std::byte pattern(std::int32_t from, std::int32_t to, std::uint64_t i) noexcept {
    const auto mixed = static_cast<std::uint64_t>(from) * 131 +
        static_cast<std::uint64_t>(to) * 31 + i * 7 + (i >> 8);
    return static_cast<std::byte>(mixed);
}

/// Returns an operand. Sums of operands are exact, in any order.
double operand(std::int32_t rank, std::uint64_t i) noexcept {
    return static_cast<double>(rank) + static_cast<double>(i % 7);
}
/// Returns the sum over the first `ranks` ranks.
double sum_of(std::int32_t ranks, std::uint64_t i) noexcept {
    const auto number = static_cast<double>(ranks);
    return number * (number - 1) / 2 + number * static_cast<double>(i % 7);
}

/// Stores a value as an element of the call.
void put(std::byte* at, std::uint64_t i, double value, bool doubles) noexcept {
    const auto whole = static_cast<std::uint64_t>(value);
    const void* const from = doubles ? static_cast<const void*>(&value) : &whole;
    std::memcpy(at + i * sizeof value, from, sizeof value);
}
double got(const std::byte* at, std::uint64_t i, bool doubles) noexcept {
    double value = 0;
    std::uint64_t whole = 0;
    std::memcpy(doubles ? static_cast<void*>(&value) : &whole, at + i * sizeof value, sizeof value);
    return doubles ? value : static_cast<double>(whole);
}

bool has_pattern(const std::byte* at, std::uint64_t bytes, std::int32_t from,
                 std::int32_t to) noexcept {
    for (std::uint64_t i = 0; i < bytes; ++i)
        if (at[i] != pattern(from, to, i)) return false;
    return true;
}

}  // namespace

const std::vector<Collective>& CollectiveCall::operations() {
    static const std::vector<Collective> all = {barrier,   bcast,    reduce,
                                                allreduce, gather,   allgather,
                                                scatter,   alltoall, reduce_scatter_block,
                                                scan,      exscan};
    return all;
}

std::optional<Collective> CollectiveCall::named(std::string_view name) {
    const auto alike = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) ==
            std::tolower(static_cast<unsigned char>(b));
    };
    for (const Collective what : operations()) {
        const std::string_view own = coll::name_of(what);
        if (std::equal(own.begin(), own.end(), name.begin(), name.end(), alike)) return what;
    }
    return std::nullopt;
}

CollectiveCall::CollectiveCall(Ranks& ranks, const CallSettings& settings)
    : ranks_(ranks), settings_(settings), reduction_(ranks.sum(settings.doubles)) {
    const auto size = static_cast<std::uint64_t>(ranks.size());
    if (settings.what == reduce_scatter_block)
        for (std::uint64_t piece = 0; piece <= size; ++piece) starts_.push_back(piece * count());
    if (!settings.with_data) {
        nowhere_ = platform::reserve(2 * size * settings.bytes + 1);
        if (!nowhere_) throw std::bad_alloc();
        return;
    }
    buffers_.resize(size);
    for (std::int32_t rank = 0; rank < ranks.size(); ++rank) fill(rank);
}

bool CollectiveCall::reduces() const noexcept {
    switch (settings_.what) {
        case reduce:
        case allreduce:
        case reduce_scatter_block:
        case scan:
        case exscan: return true;
        default: return false;
    }
}

std::uint64_t CollectiveCall::in_blocks(std::int32_t rank) const noexcept {
    const auto all = static_cast<std::uint64_t>(ranks_.size());
    switch (settings_.what) {
        case alltoall:
        case reduce_scatter_block: return all;
        case scatter: return rank == root ? all : 0;
        default: return 1;
    }
}

std::uint64_t CollectiveCall::out_blocks(std::int32_t rank) const noexcept {
    const auto all = static_cast<std::uint64_t>(ranks_.size());
    switch (settings_.what) {
        case allgather:
        case alltoall: return all;
        case gather: return rank == root ? all : 0;
        case reduce: return rank == root ? 1 : 0;
        default: return 1;
    }
}

std::byte* CollectiveCall::in(std::int32_t rank) {
    return buffers_.empty() ? static_cast<std::byte*>(nowhere_.address())
                            : buffers_[static_cast<std::size_t>(rank)].in.data();
}

std::byte* CollectiveCall::out(std::int32_t rank) {
    if (buffers_.empty())
        return static_cast<std::byte*>(nowhere_.address()) +
            static_cast<std::uint64_t>(ranks_.size()) * settings_.bytes;
    return buffers_[static_cast<std::size_t>(rank)].out.data();
}

void CollectiveCall::fill(std::int32_t rank) {
    Buffers& own = buffers_[static_cast<std::size_t>(rank)];
    own.in.resize(in_blocks(rank) * settings_.bytes);
    own.out.assign(out_blocks(rank) * settings_.bytes, std::byte{0xee});
    for (std::uint64_t block = 0; block < in_blocks(rank); ++block) {
        std::byte* const at = own.in.data() + block * settings_.bytes;
        const auto to = static_cast<std::int32_t>(block);
        for (std::uint64_t i = 0; reduces() && i < count(); ++i)
            put(at, i, operand(rank, i), settings_.doubles);
        for (std::uint64_t i = 0; !reduces() && i < settings_.bytes; ++i)
            at[i] = pattern(rank, to, i);
    }
    if (settings_.what == bcast && rank == root) own.out = own.in;
}

coll::Arguments CollectiveCall::arguments(std::int32_t rank) {
    const std::uint64_t bytes = settings_.bytes;
    switch (settings_.what) {
        case barrier: return {};
        case bcast: return {.out = out(rank), .count = bytes, .root = root};
        case gather: return {.root = root, .mine = {in(rank), bytes}, .to = {out(rank), bytes}};
        case scatter: return {.root = root, .mine = {out(rank), bytes}, .from = {in(rank), bytes}};
        case allgather: return {.mine = {in(rank), bytes}, .to = {out(rank), bytes}};
        case alltoall: return {.from = {in(rank), bytes}, .to = {out(rank), bytes}};
        case reduce_scatter_block: return {.in = in(rank), .out = out(rank), .starts = starts_};
        default: return {.in = in(rank), .out = out(rank), .count = count(), .root = root};
    }
}

const coll::Algorithm& CollectiveCall::choose(const coll::Schedule& schedule) const {
    return coll::choose(schedule, settings_.what,
                        settings_.what == reduce_scatter_block ? 0 : settings_.bytes,
                        coll::Needs::commutative);
}

void CollectiveCall::write(coll::Schedule& schedule, const coll::Algorithm* algorithm) {
    if (reduces()) schedule.reduction = reduction_;
    if (algorithm == nullptr) algorithm = &choose(schedule);
    algorithm->write(schedule, arguments(schedule.rank));
    schedule.finish();
}

const coll::Algorithm& CollectiveCall::chosen() {
    coll::Schedule schedule(ranks_.writer(), ranks_[root], tag());
    if (reduces()) schedule.reduction = reduction_;
    return choose(schedule);
}

bool CollectiveCall::may_take(const coll::Algorithm& algorithm) {
    coll::Schedule schedule(ranks_.writer(), ranks_[root], tag());
    if (reduces()) schedule.reduction = reduction_;
    const coll::Call call{settings_.what, ranks_.size(), settings_.bytes};
    return algorithm.what == settings_.what &&
        coll::includes(coll::needs_met(schedule, call), algorithm.needs);
}

std::int32_t CollectiveCall::wrong_rank() const {
    for (std::int32_t rank = 0; rank < ranks_.size(); ++rank)
        if (!is_right(rank)) return rank;
    return -1;
}

bool CollectiveCall::is_right(std::int32_t rank) const {
    const std::byte* const out = buffers_[static_cast<std::size_t>(rank)].out.data();
    const auto sums = [&](std::int32_t ranks) {
        for (std::uint64_t i = 0; i < count(); ++i)
            if (got(out, i, settings_.doubles) != sum_of(ranks, i)) return false;
        return true;
    };
    const auto blocks = [&](auto&& to) {
        for (std::uint64_t from = 0; from < out_blocks(rank); ++from)
            if (!has_pattern(out + from * settings_.bytes, settings_.bytes,
                             static_cast<std::int32_t>(from), to))
                return false;
        return true;
    };
    switch (settings_.what) {
        case barrier: return true;
        case bcast: return has_pattern(out, settings_.bytes, root, 0);
        case scatter: return has_pattern(out, settings_.bytes, root, rank);
        case gather:
        case allgather: return blocks(0);
        case alltoall: return blocks(rank);
        case reduce: return rank != root || sums(ranks_.size());
        case scan: return sums(rank + 1);
        case exscan: return rank == 0 || sums(rank);
        default: return sums(ranks_.size());
    }
}

}  // namespace heddle::scale
