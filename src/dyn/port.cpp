// SPDX-License-Identifier: BSD-3-Clause
#include "dyn/port.hpp"

#include <charconv>
#include <stdexcept>

#include "mpi.h"

namespace heddle::dyn {
namespace {

constexpr std::string_view begin = "heddle:1:";
constexpr std::string_view digits = "0123456789abcdef";
static_assert(begin.size() + 2 * (sizeof(transport::PackedCard) + sizeof(comm::Key)) + 1 <
              MPI_MAX_PORT_NAME);

std::optional<std::string> bytes_of(std::string_view text) {
    std::string bytes;
    for (; text.size() >= 2; text.remove_prefix(2)) {
        const std::size_t high = digits.find(text[0]), low = digits.find(text[1]);
        if (high == digits.npos || low == digits.npos) return std::nullopt;
        bytes += static_cast<char>(high << 4 | low);
    }
    return text.empty() ? std::optional(bytes) : std::nullopt;
}

}  // namespace

std::string to_text(const Port& port) {
    std::string text(begin);
    for (const char byte : transport::to_bytes(port.owner)) {
        const auto value = static_cast<unsigned char>(byte);
        text += digits[value >> 4];
        text += digits[value & 15];
    }
    char key[17];
    const auto end = std::to_chars(key, key + sizeof key, port.key, 16).ptr;
    return text + ':' + std::string(key, end);
}

std::optional<Port> read_port(std::string_view text) {
    if (!text.starts_with(begin)) return std::nullopt;
    text.remove_prefix(begin.size());
    const std::size_t colon = text.find(':');
    if (colon == text.npos) return std::nullopt;
    const auto card = bytes_of(text.substr(0, colon));
    const std::string_view key_text = text.substr(colon + 1);
    Port port;
    const char* const end = key_text.data() + key_text.size();
    if (!card || std::from_chars(key_text.data(), end, port.key, 16).ptr != end || port.key == 0)
        return std::nullopt;
    try {
        port.owner = transport::read_guest_card(*card);
        return port;
    } catch (const std::runtime_error&) {
        return std::nullopt;
    }
}

}  // namespace heddle::dyn
