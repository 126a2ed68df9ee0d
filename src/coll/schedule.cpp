// SPDX-License-Identifier: BSD-3-Clause
#include "coll/schedule.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "objects/layout.hpp"

namespace heddle::coll {

void Schedule::grow() {
    const bool was_local = many_.empty();
    many_.resize(room_ * 2);
    if (was_local) std::copy(local_, local_ + used_, many_.begin());
    first_ = many_.data();
    room_ *= 2;
}

std::byte* Schedule::large_scratch(std::uint64_t bytes) {
    large_.reserve(large_.size() + 1);
    auto* memory = static_cast<std::byte*>(std::malloc(bytes));
    if (memory == nullptr) throw std::bad_alloc();
    large_.emplace_back(memory);
    large_used_ += bytes;
    return memory;
}

std::byte* Schedule::packed(const objects::Datatype& type, std::byte* elements, std::uint64_t bytes,
                            bool taken, bool given) {
    std::byte* const memory = scratch(bytes);
    if (taken) pack(type, elements, memory, bytes);
    if (given && bytes != 0)
        last_.push_back({Step::Kind::unpack, number_of(type), memory, elements, bytes});
    return memory;
}

std::int32_t Schedule::number_of(const objects::Datatype& type) {
    const auto at = std::find(types_.begin(), types_.end(), &type);
    const auto number = static_cast<std::int32_t>(at - types_.begin());
    if (at == types_.end()) types_.push_back(&type);
    return number;
}

void Schedule::unpack_all() {
    wait();
    for (const Step& step : last_) add(step);
    last_.clear();
}

/// Makes room for some elements, each with its data at the place that the type gives. They are as
/// well aligned as they may expect to be.
void Schedule::make_room_for_elements() {
    constexpr std::uint64_t enough = 32 * 1024;  // bytes at a time
    const objects::Datatype& type = *reduction.type;
    const auto step = static_cast<std::uint64_t>(std::abs(type.extent));
    const auto one = static_cast<std::uint64_t>(type.true_extent);
    elements_ = step == 0 || one >= enough ? 1 : 1 + (enough - one) / step;
    const std::uint64_t others = (elements_ - 1) * step;
    const auto room = [&] {
        const auto before =
            type.true_lower_bound - (type.extent < 0 ? static_cast<std::int64_t>(others) : 0);
        constexpr auto most = static_cast<std::int64_t>(alignment);
        const std::int64_t shift = ((before % most) + most) % most;
        return scratch(one + others + alignment) + shift - before;
    };
    left_ = room();
    right_ = room();
}

void Schedule::combine_packed(const std::byte* left, const std::byte* right, std::byte* result,
                              std::uint64_t count) const {
    const objects::Datatype& type = *reduction.type;
    for (std::uint64_t done = 0; done < count;) {
        const std::uint64_t now = std::min(count - done, elements_);
        const std::uint64_t at = done * reduction.element_bytes;
        const std::uint64_t bytes = now * reduction.element_bytes;
        objects::unpack(type, left_, 0, left + at, bytes);
        objects::unpack(type, right_, 0, right + at, bytes);
        reduction.combine(left_, right_, right_, now);
        objects::pack(type, right_, 0, result + at, bytes);
        done += now;
    }
}

}  // namespace heddle::coll
