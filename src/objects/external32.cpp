// SPDX-License-Identifier: BSD-3-Clause
#include "objects/external32.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "objects/basic_types.hpp"
#include "objects/type_walk.hpp"
#include "platform/float_types.hpp"

namespace heddle::objects {
namespace {

using platform::Float128;
__extension__ typedef unsigned __int128 Unsigned128;
static_assert(std::endian::native == std::endian::little, "values are reversed on their way");
static_assert(std::numeric_limits<long double>::is_iec559);

template <class T>
T reversed(T value) noexcept {
    if constexpr (sizeof(T) == 2)
        return __builtin_bswap16(value);
    else if constexpr (sizeof(T) == 4)
        return __builtin_bswap32(value);
    else if constexpr (sizeof(T) == 8)
        return __builtin_bswap64(value);
    else
        return (static_cast<T>(reversed(static_cast<std::uint64_t>(value))) << 64) |
            reversed(static_cast<std::uint64_t>(value >> 64));
}

/// Reverses the bytes of values of one size, in either direction.
template <class T>
void reverse(std::byte* to, const std::byte* from, std::int64_t values) noexcept {
    for (std::int64_t i = 0; i < values; ++i, to += sizeof(T), from += sizeof(T)) {
        T value;
        std::memcpy(&value, from, sizeof value);
        value = reversed(value);
        std::memcpy(to, &value, sizeof value);
    }
}
void reverse(std::byte* to, const std::byte* from, std::int64_t values,
             std::int64_t size) noexcept {
    switch (size) {
        case 1: std::memcpy(to, from, static_cast<std::size_t>(values)); return;
        case 2: return reverse<std::uint16_t>(to, from, values);
        case 4: return reverse<std::uint32_t>(to, from, values);
        case 8: return reverse<std::uint64_t>(to, from, values);
        default: return reverse<Unsigned128>(to, from, values);
    }
}

/// Copies one integer from `size` bytes to the `less` least significant ones.
void narrow(std::byte* to, const std::byte* from, std::int64_t less) noexcept {
    for (std::int64_t i = 0; i < less; ++i) to[i] = from[less - 1 - i];
}
void widen(std::byte* to, const std::byte* from, std::int64_t less, std::int64_t size,
           bool is_signed) noexcept {
    const bool negative = is_signed && (from[0] & std::byte{0x80}) != std::byte{0};
    for (std::int64_t i = 0; i < less; ++i) to[i] = from[less - 1 - i];
    std::fill(to + less, to + size, negative ? std::byte{0xff} : std::byte{0});
}

/// The bytes of a long double that hold the value. The others stay as they are.
constexpr std::size_t long_double_bytes =
    std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);

void pack_long_double(std::byte* to, const std::byte* from) noexcept {
    long double value;
    std::memcpy(&value, from, sizeof value);
    const auto wide = std::bit_cast<Unsigned128>(static_cast<Float128>(value));
    const Unsigned128 big = reversed(wide);
    std::memcpy(to, &big, sizeof big);
}
void unpack_long_double(std::byte* to, const std::byte* from) noexcept {
    Unsigned128 big;
    std::memcpy(&big, from, sizeof big);
    const auto value = static_cast<long double>(std::bit_cast<Float128>(reversed(big)));
    std::memcpy(to, &value, long_double_bytes);
}

struct Packing {
    std::byte* packed;
    void operator()(const BasicType& type, Place place, std::int64_t length) noexcept {
        const auto* from = reinterpret_cast<const std::byte*>(place);
        const std::int64_t values = length * type.values;
        const std::int64_t size = type.size / type.values,
                           external = type.external_size / type.values;
        if (type.external == External::same) {
            reverse(packed, from, values, size);
        } else {
            for (std::int64_t i = 0; i < values; ++i) {
                if (type.external == External::long_double)
                    pack_long_double(packed + i * external, from + i * size);
                else
                    narrow(packed + i * external, from + i * size, external);
            }
        }
        packed += values * external;
    }
};

struct Unpacking {
    const std::byte* packed;
    void operator()(const BasicType& type, Place place, std::int64_t length) noexcept {
        auto* to = reinterpret_cast<std::byte*>(place);
        const std::int64_t values = length * type.values;
        const std::int64_t size = type.size / type.values,
                           external = type.external_size / type.values;
        if (type.external == External::same) {
            reverse(to, packed, values, size);
        } else {
            for (std::int64_t i = 0; i < values; ++i) {
                if (type.external == External::long_double)
                    unpack_long_double(to + i * size, packed + i * external);
                else
                    widen(to + i * size, packed + i * external, external, size,
                          type.external == External::integer);
            }
        }
        packed += values * external;
    }
};

}  // namespace

void pack_external(const Definition& type, const std::byte* elements, std::int64_t count,
                   std::byte* packed) {
    walk(type, reinterpret_cast<Place>(elements), count, Packing{packed});
}

void unpack_external(const Definition& type, std::byte* elements, std::int64_t count,
                     const std::byte* packed) {
    walk(type, reinterpret_cast<Place>(elements), count, Unpacking{packed});
}

}  // namespace heddle::objects
