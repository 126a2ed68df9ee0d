// SPDX-License-Identifier: BSD-3-Clause
/// Messages whose payload stays with the sender. Once one is matched, the receiver reads it out of
/// the sender's memory. The sender helps with a long one (`share`, `shared`). Or the receiver asks
/// for it (`cts`), and `data` messages come. `fin` ends all except those that ended by `data`.

#include "p2p/far/far.hpp"
#include "p2p/payload/large_copy.hpp"
#include "p2p/payload/payload.hpp"
#include "p2p/protocols/all.hpp"
#include "p2p/requests/awaited_peer.hpp"
#include "p2p/sender.hpp"

namespace heddle::p2p::protocols {

namespace {

RemotePayload announced_by(const transport::Header& header) noexcept {
    const auto fields = fields_of<RendezvousFields>(header);
    return {fields.sender, fields.offer, fields.address, fields.length};
}

void fetch(const Parts& parts, ProgressCall& call, const Pull& pull, std::uint64_t bytes) {
    parts.copies.fetch(call, pull, bytes);
}

void end_send(const Parts& parts, const Arrival& arrival) {
    core::Request& send = request_named_by<FinFields>(arrival);
    if (arrival.instance == nullptr)
        parts.far.end(arrival.call, send);
    else
        parts.sender.end(arrival.call, arrival.instance->instance(), send);
}

void send_payload(const Parts& parts, const Arrival& arrival) {
    const auto fields = fields_of<CtsFields>(arrival.header);
    if (arrival.instance == nullptr)
        parts.far.stream(arrival.call, fields);
    else
        parts.sender.stream(arrival.call, arrival.instance->instance(), fields);
}

/// Receives a fragment of a pipelined message.
void receive_fragment(const Parts&, const Arrival& arrival) {
    const auto fields = fields_of<DataFields>(arrival.header);
    auto& receive = *reinterpret_cast<core::Request*>(fields.receiver);
    const std::uint64_t bytes = arrival.header.length - sizeof fields;
    scatter(receive, fields.offset, arrival.header.payload() + sizeof fields, bytes);
    receive.remaining -= bytes;
    if (receive.remaining != 0) return;
    arrival.call.thread.copying.pipelined_bytes.add(receive.bytes);
    set_awaits_payload(receive, false);
    arrival.call.complete(receive);
}

void note_share(const Parts&, const Arrival& arrival) {
    const auto fields = fields_of<ShareFields>(arrival.header);
    make_room(arrival.call.shares);
    arrival.call.shares.push_back(
        {arrival.process, arrival.instance->number(), fields.sender, fields.number});
}

void end_sharing(const Parts& parts, const Arrival& arrival) {
    parts.copies.end_sharing(arrival.call, arrival.instance->number(), arrival.process,
                             fields_of<SharedFields>(arrival.header));
}

}  // namespace

const Protocol rendezvous{
    .kind = RendezvousFields::message_kind, .announced_by = announced_by, .fetch = fetch};
const Protocol fin{.kind = FinFields::message_kind, .arrived = end_send};
const Protocol cts{.kind = CtsFields::message_kind, .arrived = send_payload};
const Protocol data{.kind = DataFields::message_kind, .arrived = receive_fragment};
const Protocol share{.kind = ShareFields::message_kind, .arrived = note_share};
const Protocol shared{.kind = SharedFields::message_kind, .arrived = end_sharing};

}  // namespace heddle::p2p::protocols
