// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/outbound.hpp"

namespace heddle::p2p {

void set_prefix(instance::Pending& pending, const Prefix& prefix) noexcept {
    pending.kind = static_cast<std::uint8_t>(prefix.kind);
    pending.prefix_bytes = static_cast<std::uint8_t>(prefix.bytes);
    if (prefix.bytes != 0) std::memcpy(pending.prefix, prefix.fields, prefix.bytes);
}

instance::Pending pending_of(const Outbound& message, const Prefix& prefix,
                             core::Request* completes, std::uint64_t stamp) noexcept {
    instance::Pending pending;
    pending.envelope = message.envelope;
    set_prefix(pending, prefix);
    pending.data = message.data;
    pending.layout = message.layout;
    pending.bytes = message.bytes;
    pending.completes = completes;
    pending.stamp = stamp;
    return pending;
}

bool is_of(const instance::Pending& pending, const core::Request& send) noexcept {
    const auto kind = static_cast<MessageKind>(pending.kind);
    if (kind == Prefix{}.kind) return pending.completes == &send;
    if (!may_be_taken_back(kind)) return false;
    OfferedFields fields;  // or ReadableFields, which begin with the sender, too
    std::memcpy(&fields, pending.prefix, sizeof fields);
    return fields.sender == reinterpret_cast<std::uint64_t>(&send);
}

}  // namespace heddle::p2p
