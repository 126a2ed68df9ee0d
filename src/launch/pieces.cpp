// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pieces.hpp"

#include <algorithm>

namespace heddle::launch {
namespace {

constexpr std::string_view digits = "0123456789abcdef";
constexpr std::string_view plain =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,:/_-+";
constexpr std::size_t room_for_count = 9;

std::size_t digit(std::string_view text, std::size_t at) {
    const std::size_t value = at < text.size() ? digits.find(text[at]) : std::string_view::npos;
    if (value == std::string_view::npos) throw std::runtime_error("a value is damaged");
    return value;
}

}  // namespace

std::string escaped(std::string_view value) {
    std::string text;
    for (const char character : value) {
        const auto byte = static_cast<unsigned char>(character);
        if (plain.find(character) != std::string_view::npos)
            text += character;
        else
            text.append({'%', digits[byte / 16], digits[byte % 16]});
    }
    return text;
}

std::string unescaped(std::string_view text) {
    std::string value;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            value += text[i];
            continue;
        }
        value += static_cast<char>(digit(text, i + 1) * 16 + digit(text, i + 2));
        i += 2;
    }
    return value;
}

std::vector<std::string> cut(std::string_view value, std::size_t most) {
    if (most <= room_for_count)
        throw std::runtime_error("the launcher keeps values of " + std::to_string(most) +
                                 " bytes only");
    const std::string text = escaped(value);
    const std::size_t room = most - room_for_count;
    const std::size_t pieces = std::max<std::size_t>(1, (text.size() + room - 1) / room);
    std::vector<std::string> result;
    for (std::size_t i = 0; i < pieces; ++i) result.push_back(text.substr(i * room, room));
    result[0] = std::to_string(pieces) + ":" + result[0];
    return result;
}

}  // namespace heddle::launch
