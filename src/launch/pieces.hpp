// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Values of any bytes and length as values that PMI-1 carries: short ones, without blanks and ends
/// of line.
///
/// A value is escaped, and cut. Its first piece begins with the number of pieces: "3:abc", "def",
/// "gh".

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::launch {

/// Returns the text with %XX for all but letters, digits and signs that mean nothing to PMI-1.
std::string escaped(std::string_view value);
/// Returns the value of an escaped text. Throws std::runtime_error for any other text.
std::string unescaped(std::string_view text);

/// Returns at least one piece, of at most `most` bytes each. Throws std::runtime_error if `most` is
/// too few.
std::vector<std::string> cut(std::string_view value, std::size_t most);

/// Returns the value that was cut. `piece(i)` returns piece number i. Throws std::runtime_error.
template <class Piece>
std::string put_together(Piece&& piece) {
    std::string text = piece(std::size_t{0});
    const std::size_t colon = text.find(':');
    const std::string count = text.substr(0, colon);
    if (colon == std::string::npos || count.empty() || count.size() > 8 ||
        count.find_first_not_of("0123456789") != std::string::npos)
        throw std::runtime_error("'" + text + "' is not a value of this version of Heddle");
    text.erase(0, colon + 1);
    const std::size_t pieces = std::stoul(count);
    for (std::size_t i = 1; i < pieces; ++i) text += piece(i);
    return unescaped(text);
}

}  // namespace heddle::launch
