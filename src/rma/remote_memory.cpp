// SPDX-License-Identifier: BSD-3-Clause
#include "rma/remote_memory.hpp"

#include <algorithm>

#include "objects/basic_types.hpp"
#include "objects/type_walk.hpp"

namespace heddle::rma {
namespace {

/// Calls copy(place, packed offset, bytes) for each block of the data, as long as it answers true. Neighbours
/// are one block.
template <class Copy>
bool each_block(const RemoteData& data, std::uint64_t bytes, Copy&& copy) {
    objects::Place begin = 0;
    std::uint64_t from = 0, length = 0;
    bool well = true;
    const auto flush = [&] {
        const std::uint64_t some = std::min(length, bytes - std::min(bytes, from));
        well = well && (some == 0 || copy(begin, from, some));
        from += length;
    };
    const std::int64_t count = data.type.size == 0
        ? 0
        : static_cast<std::int64_t>((bytes + static_cast<std::uint64_t>(data.type.size) - 1) /
                                    static_cast<std::uint64_t>(data.type.size));
    objects::walk(*data.type.definition, data.place, count,
                  [&](const objects::BasicType& type, objects::Place place, std::int64_t values) {
                      const auto more = static_cast<std::uint64_t>(values * type.size);
                      if (length != 0 && begin + length != place) {
                          flush();
                          length = 0;
                      }
                      if (length == 0) begin = place;
                      length += more;
                  });
    flush();
    return well;
}

}  // namespace

bool read(const RemoteData& from, std::byte* packed, std::uint64_t bytes) {
    if (from.type.contiguous) return from.memory.read(from.process, packed, from.place, bytes);
    return each_block(from, bytes,
                      [&](objects::Place place, std::uint64_t at, std::uint64_t length) {
                          return from.memory.read(from.process, packed + at, place, length);
                      });
}

bool write(const RemoteData& to, const std::byte* packed, std::uint64_t bytes) {
    if (to.type.contiguous) return to.memory.write(to.process, to.place, packed, bytes);
    return each_block(to, bytes, [&](objects::Place place, std::uint64_t at, std::uint64_t length) {
        return to.memory.write(to.process, place, packed + at, length);
    });
}

}  // namespace heddle::rma
