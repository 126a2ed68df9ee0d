// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// File format of recordings of a rank's matching: docs/RECORDINGS.md.
///
///   file    header, blocks, end.    All numbers have the lowest byte first.
///   header  magic, version, rank, ranks, check of what precedes.
///   block   bytes and number of its events, number of the block, check; then the events.
///   end     a block without events.
///
/// An event is a byte of flags, and then the parts of the envelope that differ from the event
/// before. Each is written as a difference. Every block begins anew, so that it can be read alone.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "match/message.hpp"

namespace heddle::match::recording {

enum class Step : std::uint8_t {
    post,    ///< of a receive
    arrive,  ///< of a message
    cancel,  ///< of the receive with this pattern that was posted first and is still queued
    take,    ///< of the first unexpected message that a probe accepts (MPI_Mprobe)
};

struct Event {
    Step step;
    Envelope envelope;  ///< or pattern
};

inline constexpr std::array<char, 8> magic{'H', 'E', 'D', 'D', 'L', 'E', 'M', 'R'};
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t header_bytes = 24;
inline constexpr std::size_t block_header_bytes = 16;
inline constexpr std::size_t most_event_bytes = 1 + 3 * 5;
inline constexpr std::size_t most_block_bytes = 64 * 1024;

inline void store(std::uint8_t* to, std::uint32_t number) noexcept {
    for (int i = 0; i < 4; ++i) to[i] = static_cast<std::uint8_t>(number >> 8 * i);
}
inline std::uint32_t load(const std::uint8_t* from) noexcept {
    std::uint32_t number = 0;
    for (int i = 0; i < 4; ++i) number |= std::uint32_t{from[i]} << 8 * i;
    return number;
}

/// Returns a CRC-32 as in zlib. `before` is the check of the preceding bytes.
std::uint32_t check(std::span<const std::uint8_t> bytes, std::uint32_t before = 0) noexcept;

/// Header before the events of a block. Its check covers the other fields and the events.
struct BlockHeader {
    std::uint32_t bytes, events, number, check;
};
inline void store(std::uint8_t* to, const BlockHeader& header) noexcept {
    store(to, header.bytes);
    store(to + 4, header.events);
    store(to + 8, header.number);
    store(to + 12, header.check);
}
inline BlockHeader load_block_header(const std::uint8_t* from) noexcept {
    return {load(from), load(from + 4), load(from + 8), load(from + 12)};
}
/// Returns the check for the header, whose other fields are set.
inline std::uint32_t check_of(const BlockHeader& header,
                              std::span<const std::uint8_t> events) noexcept {
    std::array<std::uint8_t, block_header_bytes> bytes;
    store(bytes.data(), header);
    return check(events, check({bytes.data(), 12}));
}

/// Flags of an event: its step in the two lowest bits, and the parts that are as in the event
/// before.
inline constexpr std::uint8_t step_bits = 3, same_context = 4, same_source = 8, same_tag = 16,
                              no_such_bits = 0xe0;

/// Folds differences near zero, of either sign, into small numbers, which take few bytes.
constexpr std::uint32_t folded(std::uint32_t difference) noexcept {
    return difference << 1 ^ (difference >> 31 != 0 ? ~std::uint32_t{0} : 0);
}
constexpr std::uint32_t unfolded(std::uint32_t number) noexcept {
    return number >> 1 ^ ((number & 1) != 0 ? ~std::uint32_t{0} : 0);
}

/// Writes the events of a block one after the other.
class Encoder {
public:
    /// Writes at most most_event_bytes. Returns the end.
    std::uint8_t* put(std::uint8_t* to, const Event& event) noexcept {
        const Envelope& now = event.envelope;
        std::uint8_t& flags = *to++;
        flags = static_cast<std::uint8_t>(event.step);
        if (now.context == before_.context)
            flags |= same_context;
        else
            to = put(to, now.context, before_.context);
        if (now.source == before_.source)
            flags |= same_source;
        else
            to = put(to, static_cast<std::uint32_t>(now.source),
                     static_cast<std::uint32_t>(before_.source));
        if (now.tag == before_.tag)
            flags |= same_tag;
        else
            to = put(to, static_cast<std::uint32_t>(now.tag),
                     static_cast<std::uint32_t>(before_.tag));
        before_ = now;
        return to;
    }

private:
    static std::uint8_t* put(std::uint8_t* to, std::uint32_t now, std::uint32_t before) noexcept {
        std::uint32_t number = folded(now - before);
        for (; number >= 0x80; number >>= 7) *to++ = static_cast<std::uint8_t>(number | 0x80);
        *to++ = static_cast<std::uint8_t>(number);
        return to;
    }

    Envelope before_{};
};

/// Reads the events of a block one after the other.
class Decoder {
public:
    explicit Decoder(std::span<const std::uint8_t> events) noexcept : left_(events) {}

    /// Returns false if no event begins here.
    bool get(Event& event) noexcept {
        if (left_.empty()) return false;
        const std::uint8_t flags = left_.front();
        left_ = left_.subspan(1);
        if ((flags & no_such_bits) != 0) return false;
        event.step = static_cast<Step>(flags & step_bits);
        Envelope& now = event.envelope = before_;
        if ((flags & same_context) == 0 && !get(now.context)) return false;
        if ((flags & same_source) == 0 && !get(now.source)) return false;
        if ((flags & same_tag) == 0 && !get(now.tag)) return false;
        before_ = now;
        return true;
    }
    std::size_t left() const noexcept { return left_.size(); }

private:
    template <class Number>
    bool get(Number& field) noexcept {
        std::uint64_t number = 0;
        for (int shift = 0; shift < 35; shift += 7) {
            if (left_.empty()) return false;
            const std::uint8_t byte = left_.front();
            left_ = left_.subspan(1);
            number |= std::uint64_t{byte & 0x7fU} << shift;
            if ((byte & 0x80) != 0) continue;
            if (number >> 32 != 0) return false;
            field = static_cast<Number>(static_cast<std::uint32_t>(field) +
                                        unfolded(static_cast<std::uint32_t>(number)));
            return true;
        }
        return false;
    }

    std::span<const std::uint8_t> left_;
    Envelope before_{};
};

}  // namespace heddle::match::recording
