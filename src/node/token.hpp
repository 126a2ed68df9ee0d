// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A number that only one job has, or one process. A path, a descriptor or a process id may name
/// something else by the time it is used; the token shows that it is the one that was meant.

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "platform/random.hpp"

namespace heddle::node {

struct Token {
    std::array<std::uint64_t, 2> words{};

    static Token fresh() noexcept {
        Token token;
        platform::random_bytes(token.words.data(), sizeof token.words);
        return token;
    }

    bool operator==(const Token&) const = default;

    /// Returns 32 hexadecimal digits.
    std::string text() const {
        char digits[33];
        std::snprintf(digits, sizeof digits, "%016llx%016llx",
                      static_cast<unsigned long long>(words[0]),
                      static_cast<unsigned long long>(words[1]));
        return digits;
    }
    /// Returns nothing if `text` is not 32 of these digits.
    static std::optional<Token> from(std::string_view text) noexcept {
        if (text.size() != 32) return std::nullopt;
        Token token;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const std::size_t digit = std::string_view("0123456789abcdef").find(text[i]);
            if (digit == std::string_view::npos) return std::nullopt;
            token.words[i / 16] = token.words[i / 16] << 4 | digit;
        }
        return token;
    }
};

}  // namespace heddle::node
