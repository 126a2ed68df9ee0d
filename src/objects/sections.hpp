// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The places of the data of an endlessly repeated type, as in a file view (MPI 5.0, 14.3).
///
/// Data are counted as in the packed form (layout.hpp): byte k is the k-th of the type map. A
/// Section is a run of blocks at equal distances. So a stride is one section, whatever its number
/// of blocks. Nothing here makes a list of single blocks.
///
/// Order          a Pattern says whether the data are in the order of their places. This decides
///                which questions can be asked: before() needs it.
/// Costs          of a section: a division per loop, a binary search per list, or the next entry of
///                a list.

#include <cstdint>

#include "objects/definition.hpp"

namespace heddle::objects {

/// A run of `count` blocks of `bytes`. The first one is at `at`, and `stride` is from one to the
/// next.
struct Section {
    std::int64_t at = 0;
    std::uint64_t bytes = 0;
    std::int64_t stride = 0;
    std::uint64_t count = 1;

    std::uint64_t total() const noexcept { return bytes * count; }
    std::int64_t block(std::uint64_t i) const noexcept {
        return at + static_cast<std::int64_t>(i) * stride;
    }
    /// Returns where the last block ends.
    std::int64_t end() const noexcept {
        return block(count - 1) + static_cast<std::int64_t>(bytes);
    }
    bool dense() const noexcept { return count == 1 || stride == static_cast<std::int64_t>(bytes); }
};

/// Properties of one element of a type.
struct Pattern {
    bool ordered = true;   ///< places do not decrease along the type map
    bool disjoint = true;  ///< no byte is named twice.
    /// No byte is named by two elements in a row, of which the second lies behind the first.
    bool repeats = true;
    std::uint64_t blocks = 0;  ///< at most this many: neighbours may touch
};
/// Returns the pattern of a type. Throws std::bad_alloc.
Pattern pattern_of(const Definition& type);

class Endless {
public:
    /// Takes elements in a row, the first of which begins at `origin`. The type has data, and a
    /// positive extent.
    Endless(const Definition& type, std::int64_t origin) noexcept
        : Endless(type.sequence, type.period, origin) {}
    /// Returns the first element alone, for a pattern that does not repeat.
    static Endless first_of(const Definition& type, std::int64_t origin) noexcept {
        return {type.data, INT64_MAX, origin};
    }

    /// Returns whether there are no gaps.
    bool dense() const noexcept {
        return body_.node == nullptr && body_.bytes == static_cast<std::uint64_t>(period_);
    }
    /// Returns the place of the k-th byte.
    std::int64_t place(std::uint64_t k) const noexcept;
    /// Returns how many bytes have places below `place`. The pattern is ordered and disjoint, and
    /// it repeats.
    std::uint64_t before(std::int64_t place) const noexcept;

private:
    friend class Sections;
    Endless(const Placed& element, std::int64_t period, std::int64_t origin) noexcept
        : body_(element.body), period_(period), origin_(origin + element.at) {}

    Body body_;
    std::int64_t period_;
    std::int64_t origin_;
};

/// Divides bytes [from, from + bytes) into sections, one after the other.
class Sections {
public:
    Sections(const Endless& data, std::uint64_t from, std::uint64_t bytes) noexcept
        : data_(data), at_(from), left_(bytes) {}

    /// Returns false at the end.
    bool next(Section& section) noexcept;

private:
    Section of_blocks(std::uint64_t inside, std::int64_t place) const noexcept;
    Section find(std::uint64_t inside, std::int64_t place) noexcept;
    Section of_entry() noexcept;

    const Endless data_;
    std::uint64_t at_, left_;
    // The innermost node that the last section came from.
    const Node* leaf_ = nullptr;
    std::int64_t leaf_place_ = 0;
    std::uint64_t entry_ = 0;   ///< the next one
    std::uint64_t inside_ = 0;  ///< bytes of it that previous sections had
};

}  // namespace heddle::objects
