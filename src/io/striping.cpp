// SPDX-License-Identifier: BSD-3-Clause
#include "io/striping.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <sys/xattr.h>

namespace heddle::io {
namespace {

using Bytes = std::span<const std::byte>;

/// Returns the number at a place of the attribute, or 0 if the attribute ends before.
template <class Number>
Number number_at(Bytes bytes, std::size_t at) noexcept {
    Number number = 0;
    if (at <= bytes.size() && bytes.size() - at >= sizeof number)
        std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

// Values of lov_user_md_v1 and _v3, which begin alike.
constexpr std::uint32_t plain = 0x0BD10BD0, with_pool = 0x0BD30BD0;
constexpr std::size_t stripe_size_at = 24, stripe_count_at = 28;
// Values of lov_comp_md_v1, and its entries.
constexpr std::uint32_t composite = 0x0BD60BD0;
constexpr std::size_t entry_count_at = 14, entries_at = 32, entry_bytes = 48, offset_in_entry = 24;

Striping simple(Bytes bytes) noexcept {
    const auto magic = number_at<std::uint32_t>(bytes, 0);
    if (magic != plain && magic != with_pool) return {};
    const auto unit = number_at<std::uint32_t>(bytes, stripe_size_at);
    const auto count = number_at<std::uint16_t>(bytes, stripe_count_at);
    if (unit == 0 || count == 0 || count == UINT16_MAX)
        return {};  // all servers: their number is not given
    return {unit, count};
}

}  // namespace

Striping striping_in(Bytes bytes) noexcept {
    if (number_at<std::uint32_t>(bytes, 0) != composite) return simple(bytes);
    const std::size_t entries = number_at<std::uint16_t>(bytes, entry_count_at);
    Striping last;
    for (std::size_t i = 0; i < entries; ++i) {
        const auto at =
            number_at<std::uint32_t>(bytes, entries_at + i * entry_bytes + offset_in_entry);
        if (at == 0 || at >= bytes.size()) break;
        const Striping one = simple(bytes.subspan(at));
        if (one.unit != 0) last = one;
    }
    return last;
}

Striping striping_of(int descriptor) noexcept {
    std::array<std::byte, 4096> bytes;
    const ssize_t got = fgetxattr(descriptor, "lustre.lov", bytes.data(), bytes.size());
    return got <= 0 ? Striping{} : striping_in(Bytes(bytes).first(static_cast<std::size_t>(got)));
}

}  // namespace heddle::io
