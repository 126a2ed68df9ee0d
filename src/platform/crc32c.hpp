// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// CRC32C (Castagnoli's polynomial, RFC 3720) of bytes, by the processor's instruction if it has
/// one.

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::platform {

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

/// Computes the same without the instruction, for tests and for other processors.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept;

}  // namespace heddle::platform
