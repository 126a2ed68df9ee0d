// SPDX-License-Identifier: BSD-3-Clause
#include "platform/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace heddle::platform {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // its bits in reverse

constexpr std::array<std::uint32_t, 256> make_table() noexcept {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t rest = i;
        for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? polynomial : 0);
        table[i] = rest;
    }
    return table;
}
constexpr std::array<std::uint32_t, 256> table = make_table();

#if defined(__x86_64__)
[[gnu::target("sse4.2,crc32")]] std::uint32_t by_instruction(
    std::span<const std::byte> bytes) noexcept {
    std::uint64_t sum = ~std::uint32_t{0};
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), sizeof word);
        sum = _mm_crc32_u64(sum, word);
    }
    auto rest = static_cast<std::uint32_t>(sum);
    for (const std::byte byte : bytes) rest = _mm_crc32_u8(rest, static_cast<unsigned char>(byte));
    return ~rest;
}
const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept {
    std::uint32_t sum = ~std::uint32_t{0};
    for (const std::byte byte : bytes)
        sum = sum >> 8 ^ table[(sum ^ static_cast<std::uint32_t>(byte)) & 0xff];
    return ~sum;
}

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
#if defined(__x86_64__)
    if (has_instruction) return by_instruction(bytes);
#endif
    return crc32c_by_table(bytes);
}

}  // namespace heddle::platform
