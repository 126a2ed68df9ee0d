// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Data of a datatype in another process, which the kernel or messages copy, from and to packed
/// form.
///
/// Errors         false if the kernel or the process refuses, or if there is no memory. A part may
///                have been copied then.

#include <cstddef>
#include <cstdint>

#include "objects/block_copy.hpp"
#include "objects/datatype.hpp"
#include "rma/access.hpp"

namespace heddle::rma {

/// Elements of another process.
struct RemoteData {
    core::Thread& thread;
    objects::Window& window;
    std::int32_t rank;
    const Spot& spot;
    const objects::Datatype& type;
};

/// Copies the first `bytes` of their packed form.
bool read(const RemoteData& from, std::byte* packed, std::uint64_t bytes);
bool write(const RemoteData& to, const std::byte* packed, std::uint64_t bytes);

/// Copies bytes that lie side by side.
bool read_block(const RemoteData& from, std::byte* to, objects::Place place, std::uint64_t bytes);
bool write_block(const RemoteData& to, objects::Place place, const std::byte* from,
                 std::uint64_t bytes);

}  // namespace heddle::rma
