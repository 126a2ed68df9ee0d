// SPDX-License-Identifier: BSD-3-Clause
/// Accesses to windows of other nodes (p2p/far/far_access.hpp), and their refusal. `data` and `ack`
/// answer them.

#include "p2p/far/far.hpp"
#include "p2p/protocols/all.hpp"

namespace heddle::p2p::protocols {

namespace {

void serve(const Parts& parts, const Arrival& arrival) {
    parts.far.deliver_access(arrival.call, arrival.process, arrival.header);
}

void fail(const Parts&, const Arrival& arrival) {
    const auto fields = fields_of<RefusedFields>(arrival.header);
    auto& request = *reinterpret_cast<core::Request*>(fields.receiver);
    request.error = MPI_ERR_RMA_RANGE;
    request.remaining -= fields.bytes;
    if (request.remaining == 0) arrival.call.complete(request);
}

}  // namespace

const Protocol access{.kind = AccessFields::message_kind, .arrived = serve};
const Protocol refused{.kind = RefusedFields::message_kind, .arrived = fail};

}  // namespace heddle::p2p::protocols
