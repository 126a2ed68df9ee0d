// SPDX-License-Identifier: BSD-3-Clause
/// Messages that are here as a whole. The sender of a synchronous one waits until it hears that the
/// message was matched.

#include "p2p/messages.hpp"
#include "p2p/payload/payload.hpp"
#include "p2p/protocols/all.hpp"
#include "p2p/sender.hpp"

namespace heddle::p2p::protocols {

namespace {

std::uint64_t whole_length(const transport::Header& header) noexcept { return header.length; }

void keep_whole(const Parts& parts, const Arrival& arrival, match::Message& message) {
    parts.messages.copy_payload(arrival.call.thread, message, arrival.header.payload(),
                                {arrival.header.length});
}

void give(const Parts&, ProgressCall&, core::Request& receive, const match::Message& message) {
    fill(receive, message.payload, message.length);
}

std::uint64_t length(const transport::Header& header) noexcept {
    return header.length - sizeof(EagerSyncFields);
}

void take(const Parts& parts, const Arrival& arrival, core::Request& receive) {
    const auto fields = fields_of<EagerSyncFields>(arrival.header);
    fill(receive, arrival.header.payload() + sizeof fields, length(arrival.header));
    parts.sender.control(arrival.call, arrival.instance->number(), arrival.process,
                         AckFields{fields.sender});
    arrival.call.complete(receive);
}

void keep(const Parts& parts, const Arrival& arrival, match::Message& message) {
    const auto fields = fields_of<EagerSyncFields>(arrival.header);
    message.sender = fields.sender;
    message.offer() = fields.offer;
    parts.messages.copy_payload(arrival.call.thread, message,
                                arrival.header.payload() + sizeof fields, {length(arrival.header)},
                                match::Message::small_beside_offer);
}

void answer_and_give(const Parts& parts, ProgressCall& call, core::Request& receive,
                     const match::Message& message) {
    parts.sender.control(call, message.instance, message.peer, AckFields{message.sender});
    fill(receive, message.payload, message.length);
}

void complete_send(const Parts&, const Arrival& arrival) {
    arrival.call.complete(request_named_by<AckFields>(arrival));
}

}  // namespace

/// Receiver::deliver_eager() is the data path of a message that a receive waits for.
const Protocol eager{.kind = eager_kind, .length = whole_length, .keep = keep_whole, .give = give};
const Protocol eager_sync{.kind = EagerSyncFields::message_kind,
                          .length = length,
                          .take = take,
                          .keep = keep,
                          .give = answer_and_give};
const Protocol ack{.kind = AckFields::message_kind, .arrived = complete_send};

}  // namespace heddle::p2p::protocols
