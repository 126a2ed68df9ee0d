// SPDX-License-Identifier: BSD-3-Clause
#include "objects/layout.hpp"

#include <algorithm>
#include <bit>

#include "objects/block_copy.hpp"
#include "objects/datatype.hpp"

namespace heddle::objects {
namespace {

/// The depth from which on nested nodes are not entered by recursion.
constexpr std::uint32_t most_recursion = 64;

/// Bytes of packed form that stay in the cache while several passes over them are made.
constexpr std::uint64_t tile_bytes = 8192;

template <class Direction>
struct Mover {
    /// Moves `count` whole bodies, `place_step` apart in memory and `packed_step` in packed form.
    static void repeat(const Body& body, std::byte* packed, std::uint64_t packed_step, Place place,
                       std::int64_t place_step, std::uint64_t count) noexcept {
        if (body.node == nullptr)
            return copy_blocks<Direction>(packed, packed_step, place, place_step, body.bytes,
                                          count);
        const Node& node = *body.node;
        // Few entries, repeated often: going entry by entry is faster, while a tile stays in the
        // cache.
        std::uint64_t tile = std::min(count, tile_bytes / node.bytes);
        const bool by_entry = tile >= 4 && node.count <= tile;
        if (!by_entry) tile = 1;
        while (count > 0) {
            tile = std::min(tile, count);
            if (by_entry)
                tile_by_entry(node, packed, packed_step, place, place_step, tile);
            else
                whole(node, 0, node.count, packed, place);
            packed += tile * packed_step;
            place = moved(place, tile, place_step);
            count -= tile;
        }
    }

    static void tile_by_entry(const Node& node, std::byte* packed, std::uint64_t packed_step,
                              Place place, std::int64_t place_step, std::uint64_t count) noexcept {
        for (std::uint64_t i = 0; i < node.count; ++i) {
            const Placed entry = node.entry(i);
            repeat(entry.body, packed + node.begin_of(i), packed_step, moved(place, entry.at),
                   place_step, count);
        }
    }

    /// Moves entries [first, last) of a node at `place`. `packed` is the place of the first one.
    static void whole(const Node& node, std::uint64_t first, std::uint64_t last, std::byte* packed,
                      Place place) noexcept {
        if (first >= last) return;
        switch (node.kind) {
            case Node::Kind::strided:
                return repeat(node.child, packed, node.child.bytes,
                              moved(place, first, node.stride), node.stride, last - first);
            case Node::Kind::indexed: return whole_indexed(node, first, last, packed, place);
            case Node::Kind::list: return whole_list(node, first, last, packed, place);
        }
    }
    static void whole_indexed(const Node& node, std::uint64_t first, std::uint64_t last,
                              std::byte* packed, Place place) noexcept {
        if (node.child.node == nullptr)
            return copy_blocks_at<Direction>(packed, place, &node.displacements[first],
                                             node.child.bytes, last - first);
        for (std::uint64_t i = first; i < last; ++i, packed += node.child.bytes)
            repeat(node.child, packed, 0, moved(place, node.displacements[i]), 0, 1);
    }
    static void whole_list(const Node& node, std::uint64_t first, std::uint64_t last,
                           std::byte* packed, Place place) noexcept {
        const std::uint64_t* begins = node.begins.get();
        for (std::uint64_t i = first; i < last; ++i) {
            const Place there = moved(place, node.displacements[i]);
            const std::uint64_t bytes = begins[i + 1] - begins[i];
            std::byte* to = packed + (begins[i] - begins[first]);
            const Node* inner = node.nodes == nullptr ? nullptr : node.nodes[i];
            if (inner == nullptr)
                copy_block<Direction>(to, there, bytes);
            else
                repeat({bytes, inner}, to, 0, there, 0, 1);
        }
    }

    /// Moves bytes [from, from + bytes) of one body.
    static void part(const Body& body, std::uint64_t from, std::byte* packed, Place place,
                     std::uint64_t bytes) noexcept {
        if (body.node == nullptr)
            return Direction::move(Any{bytes}, packed,
                                   moved(place, static_cast<std::int64_t>(from)));
        const Node& node = *body.node;
        if (bytes == node.bytes) return whole(node, 0, node.count, packed, place);
        std::uint64_t first = node.entry_at(from);
        const std::uint64_t end = from + bytes;
        if (const std::uint64_t begin = node.begin_of(first); begin != from) {
            const Placed entry = node.entry(first);
            const std::uint64_t some = std::min(bytes, begin + entry.body.bytes - from);
            part(entry.body, from - begin, packed, moved(place, entry.at), some);
            packed += some;
            from += some;
            ++first;
        }
        if (from == end) return;
        const std::uint64_t last = end == node.bytes ? node.count : node.entry_at(end);
        whole(node, first, last, packed, place);
        if (last == node.count) return;
        const std::uint64_t begin = node.begin_of(last);
        if (begin == end) return;
        const Placed entry = node.entry(last);
        part(entry.body, 0, packed + (begin - from), moved(place, entry.at), end - begin);
    }

    /// Does the same for a body of any depth. It moves stretches without deep entries one after the
    /// other, and finds each of them from the top.
    static void deep_part(const Body& body, std::uint64_t from, std::byte* packed, Place place,
                          std::uint64_t bytes) noexcept {
        while (bytes > 0) {
            Body inner = body;
            Place there = place;
            std::uint64_t at = from, some = std::min(bytes, body.bytes - from);
            while (is_deep(inner)) {
                const Node& node = *inner.node;
                const std::uint64_t i = node.entry_at(at);
                const Placed entry = node.entry(i);
                if (!is_deep(entry.body)) {
                    some = std::min(some, shallow_end(node, i, at + some) - at);
                    break;
                }
                at -= node.begin_of(i);
                there = moved(there, entry.at);
                inner = entry.body;
                some = std::min(some, inner.bytes - at);
            }
            part(inner, at, packed, there, some);
            packed += some;
            from += some;
            bytes -= some;
        }
    }
    static bool is_deep(const Body& body) noexcept {
        return body.node != nullptr && body.node->depth > most_recursion;
    }
    /// Returns where the first deep entry behind the i-th one begins, or anything from `enough` on.
    static std::uint64_t shallow_end(const Node& node, std::uint64_t i,
                                     std::uint64_t enough) noexcept {
        while (i < node.count && node.begin_of(i) < enough && !is_deep(node.entry(i).body)) ++i;
        return i < node.count ? node.begin_of(i) : node.bytes;
    }

    /// Moves bytes [from, from + bytes) of endlessly repeated bodies, `period` apart.
    static void endless(const Body& body, std::int64_t period, std::uint64_t from,
                        std::byte* packed, Place place, std::uint64_t bytes) noexcept {
        const std::uint64_t first = from / body.bytes;
        from -= first * body.bytes;
        place = moved(place, first, period);
        const bool deep = is_deep(body);
        while (bytes > 0) {
            const std::uint64_t whole = deep || from != 0 ? 0 : bytes / body.bytes;
            if (whole > 0) repeat(body, packed, body.bytes, place, period, whole);
            const std::uint64_t some =
                whole > 0 ? whole * body.bytes : std::min(bytes, body.bytes - from);
            if (whole == 0) deep_part(body, from, packed, place, some);
            place = moved(place, std::max<std::uint64_t>(whole, 1), period);
            packed += some;
            bytes -= some;
            from = 0;
        }
    }
};

template <class Direction>
void move(const Datatype& type, Place elements, std::uint64_t from, std::byte* packed,
          std::uint64_t bytes) noexcept {
    if (bytes == 0) return;
    if (type.contiguous)
        return Direction::move(Any{bytes}, packed,
                               moved(elements, static_cast<std::int64_t>(from)));
    const Definition& definition = *type.definition;
    const Body& body = definition.sequence.body;
    const std::int64_t period = definition.period;
    const Place start = moved(elements, definition.sequence.at);
    if (body.node == nullptr && body.bytes == static_cast<std::uint64_t>(period))
        return Direction::move(Any{bytes}, packed, moved(start, static_cast<std::int64_t>(from)));
    Mover<Direction>::endless(body, period, from, packed, start, bytes);
}

}  // namespace

std::uint64_t Node::entry_at(std::uint64_t from) const noexcept {
    if (kind != Kind::list) return from / child.bytes;
    const std::uint64_t* first = begins.get();
    return static_cast<std::uint64_t>(std::upper_bound(first, first + count + 1, from) - first) - 1;
}

void pack(const Datatype& type, const std::byte* elements, std::uint64_t from, std::byte* packed,
          std::uint64_t bytes) noexcept {
    move<ToPacked>(type, reinterpret_cast<Place>(elements), from, packed, bytes);
}

void unpack(const Datatype& type, std::byte* elements, std::uint64_t from, const std::byte* packed,
            std::uint64_t bytes) noexcept {
    // FromPacked only reads `packed`.
    move<FromPacked>(type, reinterpret_cast<Place>(elements), from, const_cast<std::byte*>(packed),
                     bytes);
}

}  // namespace heddle::objects
