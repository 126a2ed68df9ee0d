// SPDX-License-Identifier: BSD-3-Clause
#include "transport/business_card.hpp"

#include <cstring>
#include <stdexcept>
#include <string_view>

namespace heddle::transport {
namespace {

/// Changes with the protocol between lanes.
constexpr std::string_view format = "heddle-lane-1";

/// Takes a text off the front of the bytes; false: there is none.
bool take_text(std::string_view& bytes, std::string_view& text) {
    const std::size_t end = bytes.find('\0');
    if (end == std::string_view::npos) return false;
    text = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    return true;
}

}  // namespace

std::string to_bytes(const BusinessCard& card) {
    std::string bytes(format);
    bytes += '\0';
    bytes += card.fabric;
    bytes += '\0';
    bytes.append(reinterpret_cast<const char*>(&card.token), sizeof card.token);
    return bytes + card.address;
}

BusinessCard read_card(const std::string& bytes, const BusinessCard& own) {
    std::string_view rest = bytes, version, fabric;
    if (!take_text(rest, version) || version != format)
        throw std::runtime_error("it is not of this version of Heddle");
    if (!take_text(rest, fabric) || rest.size() <= sizeof own.token)
        throw std::runtime_error("it has published no address");
    if (fabric != own.fabric)
        throw std::runtime_error("it uses the fabric " + std::string(fabric) + ", this process " +
                                 own.fabric + "; HEDDLE_FABRIC chooses one for all");
    BusinessCard card{std::string(fabric), std::string(rest.substr(sizeof own.token)), 0};
    std::memcpy(&card.token, rest.data(), sizeof card.token);
    if (card.token != own.token) throw std::runtime_error("it belongs to another job");
    return card;
}

}  // namespace heddle::transport
