// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Copies blocks between memory and packed form. A direction is one of two types, so that the loops
/// are written once. A copier is a block size that the compiler knows, or nearly.
///
/// Places are integers, since data of MPI_BOTTOM lie at no offset from any object.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heddle::objects {

using Place = std::uintptr_t;

inline Place moved(Place place, std::int64_t by) noexcept { return place + static_cast<Place>(by); }
inline Place moved(Place place, std::uint64_t steps, std::int64_t step) noexcept {
    return place + steps * static_cast<Place>(step);
}

struct ToPacked {
    template <class Copy>
    [[gnu::always_inline]] static void move(const Copy& copy, std::byte* packed,
                                            Place place) noexcept {
        copy(packed, reinterpret_cast<const std::byte*>(place));
    }
};
struct FromPacked {
    template <class Copy>
    [[gnu::always_inline]] static void move(const Copy& copy, std::byte* packed,
                                            Place place) noexcept {
        copy(reinterpret_cast<std::byte*>(place), packed);
    }
};

/// Copies blocks of a size that the compiler knows.
template <std::size_t size>
struct Exactly {
    [[gnu::always_inline]] void operator()(std::byte* to, const std::byte* from) const noexcept {
        std::memcpy(to, from, size);
    }
};
/// Copies blocks of `unit` to twice as many bytes, by two copies that overlap.
template <std::size_t unit>
struct UpToTwice {
    std::size_t rest;  ///< size - unit
    [[gnu::always_inline]] void operator()(std::byte* to, const std::byte* from) const noexcept {
        std::memcpy(to, from, unit);
        std::memcpy(to + rest, from + rest, unit);
    }
};
struct Any {
    std::size_t size;
    [[gnu::always_inline]] void operator()(std::byte* to, const std::byte* from) const noexcept {
        std::memcpy(to, from, size);
    }
};

/// Calls `loop` with the copier for blocks of `bytes` bytes.
template <class Loop>
inline void with_copier(std::uint64_t bytes, Loop&& loop) noexcept {
    switch (bytes) {
        case 1: return loop(Exactly<1>{});
        case 2: return loop(Exactly<2>{});
        case 4: return loop(Exactly<4>{});
        case 8: return loop(Exactly<8>{});
        case 12: return loop(Exactly<12>{});
        case 16: return loop(Exactly<16>{});
        case 24: return loop(Exactly<24>{});
        case 32: return loop(Exactly<32>{});
        case 64: return loop(Exactly<64>{});
        default: break;
    }
    if (bytes > 64) return loop(Any{bytes});
    if (bytes > 32) return loop(UpToTwice<32>{bytes - 32});
    if (bytes > 16) return loop(UpToTwice<16>{bytes - 16});
    if (bytes > 8) return loop(UpToTwice<8>{bytes - 8});
    if (bytes > 4) return loop(UpToTwice<4>{bytes - 4});
    return loop(UpToTwice<2>{bytes - 2});  // 3
}

/// Copies one block. Most blocks are short.
template <class Direction>
inline void copy_block(std::byte* packed, Place place, std::uint64_t bytes) noexcept {
    if (bytes > 64) return Direction::move(Any{bytes}, packed, place);
    with_copier(bytes, [&](const auto& copy) { Direction::move(copy, packed, place); });
}

/// Copies `count` blocks: `place_step` apart in memory and `packed_step` in packed form.
template <class Direction, class Copy>
[[gnu::noinline]] void copy_blocks_by(const Copy by, std::byte* packed, std::uint64_t packed_step,
                                      Place place, std::int64_t place_step,
                                      std::uint64_t count) noexcept {
    // Four blocks per iteration: otherwise the loop itself would cost as much as a short block.
    for (; count >= 4; count -= 4) {
        Direction::move(by, packed, place);
        Direction::move(by, packed + packed_step, moved(place, 1, place_step));
        Direction::move(by, packed + 2 * packed_step, moved(place, 2, place_step));
        Direction::move(by, packed + 3 * packed_step, moved(place, 3, place_step));
        packed += 4 * packed_step;
        place = moved(place, 4, place_step);
    }
    for (; count > 0; --count) {
        Direction::move(by, packed, place);
        packed += packed_step;
        place = moved(place, place_step);
    }
}
template <class Direction>
inline void copy_blocks(std::byte* packed, std::uint64_t packed_step, Place place,
                        std::int64_t place_step, std::uint64_t bytes,
                        std::uint64_t count) noexcept {
    with_copier(bytes, [=](const auto& copy) {
        copy_blocks_by<Direction>(copy, packed, packed_step, place, place_step, count);
    });
}

/// Copies `count` blocks at displacements from `place`.
template <class Direction, class Copy>
[[gnu::noinline]] void copy_blocks_at_by(const Copy by, std::byte* packed, Place place,
                                         const std::int64_t* displacements, std::uint64_t bytes,
                                         std::uint64_t count) noexcept {
    for (; count >= 2; count -= 2, displacements += 2, packed += 2 * bytes) {
        // Both are read before the copies: for the compiler the copies might change displacements.
        const std::int64_t first = displacements[0], second = displacements[1];
        Direction::move(by, packed, moved(place, first));
        Direction::move(by, packed + bytes, moved(place, second));
    }
    if (count > 0) Direction::move(by, packed, moved(place, *displacements));
}
template <class Direction>
inline void copy_blocks_at(std::byte* packed, Place place, const std::int64_t* displacements,
                           std::uint64_t bytes, std::uint64_t count) noexcept {
    with_copier(bytes, [=](const auto& copy) {
        copy_blocks_at_by<Direction>(copy, packed, place, displacements, bytes, count);
    });
}

}  // namespace heddle::objects
