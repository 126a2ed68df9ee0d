// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A hash of memory that is taken twice, to see whether the memory has changed in between.

#include <array>
#include <cstdint>
#include <cstring>

namespace heddle::check {

/// Multiplies words by odd numbers. Any other value of one word gives another hash. It takes eight
/// words at once, since multiplications take a few cycles each.
class Hash {
public:
    void add(const char* bytes, std::int64_t length) noexcept {
        for (; length >= stripe; bytes += stripe, length -= stripe) add_stripe(bytes, 8);
        for (; length >= 8; bytes += 8, length -= 8) add_word(word_at(bytes, 8));
        if (length > 0) add_word(word_at(bytes, static_cast<std::size_t>(length)));
    }
    /// Adds `count` words at equal distances.
    void add_words(const char* first, std::int64_t stride, std::int64_t count) noexcept {
        for (; count >= 8; first += 8 * stride, count -= 8) add_stripe(first, stride);
        for (; count > 0; first += stride, --count) add_word(word_at(first, 8));
    }
    std::uint64_t value() const noexcept { return value_; }

private:
    static constexpr std::int64_t stripe = 64;
    static constexpr std::array<std::uint64_t, 8> keys{
        0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xd6e8feb86659fd93,
        0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3};

    static std::uint64_t word_at(const char* bytes, std::size_t length) noexcept {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes, length);
        return word;
    }
    void add_word(std::uint64_t word) noexcept { value_ = value_ * keys[0] + word; }
    void add_stripe(const char* words, std::int64_t apart) noexcept {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < keys.size(); ++i)
            sum += word_at(words + static_cast<std::int64_t>(i) * apart, 8) * keys[i];
        value_ = value_ * keys[0] + sum;
    }

    std::uint64_t value_ = 1;
};

}  // namespace heddle::check
