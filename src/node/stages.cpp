// SPDX-License-Identifier: BSD-3-Clause
#include "node/stages.hpp"

#include <bit>

#include "node/sizes.hpp"
#include "sync/orders.hpp"

namespace heddle::node {

namespace {

/// Returns how many processes use a segment as a stage: a word behind the part that they use.
std::atomic<std::uint32_t>& users_of(std::byte* memory) noexcept {
    return *reinterpret_cast<std::atomic<std::uint32_t>*>(memory + stage_bytes);
}

}  // namespace

std::byte* Stages::map_numbered(std::int32_t number) const {
    const std::lock_guard guard(lock_);
    platform::Mapping& stage = mapped_[number];
    if (!stage) stage = object_.map(offset_of(number), stage_bytes);
    return static_cast<std::byte*>(stage.address());
}

std::int32_t Stages::take_numbered(std::uint32_t users) const noexcept {
    std::uint64_t used = board_.used.load(relaxed);
    int number = 0;
    do {
        number = std::countr_one(used);
        if (number >= static_cast<int>(number_)) return -1;
        // A1: pairs with R1, at which the last user before has left.
    } while (!board_.used.compare_exchange_weak(used, used | std::uint64_t{1} << number, acquire,
                                                relaxed));
    board_.users[number].store(users, relaxed);  // published by the message that tells them
    return number;
}

void Stages::leave_numbered(std::int32_t number) const noexcept {
    if (board_.users[number].fetch_sub(1, acq_rel) != 1) return;
    object_.drop_pages(offset_of(number), stage_bytes);
    board_.used.fetch_and(~(std::uint64_t{1} << number), release);  // R1
}

Stage Stages::take(std::uint32_t users) const {
    Stage stage{take_numbered(users), {}};
    if (stage || !segments_.can_spare(stage_bytes + page_bytes)) return stage;
    stage.segment = segments_.take(stage_bytes + page_bytes);
    std::shared_ptr<const platform::Mapping> mapping;
    if (!stage.segment) return {};
    if (std::byte* memory = map(stage, mapping)) {
        users_of(memory).store(users, relaxed);  // messages tell the others of it
        return stage;
    }
    segments_.give(stage.segment);
    return {};
}

std::byte* Stages::map(const Stage& stage,
                       std::shared_ptr<const platform::Mapping>& mapping) const {
    if (stage.number >= 0) return map_numbered(stage.number);
    mapping = segments_.map(stage.segment);
    return mapping == nullptr ? nullptr : static_cast<std::byte*>(mapping->address());
}

void Stages::leave(const Stage& stage, std::byte* memory) const noexcept {
    if (stage.number >= 0) return leave_numbered(stage.number);
    // acq_rel among all users, who have done with it: the last one gives it back.
    if (users_of(memory).fetch_sub(1, acq_rel) == 1) segments_.give(stage.segment);
}

void Stages::give_up(const Stage& stage, bool taker) const noexcept {
    if (stage.number >= 0) return leave_numbered(stage.number);
    if (taker) segments_.give(stage.segment);
}

void Stages::unmap() noexcept {
    for (platform::Mapping& one : mapped_) one = {};
}

}  // namespace heddle::node
