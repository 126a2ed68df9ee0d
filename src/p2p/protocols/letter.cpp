// SPDX-License-Identifier: BSD-3-Clause
/// Letters: messages of processes of different jobs before they have a communicator
/// (p2p/far/guest_listener.hpp).

#include "p2p/base.hpp"
#include "p2p/far/guest_listener.hpp"
#include "p2p/protocols/all.hpp"

namespace heddle::p2p::protocols {

namespace {

void read(const Parts& parts, const Arrival& arrival) {
    parts.base.guest_listener->letter(arrival.call, arrival.process,
                                      fields_of<LetterFields>(arrival.header));
}

}  // namespace

const Protocol letter{.kind = LetterFields::message_kind, .arrived = read};

}  // namespace heddle::p2p::protocols
