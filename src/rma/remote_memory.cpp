// SPDX-License-Identifier: BSD-3-Clause
#include "rma/remote_memory.hpp"

#include "p2p/engine.hpp"
#include "rma/blocks.hpp"
#include "rma/service.hpp"

namespace heddle::rma {
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
    return each_block(from.type, from.spot.place, bytes,
                      [&](objects::Place place, std::uint64_t at, std::uint64_t length) {
                          return read_block(from, packed + at, place, length);
                      });
}

bool write(const RemoteData& to, const std::byte* packed, std::uint64_t bytes) {
    return each_block(to.type, to.spot.place, bytes,
                      [&](objects::Place place, std::uint64_t at, std::uint64_t length) {
                          return write_block(to, place, packed + at, length);
                      });
}

}  // namespace heddle::rma
