// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Data of a datatype as blocks: bytes side by side.

#include <algorithm>
#include <cstdint>

#include "objects/basic_types.hpp"
#include "objects/datatype.hpp"
#include "objects/type_walk.hpp"

namespace heddle::rma {

/// Calls visit(place, packed offset, bytes) for each block of the first `bytes` of elements at
/// `begin`. Adjacent blocks are one. Stops and returns false when visit() returns false.
template <class Visit>
bool each_block(const objects::Datatype& type, objects::Place begin, std::uint64_t bytes,
                Visit&& visit) {
    if (type.contiguous) return bytes == 0 || visit(begin, std::uint64_t{0}, bytes);
    objects::Place block = 0;
    std::uint64_t from = 0, length = 0;
    bool well = true;
    const auto flush = [&] {
        const std::uint64_t some = std::min(length, bytes - std::min(bytes, from));
        well = well && (some == 0 || visit(block, from, some));
        from += length;
    };
    const auto size = static_cast<std::uint64_t>(type.size);
    const auto count = size == 0 ? 0 : static_cast<std::int64_t>((bytes + size - 1) / size);
    objects::walk(*type.definition, begin, count,
                  [&](const objects::BasicType& basic, objects::Place place, std::int64_t values) {
                      const auto more = static_cast<std::uint64_t>(values * basic.size);
                      if (length != 0 && block + length != place) {
                          flush();
                          length = 0;
                      }
                      if (length == 0) block = place;
                      length += more;
                  });
    flush();
    return well;
}

}  // namespace heddle::rma
