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

void Window::open(std::int64_t begin, std::int64_t end) {
    begin_ = begin;
    end_ = end;
    bits_ = largest_unit;
    memory_ = room_.get(static_cast<std::uint64_t>(end - begin));
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
