// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The key of a queue in a table: an envelope, or a pattern, in two words, which functions take in
/// registers. Three fields would go through memory, written in halves and read as a whole, for
/// which processors wait.
///
/// The hash is secret, so that no user knows which keys it brings together. It is a sum of products
/// with secret multipliers (Dietzfelbinger's multiply-shift for vectors). Any two keys that a
/// sender chooses share a hash with a probability of about 2^-32. Tags with a stride and the like
/// are rows of keys. The mixing at the end keeps them from falling into rows of buckets.

#include <cstdint>

#include "match/message.hpp"

namespace heddle::match {

class Key {
public:
    Key() = default;
    Key(std::uint32_t context, std::int32_t source, std::int32_t tag) noexcept
        : from_(std::uint64_t{static_cast<std::uint32_t>(source)} << 32 | context),
          tag_(static_cast<std::uint32_t>(tag)) {}
    explicit Key(const Envelope& envelope) noexcept
        : Key(envelope.context, envelope.source, envelope.tag) {}

    std::uint32_t context() const noexcept { return static_cast<std::uint32_t>(from_); }
    std::int32_t source() const noexcept { return static_cast<std::int32_t>(from_ >> 32); }
    std::int32_t tag() const noexcept { return static_cast<std::int32_t>(tag_); }

    /// Return the same key with this part left open.
    Key any_source() const noexcept { return {context(), match::any_source, tag()}; }
    Key any_tag() const noexcept { return {context(), source(), match::any_tag}; }

    bool operator==(const Key&) const noexcept = default;

private:
    std::uint64_t from_;  ///< context and source
    std::uint64_t tag_;
};

class KeyHash {
public:
    explicit KeyHash(std::uint64_t seed) noexcept {
        for (std::uint64_t& multiplier : multipliers_) multiplier = next(seed) | 1;
    }

    std::uint32_t operator()(Key key) const noexcept {
        std::uint64_t sum = key.context() * multipliers_[0];
        sum += static_cast<std::uint32_t>(key.source()) * multipliers_[1];
        sum += static_cast<std::uint32_t>(key.tag()) * multipliers_[2];
        sum ^= sum >> 32;
        return static_cast<std::uint32_t>(sum * 0x9e3779b97f4a7c15U >> 32);
    }

private:
    /// Returns the next number without a pattern from a counter (SplitMix64).
    static std::uint64_t next(std::uint64_t& counter) noexcept {
        std::uint64_t mixed = counter += 0x9e3779b97f4a7c15U;
        mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebU;
        return mixed ^ mixed >> 31;
    }

    std::uint64_t multipliers_[3];
};

}  // namespace heddle::match
