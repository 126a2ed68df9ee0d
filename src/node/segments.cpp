// SPDX-License-Identifier: BSD-3-Clause
#include "node/segments.hpp"

#include "node/sizes.hpp"
#include "sync/orders.hpp"

namespace heddle::node {

namespace {

constexpr std::uint64_t one_segment = 1, number_of_segments = 0xffff;
constexpr int page_shift = 16;

}  // namespace

Segment Segments::take(std::uint64_t bytes) const noexcept {
    if (bytes == 0 || end_ <= begin_ || bytes > end_ - begin_) return {};
    const std::uint64_t most = (end_ - begin_) / page_bytes;
    const std::uint64_t pages = (bytes + page_bytes - 1) / page_bytes;
    std::atomic<std::uint64_t>& word = board_.taken;
    std::uint64_t taken = word.load(relaxed);
    do {
        if (pages > most - (taken >> page_shift) ||
            (taken & number_of_segments) == number_of_segments)
            return {};
        // A2: pairs with R2, before which the last user of these pages has dropped what was in
        // them.
    } while (!word.compare_exchange_weak(taken, taken + (pages << page_shift) + one_segment,
                                         acquire, relaxed));
    return {begin_ + (taken >> page_shift) * page_bytes, pages * page_bytes};
}

bool Segments::can_spare(std::uint64_t bytes) const noexcept {
    if (end_ <= begin_) return false;
    const std::uint64_t taken = board_.taken.load(relaxed);
    const std::uint64_t half = (end_ - begin_) / 2;
    const std::uint64_t used = (taken >> page_shift) * page_bytes;
    return (taken & number_of_segments) < number_of_segments / 2 && used <= half &&
        bytes <= half - used;
}

void Segments::give(const Segment& segment) const noexcept {
    object_.drop_pages(segment.offset, segment.bytes);
    std::atomic<std::uint64_t>& word = board_.taken;
    std::uint64_t taken = word.load(relaxed), left = 0;
    do {
        const std::uint64_t begin = (segment.offset - begin_) / page_bytes;
        const bool last = (taken >> page_shift) == begin + segment.bytes / page_bytes;
        left = (taken & number_of_segments) == one_segment ? 0 : taken - one_segment;
        if (left != 0 && last) left = (begin << page_shift) | (left & number_of_segments);
    } while (!word.compare_exchange_weak(taken, left, release, relaxed));  // R2
}

std::shared_ptr<const platform::Mapping> Segments::map(const Segment& segment) const {
    const auto map_it = [&]() -> std::shared_ptr<const platform::Mapping> {
        auto mapping =
            std::make_shared<platform::Mapping>(object_.map(segment.offset, segment.bytes));
        return *mapping ? mapping : nullptr;
    };
    if (!one_address_space_) return map_it();
    const std::lock_guard guard(lock_);
    std::weak_ptr<const platform::Mapping>& known = mapped_[segment.offset];
    auto mapping = known.lock();
    if (mapping == nullptr || mapping->bytes() < segment.bytes) known = mapping = map_it();
    return mapping;
}

}  // namespace heddle::node
