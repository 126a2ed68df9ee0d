// SPDX-License-Identifier: BSD-3-Clause
#include "io/window.hpp"

#include <algorithm>
#include <cstring>

#include "objects/block_copy.hpp"

namespace heddle::io {

using objects::Section;

namespace {

constexpr std::uint64_t largest_unit = 4096;

}  // namespace

void join_neighbours(std::vector<Section>& sections) {
    std::sort(sections.begin(), sections.end(),
              [](const Section& a, const Section& b) { return a.at < b.at; });
    std::size_t last = 0;
    const std::size_t count = sections.size();
    for (std::size_t i = 1; i < count; ++i) {
        Section& before = sections[last];
        const Section next = sections[i];
        const bool follows = before.at + static_cast<std::int64_t>(before.bytes) == next.at &&
            before.count > 1 && next.count > 1 && before.stride == next.stride &&
            static_cast<std::int64_t>(before.bytes + next.bytes) <= before.stride;
        if (!follows) {
            sections[++last] = next;
            continue;
        }
        const std::uint64_t both = std::min(before.count, next.count);
        const Section longer = before.count > next.count ? before : next;
        before.bytes += next.bytes;
        before.count = both;
        if (longer.count != both)
            sections.push_back(
                {longer.block(both), longer.bytes, longer.stride, longer.count - both});
    }
    if (count == 0) return;
    sections.erase(sections.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                   sections.begin() + static_cast<std::ptrdiff_t>(count));
}

void Window::open(std::int64_t begin, std::int64_t end) {
    open(begin, end, room_.get(static_cast<std::uint64_t>(end - begin)));
}

void Window::open(std::int64_t begin, std::int64_t end, std::byte* memory) noexcept {
    begin_ = begin;
    end_ = end;
    bits_ = largest_unit;
    memory_ = memory;
    covered_.clear();
}

void Window::expect(std::span<const Section> sections) noexcept {
    for (const Section& section : sections) {
        bits_ |= static_cast<std::uint64_t>(section.at) | section.bytes;
        if (section.count > 1) bits_ |= static_cast<std::uint64_t>(section.stride);
    }
}

void Window::cover(std::span<const Section> sections) {
    if (covered_.empty()) {
        shift_ = static_cast<unsigned>(std::countr_zero(bits_));
        base_ = begin_ >> shift_ << shift_;
        covered_.assign(units() / 64 + 2, 0);
    }
    for (const Section& section : sections) {
        if (section.dense()) {
            mark(section.at, section.total());
            continue;
        }
        for (std::uint64_t i = 0; i < section.count; ++i) mark(section.block(i), section.bytes);
    }
}

void Window::mark(std::int64_t at, std::uint64_t bytes) noexcept {
    const auto first = static_cast<std::uint64_t>(at - base_) >> shift_;
    const std::uint64_t last = first + (bytes >> shift_);  // behind it
    std::uint64_t word = first / 64;
    const std::uint64_t end = last / 64;
    const std::uint64_t from = ~std::uint64_t{0} << (first % 64);
    const std::uint64_t to = (std::uint64_t{1} << (last % 64)) - 1;
    if (word == end) {
        covered_[word] |= from & to;
        return;
    }
    covered_[word] |= from;
    while (++word < end) covered_[word] = ~std::uint64_t{0};
    covered_[end] |= to;
}

std::uint64_t Window::next(std::uint64_t unit, bool covered) const noexcept {
    const std::uint64_t all = units();
    const std::uint64_t flip = covered ? 0 : ~std::uint64_t{0};
    while (unit < all) {
        const std::uint64_t word = (covered_[unit / 64] ^ flip) >> (unit % 64);
        if (word != 0)
            return std::min(all, unit + static_cast<std::uint64_t>(std::countr_zero(word)));
        unit = (unit / 64 + 1) * 64;
    }
    return all;
}

void Window::put(std::span<const Section> sections, const std::byte* packed) noexcept {
    for (const Section& section : sections) {
        objects::copy_blocks<objects::FromPacked>(const_cast<std::byte*>(packed), section.bytes,
                                                  reinterpret_cast<objects::Place>(at(section.at)),
                                                  section.stride, section.bytes, section.count);
        packed += section.total();
    }
}

void Window::get(std::span<const Section> sections, std::byte* packed) noexcept {
    for (const Section& section : sections) {
        objects::copy_blocks<objects::ToPacked>(packed, section.bytes,
                                                reinterpret_cast<objects::Place>(at(section.at)),
                                                section.stride, section.bytes, section.count);
        packed += section.total();
    }
}

}  // namespace heddle::io
