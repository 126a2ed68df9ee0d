// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/outbound.hpp"

namespace heddle::p2p {

instance::Pending pending_of(const Outbound& message, MessageKind kind, const void* prefix,
                             std::uint32_t prefix_bytes, core::Request* completes,
                             std::uint64_t stamp) noexcept {
    instance::Pending pending;
    pending.envelope = message.envelope;
    pending.kind = static_cast<std::uint8_t>(kind);
    pending.prefix_bytes = static_cast<std::uint8_t>(prefix_bytes);
    if (prefix_bytes != 0) std::memcpy(pending.prefix, prefix, prefix_bytes);
    pending.data = message.data;
    pending.layout = message.layout;
    pending.bytes = message.bytes;
    pending.completes = completes;
    pending.stamp = stamp;
    return pending;
}

bool is_of(const instance::Pending& pending, const core::Request& send) noexcept {
    const auto kind = static_cast<MessageKind>(pending.kind);
    if (kind == MessageKind::eager) return pending.completes == &send;
    if (!is_offered(kind) && kind != MessageKind::readable) return false;
    OfferedFields fields;  // or ReadableFields, which begin with the sender, too
    std::memcpy(&fields, pending.prefix, sizeof fields);
    return fields.sender == reinterpret_cast<std::uint64_t>(&send);
}

}  // namespace heddle::p2p
