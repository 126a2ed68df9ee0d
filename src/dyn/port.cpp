// SPDX-License-Identifier: BSD-3-Clause
#include "dyn/port.hpp"

#include <charconv>
#include <span>
#include <stdexcept>

#include "mpi.h"
#include "platform/crc32c.hpp"

namespace heddle::dyn {
namespace {

constexpr std::string_view begin = "heddle:2:";
constexpr std::string_view digits = "0123456789abcdef";
static_assert(begin.size() + 2 * (sizeof(transport::PackedCard) + sizeof(comm::Key)) + 1 + 9 <
              MPI_MAX_PORT_NAME);

/// Returns the value in base 16.
std::string in_base_16(std::uint64_t value) {
    char text[17];
    return {text, std::to_chars(text, text + sizeof text, value, 16).ptr};
}

/// Returns the checksum that stands behind the last colon. A wrongly copied name leads to no
/// process, and hardly to another's key.
std::string checksum(std::string_view text) {
    return in_base_16(platform::crc32c(std::as_bytes(std::span(text))));
}

/// Takes the text behind the last colon off `text`.
std::string_view take_last(std::string_view& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos) return {};
    const std::string_view last = text.substr(colon + 1);
    text = text.substr(0, colon);
    return last;
}

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
    text += ':' + in_base_16(port.key);
    return text + ':' + checksum(text);
}

std::optional<Port> read_port(std::string_view text) {
    const std::string_view sum = take_last(text);
    if (!text.starts_with(begin) || sum != checksum(text)) return std::nullopt;
    text.remove_prefix(begin.size());
    const std::string_view key_text = take_last(text);
    const auto card = bytes_of(text);
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
