// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A piece of a file in memory that an aggregator works on. Several processes have parts of it.
///
/// Coverage by sections of any process is kept in units. A unit is the largest power of two that
/// all begins and lengths are multiples of.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "objects/sections.hpp"

namespace heddle::io {

/// Memory that grows. Its contents are arbitrary.
class Room {
public:
    /// Returns room for so many bytes. Throws std::bad_alloc.
    std::byte* get(std::uint64_t bytes) {
        if (bytes > bytes_) {
            memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
            bytes_ = bytes;
        }
        return memory_.get();
    }

private:
    std::unique_ptr<std::byte[]> memory_;
    std::uint64_t bytes_ = 0;
};

/// Joins sections that lie side by side: strides whose blocks follow each other, as those of
/// neighbours in an array do. The covered bytes stay the same. Throws std::bad_alloc.
void join_neighbours(std::vector<objects::Section>& sections);

class Window {
public:
    /// Opens bytes [begin, end) of the file, in the memory of the window before. Throws
    /// std::bad_alloc.
    void open(std::int64_t begin, std::int64_t end);
    /// Opens them in memory that the window does not own.
    void open(std::int64_t begin, std::int64_t end, std::byte* memory) noexcept;

    std::int64_t begin() const noexcept { return begin_; }
    std::int64_t end() const noexcept { return end_; }
    std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(end_ - begin_); }
    std::byte* at(std::int64_t place) noexcept { return memory_ + (place - begin_); }

    /// Takes the lists of all processes, before anything else.
    void expect(std::span<const objects::Section> sections) noexcept;
    /// Covers the bytes of sections. Throws std::bad_alloc.
    void cover(std::span<const objects::Section> sections);
    /// Ends the coverage of all bytes.
    void uncover() noexcept { covered_.clear(); }

    void put(std::span<const objects::Section> sections, const std::byte* packed) noexcept;
    void get(std::span<const objects::Section> sections, std::byte* packed) noexcept;

    /// Calls visit(at, bytes) for runs of covered bytes, in order, as long as it returns true. Gaps
    /// up to `gap` bytes count as covered.
    template <class Visit>
    void each_run(std::uint64_t gap, Visit&& visit) const {
        if (covered_.empty()) return;
        std::uint64_t run_begin = 0, run_end = 0;
        bool any = false;
        for (std::uint64_t unit = next(0, true); unit < units();) {
            const std::uint64_t last = next(unit, false);
            if (any && (unit - run_end) << shift_ <= gap) {
                run_end = last;
            } else {
                if (any && !visit(place(run_begin), (run_end - run_begin) << shift_)) return;
                any = true;
                run_begin = unit;
                run_end = last;
            }
            unit = next(last, true);
        }
        if (any) (void)visit(place(run_begin), (run_end - run_begin) << shift_);
    }

private:
    std::uint64_t units() const noexcept {
        return static_cast<std::uint64_t>(end_ - base_ + (1 << shift_) - 1) >> shift_;
    }
    std::int64_t place(std::uint64_t unit) const noexcept {
        return base_ + static_cast<std::int64_t>(unit << shift_);
    }
    void mark(std::int64_t at, std::uint64_t bytes) noexcept;
    /// Returns the first unit from `unit` on that is covered, or is not.
    std::uint64_t next(std::uint64_t unit, bool covered) const noexcept;

    std::int64_t begin_ = 0, end_ = 0;
    std::int64_t base_ = 0;  ///< the beginning of unit 0
    std::uint64_t bits_ = 0;
    unsigned shift_ = 0;
    Room room_;
    std::byte* memory_ = nullptr;
    std::vector<std::uint64_t> covered_;
};

}  // namespace heddle::io
