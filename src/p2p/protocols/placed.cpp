// SPDX-License-Identifier: BSD-3-Clause
/// Messages whose payload lies in a ring of payload before their header comes
/// (node/payload_ring.hpp).

#include "p2p/base.hpp"
#include "p2p/messages.hpp"
#include "p2p/payload/incoming_stream.hpp"
#include "p2p/payload/large_copy.hpp"
#include "p2p/payload/payload.hpp"
#include "p2p/protocols/all.hpp"

namespace heddle::p2p::protocols {

namespace {

node::Piece piece_of(const transport::Header& header) noexcept {
    const auto fields = fields_of<PlacedFields>(header);
    return {fields.place, fields.length};
}
const node::PayloadConsumer& ring_of(const Base& base, const Arrival& arrival) noexcept {
    return base.pool.payload(arrival.instance->number(), arrival.process);
}

std::uint64_t length(const transport::Header& header) noexcept { return piece_of(header).bytes; }

void ask_for(const Parts& parts, const Arrival& arrival) noexcept {
    ring_of(parts.base, arrival).ask_for(piece_of(arrival.header));
}

/// Delivers the payload, and frees its place.
void deliver(const node::PayloadConsumer& ring, const node::Piece& piece,
             core::Request& receive) noexcept {
    load(ring, piece, receive, piece.bytes, 0, fit(receive, piece.bytes));
    ring.free(piece);
}

void take(const Parts& parts, const Arrival& arrival, core::Request& receive) {
    deliver(ring_of(parts.base, arrival), piece_of(arrival.header), receive);
    arrival.call.complete(receive);
}

/// Copies the payload out of its ring, which later messages need. A long one stays there, and any
/// if memory is short.
void keep(const Parts& parts, const Arrival& arrival, match::Message& message) {
    const node::Piece piece = piece_of(arrival.header);
    const Base& base = parts.base;
    if (piece.bytes > base.settings.eager_limit || base.is_under_pressure(base.rank)) {
        message.length = piece.bytes;
        message.far = {piece.at, 0, false};
        return;
    }
    const node::PayloadConsumer& ring = ring_of(base, arrival);
    parts.messages.copy_payload(arrival.call.thread, message, ring.at(piece.at), {piece.bytes});
    ring.free(piece);
    message.protocol = static_cast<std::uint8_t>(eager.kind);
}

void give(const Parts& parts, ProgressCall&, core::Request& receive,
          const match::Message& message) {
    deliver(parts.base.pool.payload(message.instance, message.peer),
            {message.far.address, message.length}, receive);
}

void leave(const Base& base, const match::Message& message) noexcept {
    base.pool.payload(message.instance, message.peer).free({message.far.address, message.length});
}

void open(const Parts& parts, const Arrival& arrival) {
    parts.copies.open_payload_ring(*arrival.instance, arrival.process,
                                   fields_of<PayloadRingFields>(arrival.header));
}

}  // namespace

const Protocol placed{.kind = PlacedFields::message_kind,
                      .length = length,
                      .ahead = ask_for,
                      .take = take,
                      .keep = keep,
                      .give = give,
                      .leave = leave};
/// Names a ring of payload, for this instance.
const Protocol payload_ring{.kind = PayloadRingFields::message_kind, .arrived = open};

}  // namespace heddle::p2p::protocols
