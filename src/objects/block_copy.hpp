// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Copying blocks between memory and packed form. A direction is one of two types, so that the loops
/// are written once; a copier is a block size that the compiler knows, or nearly.
///
/// Places are integers: data of MPI_BOTTOM lie at no offset from any object.

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
    static void move(const Copy& copy, std::byte* packed, Place place) noexcept {
        copy(packed, reinterpret_cast<const std::byte*>(place));
    }
};
struct FromPacked {
    template <class Copy>
    static void move(const Copy& copy, std::byte* packed, Place place) noexcept {
        copy(reinterpret_cast<std::byte*>(place), packed);
    }
};

/// Blocks of a size that the compiler knows.
template <std::size_t size>
struct Exactly {
    void operator()(std::byte* to, const std::byte* from) const noexcept { std::memcpy(to, from, size); }
};
/// Blocks of `unit` to twice as many bytes: two copies that overlap.
template <std::size_t unit>
struct UpToTwice {
    std::size_t rest;  ///< size - unit
    void operator()(std::byte* to, const std::byte* from) const noexcept {
        std::memcpy(to, from, unit);
        std::memcpy(to + rest, from + rest, unit);
    }
};
struct Any {
    std::size_t size;
    void operator()(std::byte* to, const std::byte* from) const noexcept { std::memcpy(to, from, size); }
};

/// Calls `loop` with the copier for blocks of so many bytes.
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

/// One block; most are short.
template <class Direction>
inline void copy_block(std::byte* packed, Place place, std::uint64_t bytes) noexcept {
    if (bytes > 64) return Direction::move(Any{bytes}, packed, place);
    with_copier(bytes, [&](const auto& copy) { Direction::move(copy, packed, place); });
}

/// `count` blocks: `place_step` apart in memory and `packed_step` in packed form.
template <class Direction>
inline void copy_blocks(std::byte* packed, std::uint64_t packed_step, Place place, std::int64_t place_step,
                        std::uint64_t bytes, std::uint64_t count) noexcept {
    with_copier(bytes, [&](const auto& copy) {
        // Four at a time: the loop's own instructions would cost as much as a short block.
        for (; count >= 4; count -= 4) {
            for (int i = 0; i < 4; ++i) {
                Direction::move(copy, packed, place);
                packed += packed_step;
                place = moved(place, place_step);
            }
        }
        for (; count > 0; --count) {
            Direction::move(copy, packed, place);
            packed += packed_step;
            place = moved(place, place_step);
        }
    });
}

/// `count` blocks at displacements from `place`.
template <class Direction>
inline void copy_blocks_at(std::byte* packed, Place place, const std::int64_t* displacements,
                           std::uint64_t bytes, std::uint64_t count) noexcept {
    with_copier(bytes, [&](const auto& copy) {
        for (std::uint64_t i = 0; i < count; ++i)
            Direction::move(copy, packed + i * bytes, moved(place, displacements[i]));
    });
}

}  // namespace heddle::objects
