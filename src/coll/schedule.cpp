// SPDX-License-Identifier: BSD-3-Clause
#include "coll/schedule.hpp"

#include <new>

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
    return memory;
}

}  // namespace heddle::coll
