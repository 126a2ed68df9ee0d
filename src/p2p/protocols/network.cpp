// SPDX-License-Identifier: BSD-3-Clause
/// Messages that only processes of different nodes exchange: payload that the network reads, sends
/// that are taken back, and back-pressure.

#include "p2p/far/far.hpp"
#include "p2p/payload/large_copy.hpp"
#include "p2p/protocols/all.hpp"

namespace heddle::p2p::protocols {

namespace {

/// Returns the announcement: as in a rendezvous, with the key to the memory in place of an offer.
RemotePayload announced_by(const transport::Header& header) noexcept {
    const auto fields = fields_of<ReadableFields>(header);
    return {fields.sender, fields.key, fields.address, fields.length};
}

void fetch(const Parts& parts, ProgressCall& call, const Pull& pull, std::uint64_t bytes) {
    if (!parts.far.read(call, pull, bytes)) parts.copies.fetch(call, pull, bytes);
}

void answer_cancel(const Parts& parts, const Arrival& arrival) {
    parts.far.answer_cancel(arrival.call, arrival.process, arrival.header);
}

void end_cancelled(const Parts& parts, const Arrival& arrival) {
    parts.far.end_cancelled(arrival.call, request_named_by<CancelledFields>(arrival));
}

void hear_of_pressure(const Parts& parts, const Arrival& arrival) {
    parts.far.set_pressure(arrival.process,
                           fields_of<PressureFields>(arrival.header).pressure != 0);
}

}  // namespace

const Protocol readable{
    .kind = ReadableFields::message_kind, .announced_by = announced_by, .fetch = fetch};
const Protocol cancel{.kind = CancelFields::message_kind, .arrived = answer_cancel};
const Protocol cancelled{.kind = CancelledFields::message_kind, .arrived = end_cancelled};
const Protocol pressure{.kind = PressureFields::message_kind, .arrived = hear_of_pressure};

}  // namespace heddle::p2p::protocols
