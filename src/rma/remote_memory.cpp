// SPDX-License-Identifier: BSD-3-Clause
#include "rma/remote_memory.hpp"

#include <algorithm>

#include "objects/basic_types.hpp"
#include "objects/type_walk.hpp"
#include "p2p/engine.hpp"
#include "rma/service.hpp"

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
    objects::walk(*data.type.definition, data.spot.place, count,
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

bool read_block(const RemoteData& from, std::byte* to, objects::Place place, std::uint64_t bytes) {
    if (from.spot.by_message)
        return from.window.service->read(from.thread, from.rank, to, place, bytes);
    return from.thread.engine->peer_memory().read(from.spot.target->process, to, place, bytes);
}

bool write_block(const RemoteData& to, objects::Place place, const std::byte* from,
                 std::uint64_t bytes) {
    if (to.spot.by_message) return to.window.service->write(to.thread, to.rank, place, from, bytes);
    return to.thread.engine->peer_memory().write(to.spot.target->process, place, from, bytes);
}

bool read(const RemoteData& from, std::byte* packed, std::uint64_t bytes) {
    if (from.type.contiguous) return read_block(from, packed, from.spot.place, bytes);
    return each_block(from, bytes,
                      [&](objects::Place place, std::uint64_t at, std::uint64_t length) {
                          return read_block(from, packed + at, place, length);
                      });
}

bool write(const RemoteData& to, const std::byte* packed, std::uint64_t bytes) {
    if (to.type.contiguous) return write_block(to, to.spot.place, packed, bytes);
    return each_block(to, bytes, [&](objects::Place place, std::uint64_t at, std::uint64_t length) {
        return write_block(to, place, packed + at, length);
    });
}

}  // namespace heddle::rma
