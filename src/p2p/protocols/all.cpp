// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/protocols/all.hpp"

#include <array>

namespace heddle::p2p {

namespace {

using namespace protocols;
/// Protocols by kind, from the first one on.
constexpr std::array all{&eager,    &eager_sync, &rendezvous,   &local,  &nothing,   &placed,
                         &streamed, &readable,   &ack,          &fin,    &cts,       &data,
                         &share,    &shared,     &payload_ring, &cancel, &cancelled, &pressure,
                         &access,   &refused,    &letter};
constexpr auto first = static_cast<std::size_t>(eager_kind);
static_assert(all.size() == static_cast<std::size_t>(last_kind) - first + 1);

}  // namespace

const Protocol& protocol_of(MessageKind kind) noexcept {
    return *all[static_cast<std::size_t>(kind) - first];
}

}  // namespace heddle::p2p
