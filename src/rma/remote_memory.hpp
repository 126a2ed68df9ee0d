// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Data of a datatype in another process, copied by the kernel: from and to packed form.
///
/// Errors         false: the kernel refuses, or there is no memory. A part may have been copied then.

#include <cstddef>
#include <cstdint>

#include "objects/block_copy.hpp"
#include "objects/datatype.hpp"
#include "p2p/peer_memory.hpp"

namespace heddle::rma {

/// Elements of another process.
struct RemoteData {
    const p2p::PeerMemory& memory;
    std::int32_t process;
    objects::Place place;
    const objects::Datatype& type;
};

/// The first `bytes` of their packed form.
bool read(const RemoteData& from, std::byte* packed, std::uint64_t bytes);
bool write(const RemoteData& to, const std::byte* packed, std::uint64_t bytes);

}  // namespace heddle::rma
