// SPDX-License-Identifier: BSD-3-Clause
/// Messages whose payload follows their header through a ring of payload, piece by piece
/// (p2p/payload/incoming_stream.hpp).

#include "p2p/base.hpp"
#include "p2p/payload/incoming_stream.hpp"
#include "p2p/payload/large_copy.hpp"
#include "p2p/protocols/all.hpp"

namespace heddle::p2p::protocols {

namespace {

RemotePayload announced_by(const transport::Header& header) noexcept {
    const auto fields = fields_of<StreamedFields>(header);
    return {fields.sender,
            fields.offer,
            fields.address,
            fields.length,
            static_cast<std::uint8_t>(fields.manifest),
            fields.synchronous != 0};
}

void fetch(const Parts& parts, ProgressCall& call, const Pull& pull, std::uint64_t bytes) {
    parts.copies.take_stream(call, pull, bytes);
}

/// Passes over the pieces that the sender has claimed.
void leave(const Base& base, const match::Message& message) noexcept {
    const auto& ring = base.pool.payload(message.instance, message.peer);
    IncomingStream stream(ring, message.far.manifest, nullptr, message.length, 0);
    for (const std::uint64_t claimed = stream.close(); stream.taken() < claimed; stream.skip())
        (void)stream.unstored();
    stream.leave();
}

}  // namespace

const Protocol streamed{.kind = StreamedFields::message_kind,
                        .announced_by = announced_by,
                        .fetch = fetch,
                        .leave = leave};

}  // namespace heddle::p2p::protocols
